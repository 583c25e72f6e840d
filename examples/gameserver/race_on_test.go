//go:build race

package main

// The whole size is for make test's run without the detector.
const raceDetector = true
