// Package racing scales the largest tests: the race detector makes everything several times
// slower, so make test runs a slice of them with it, and all of them once without it. make quick
// runs the slice alone.
package racing

import "os"

// Size returns slice under the race detector and in make quick, otherwise full.
func Size(full, slice int) int {
	if On || os.Getenv("DEPOSITPAY_TEST_QUICK") != "" {
		return slice
	}
	return full
}
