package crash

import (
	"syscall"
	"time"

	"edgeagent/testbed"
)

// mostPause is the longest time between two faults.
const mostPause = 700 * time.Millisecond

// killAgent kills the agent as a power cut would, while its acknowledgements are on their way, held up, or while it is
// stopped, and starts it again.
func (w *world) killAgent() {
	w.t.Helper()
	switch w.rng.IntN(4) {
	case 0:
		w.tap.Stall(testbed.FromClient) // what it acknowledges from now on is lost
		pause(w.rng, mostPause)
	case 1:
		w.signal(syscall.SIGSTOP)
		pause(w.rng, mostPause/4)
	}
	w.killNow(func() {})
}

// killNow kills the agent, has dead look at what it left, and starts it again.
func (w *world) killNow(dead func()) {
	w.t.Helper()
	w.kill()
	w.tap.Refuse()
	w.tap.Cut()
	w.tap.Resume()
	dead()
	w.mark("agent killed", w.stored().Received)
	w.tap.Accept()
	w.start()
	w.agentKills++
}

// cut breaks the agent's connection, perhaps after a time in which it was dead without a word.
func (w *world) cut() {
	w.t.Helper()
	if w.rng.IntN(2) == 0 {
		w.tap.Stall()
		pause(w.rng, mostPause)
	}
	w.awaitUp()
	w.isolate("cut", w.tap.Cut)
	w.tap.Accept()
	w.others["cuts"]++
}

// killBroker kills the broker and starts it again, with what its persistence has kept if it has any.
func (w *world) killBroker() {
	w.t.Helper()
	w.awaitUp()
	w.isolate("broker killed", w.broker.Kill)
	w.broker.Restart()
	w.tap.Accept()
	w.brokerDead++
}

// stopBroker ends the broker in order and starts it again.
func (w *world) stopBroker() {
	w.t.Helper()
	w.awaitUp()
	w.isolate("broker stopped", w.broker.Stop)
	w.broker.Restart()
	w.tap.Accept()
	w.others["broker stops"]++
}

// awaitUp waits until the agent answers: after a start its store may be still opening.
func (w *world) awaitUp() {
	w.t.Helper()
	w.await(soon, "the agent to answer", answers)
}

// freeze stops the agent or the broker for a moment.
func (w *world) freeze() {
	signal := w.signal
	if w.rng.IntN(3) == 0 {
		signal = func(sig syscall.Signal) { w.broker.Signal(sig) }
	}
	signal(syscall.SIGSTOP)
	pause(w.rng, mostPause)
	signal(syscall.SIGCONT)
	w.others["freezes"]++
}

// toggleServer stops the server, or starts it again.
func (w *world) toggleServer() {
	w.t.Helper()
	if w.mirror != nil && w.rng.IntN(2) == 0 {
		w.mirror.toggle()
		w.others["mirror toggles"]++
		return
	}
	if w.server.Running() {
		w.server.Stop()
	} else {
		w.server.Restart()
	}
	w.others["server toggles"]++
}

// fault does one thing at random.
func (w *world) fault() {
	w.t.Helper()
	pause(w.rng, mostPause)
	switch n := w.rng.IntN(20); {
	case n < 11:
		w.killAgent()
	case n < 13:
		w.killBroker()
	case n < 14:
		w.stopBroker()
	case n < 16:
		w.cut()
	case n < 18:
		w.freeze()
	default:
		w.toggleServer()
	}
}
