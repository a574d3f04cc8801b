// Package uplink turns finalized windows into line protocol and brings the queued lines to a central InfluxDB.
//
// Encoder makes the lines. They are made once, when a point comes to be, and are stored as they are: a resend is the
// same bytes, so InfluxDB overwrites a point with itself and nothing is counted twice.
//
// Uplink sends them: it peeks a batch from the Outbox, posts it, and settles the prefix that the server has stored. lanes.go says
// where in the outbox the next batch is from.
// One switch, in outcome.go, turns an answer into what happens next. Nothing leaves the outbox but by Settle, and
// nothing is settled but on an answer that only InfluxDB gives. Where the server refuses single lines, the batch is
// cut until each of them is found (batch.go, leap.go, series.go); they are parked with the server's reason when there is no more
// doubt (doubt.go), and the rest is delivered.
// backoff.go says how long to wait, pace.go how much to send. docs/uplink.md tells all of it to people.
//
// Caveats. Several writes in flight would reorder updates of one point, so there is one request at a time; only the
// reading and packing of the next batch overlaps with it. What a server does with a line after its 204 (some drop points
// older than the retention silently) cannot be seen from here; Retention asks for how long it keeps them.
package uplink
