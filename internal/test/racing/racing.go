// Package racing scales the largest tests: the race detector makes everything several times
// slower, so make test runs a slice of them with it, and all of them once without it.
package racing

// Size returns slice under the race detector, or full without it.
func Size(full, slice int) int {
	if On {
		return slice
	}
	return full
}
