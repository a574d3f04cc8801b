package agent

import (
	"edgeagent/buffer"
	"edgeagent/watermark"
	"edgeagent/window"
)

// Forgot is what stays forgotten whatever W and delay say. Whether the journal still has a record of a reading that is
// forgotten hangs on how readings were spread over commits, so once it is remembered for longer than before (a longer delay
// or allowed lateness, larger windows, W set back by hand) it must not come back from there.
type Forgot struct {
	Before  int64  `json:"before"`  // readings of the stream, or of sensors without a mark of their own, before this instant
	Through uint64 `json:"through"` // and in journal records up to this one
}

func noneForgot() Forgot { return Forgot{Before: watermark.None} }

// forgetsBefore is the instant before which all readings are forgotten under watermark w, remembered for keep after the end
// of their windows.
func forgetsBefore(w, keep, size int64) int64 {
	if w <= watermark.None+1+keep+size {
		return watermark.None
	}
	return window.Start(w-keep, size)
}

// stayForgotten keeps forgotten what is so by now, in all records up to through: readings have been remembered for keep only,
// and were of windows of the size that the engine has.
func (e *Engine) stayForgotten(keep int64, through uint64) {
	e.forgot = Forgot{max(e.forgot.Before, forgetsBefore(e.base, keep, e.rules.Size)), through}
	e.eachScope(func(sc *scope) {
		sc.forgot = max(sc.forgot, forgetsBefore(sc.mark.W, keep, e.rules.Size))
		e.touch(sc.owner)
	})
}

// forgotten reports whether a journalled reading is remembered no more.
func (e *Engine) forgotten(sc *scope, record uint64, en *buffer.Entry) bool {
	return sc.set.Forgotten(en.Time, sc.mark.W) || record <= e.forgot.Through && en.Time < sc.forgot
}

// stillForgot is what the store is told of it: nothing where W says it too, under the shape that is stored with it.
func (e *Engine) stillForgot(sc *scope) int64 {
	if sc.forgot <= forgetsBefore(sc.mark.W, e.rules.keep(), e.shape.Size) {
		return watermark.None
	}
	return sc.forgot
}
