// Package sim is what the agent is tried with: a second, plain implementation of its rules, a fleet of sensors, and the
// server at the far end. The commands simulate and demo and the tests use it; the agent never does.
//
//   - Run (and Oracle, which feeds one) applies the rules of time and the ledger to decoded messages in arrival order. It is
//     written from the rules alone, keeps the whole history and recomputes from it, so that it shares no code, no cleverness
//     and no mistake with the packages it checks.
//   - Fleet makes the messages of a fleet of sensors, the same for the same seed; Simulate publishes them to a broker and
//     writes the record of what it sent; Record is one line of such a file.
//   - Receiver takes line protocol over HTTP as InfluxDB does and remembers the points.
//   - Compare says in words where a receiver's points differ from those of the oracle.
//
// The oracle knows no clock: max_future, idle_timeout and the clock's trust are outside of it, as are max_sensors, the
// bounds of the store and the floor of a fresh one. Decoding is outside too: it is given readings and refusals.
package sim
