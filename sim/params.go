package sim

import (
	"time"

	"edgeagent/reading"
)

// Params are the rules that one configuration sets. The zero value of each but Size is the default's meaning of "off".
type Params struct {
	Size           time.Duration // of a window and of an interval of late counts; above 0
	Delay          time.Duration // W = M - Delay
	Allowed        time.Duration // allowed_lateness
	PerSensor      bool          // scope = "sensor"; else "stream"
	Strict         bool          // late = "event"; else "window"
	UpdateInterval time.Duration // above 0: emit = "update"; else "final"
	Retained       []string      // each source's retained rule by its index; absent or "" is drop_untimed
	Close          bool          // Oracle closes after the last item, as replay --close does
}

// An Item is one message as it came out of decoding. Of two sources that give the same reading, decoding has kept one.
type Item struct {
	Readings []reading.Reading // in payload text order, sources in configuration order; not changed
	Refusals []reading.Refusal
	Retained bool // delivered with the retain flag
	Again    bool // redelivery of a committed message
}

// A Ledger counts what became of every reading and of every refused record; its JSON is that of replay --ledger.
type Ledger struct {
	Received  int64            `json:"received"`
	Windowed  int64            `json:"windowed"`
	Late      int64            `json:"late"`
	Duplicate int64            `json:"duplicate"`
	Retained  int64            `json:"retained"`
	Rejected  map[string]int64 `json:"rejected"` // by the reason's name; absent is 0
}

// Balanced reports whether every reading received is in exactly one column.
func (l Ledger) Balanced() bool {
	sum := l.Windowed + l.Late + l.Duplicate + l.Retained
	for _, n := range l.Rejected {
		sum += n
	}
	return l.Received == sum
}
