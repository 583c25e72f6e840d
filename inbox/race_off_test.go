//go:build !race

package inbox_test

const raceDetector = false // it makes SQLite, which is Go code here, ten times slower
