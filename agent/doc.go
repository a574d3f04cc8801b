// Package agent is the run loop that owns the state of the pipeline: it takes messages in, has them decoded, judges every
// reading by the rules of time, keeps the ledger, commits, acknowledges, and serves the uplink's settlements. It is the one
// place where the other packages are wired together.
//
//	Engine   the rules: which column of the ledger a reading goes to, which windows it moves on; no I/O
//	Agent    the loop around it: broker -> engine -> commit -> acknowledge, and the uplink beside it
//	Replay   the same engine over recorded messages
//
// One goroutine, Agent.loop, owns the engine and is the only one that writes to the store. The uplink, the status server
// and the control socket ask it through channels.
package agent
