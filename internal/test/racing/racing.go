// Package racing tells tests how much to do: the race detector makes everything several
// times slower, so "make test" runs a slice of the largest tests with it, and all of them
// once without it.
package racing

// Size is slice under the race detector, and full without it.
func Size(full, slice int) int {
	if On {
		return slice
	}
	return full
}
