// Package e2e holds end-to-end tests only: the program as its user starts it, between a real mosquitto and a real
// influxd, killed and cut off on the way, and compared with what an undisturbed run gives.
//
// Random moments come from a seed that the test prints; EDGEAGENT_SEED repeats a run. Waiting is for a condition, with
// a deadline, never for a time to pass; only the moments of kills are chosen by time.
package e2e
