//go:build race

package testbed

// raceEnabled tells that this test binary has the race detector.
const raceEnabled = true
