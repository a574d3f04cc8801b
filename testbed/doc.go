// Package testbed runs the real things that tests need around the agent: a mosquitto broker, an influxd 1.8 server, the
// agent's own program, and a proxy that records and breaks the link between client and broker. Nothing that ships
// imports it.
//
// Every Start function takes the test it works for. What it starts listens on free ports of the loopback, keeps its
// files in the test's folder, and ends with the test; only processes that it started itself are ended, by their
// process id. When the test has failed, the last lines of each log are in its output.
//
// Random gives a test its random numbers.
//
// A tool that is absent skips the test, and fails it when CI=true: see Need.
package testbed
