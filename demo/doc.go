// Package demo shows the whole product in one process, in half a minute, and checks it: a broker, an InfluxDB of our own
// making and a simulated fleet of sensors around a real agent, which is the one that the command run starts.
//
//   - Run plays the story, chapter by chapter (chapters.go), in plain words. The fleet's clock runs fast; some of what it
//     sends is late, repeated or broken; the server goes away in the middle, and the agent is restarted meanwhile.
//   - At the end the books of the agent, and the points at the server, are compared with those that package sim recomputes
//     from what the fleet sent. Run returns ErrBooks if anything differs.
//
// The fleet's clock and seed are fixed, and it publishes one message after the other: so the same options give the same
// points every time, whatever the machine and its clock. Nothing is kept: the data folder is a temporary one.
package demo
