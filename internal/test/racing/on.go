//go:build race

package racing

// On is whether the race detector is.
const On = true
