package agent

// rememberedBytes is what a remembered reading costs in memory at most: 16 bytes, a third more for room to grow, and its
// part of a window's own state. Measured in package crash.
const rememberedBytes = 32

// limitRemembered bounds the readings remembered by memory, which half of the journal's share of a large store could
// exceed many times: they may take half of limit, in bytes; 0 is no bound. Past it readings are refused as overflow, as
// past the journal's share.
func (a *Agent) limitRemembered(limit int64) {
	if limit <= 0 {
		return
	}
	most, full := limit/2/rememberedBytes, a.engine.JournalFull
	a.engine.JournalFull = func(extra int64) bool { return a.engine.journal.live >= most || full(extra) }
}
