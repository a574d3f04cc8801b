package agent

import (
	"encoding/json"
	"fmt"

	"edgeagent/watermark"
)

// state is the part of the engine that each commit writes whole. Sensors, late counters and readings have records of their
// own in the store.
type state struct {
	Ledger       Ledger         `json:"ledger"`
	ArrivalTimed int64          `json:"arrival_timed"`
	Ignored      int64          `json:"ignored"`
	Elsewhere    elsewhere      `json:"elsewhere,omitzero"`
	Live         bool           `json:"live"`
	Born         int64          `json:"born"`
	Floor        int64          `json:"floor"`
	Base         int64          `json:"base"`
	Newest       int64          `json:"newest"`
	Finalized    int64          `json:"finalized"`
	Keep         int64          `json:"keep"` // how long after its window's end a reading was remembered
	Forgot       Forgot         `json:"forgot"`
	Stream       watermark.Mark `json:"stream"`
	Shape        Shape          `json:"shape"`
	Node         Node           `json:"node"`
}

// Node is what the agent around the engine wants stored with each commit.
type Node struct {
	TrustedWall int64    `json:"trusted_wall"` // the last wall-clock time while the clock was trusted, ns
	Filters     []string `json:"filters"`      // subscribed on the persistent session
	Resets      int64    `json:"resets"`       // how often the store was made anew after damage
	Rewinds     int64    `json:"rewinds"`      // how often event time was set back by hand

	LastSuccess map[string]int64 `json:"last_success,omitempty"` // by uplink: when its server last stored a line, ns
}

func (e *Engine) state() state {
	s := state{Ledger: e.ledger, ArrivalTimed: e.arrivalTimed, Ignored: e.ignored, Elsewhere: e.elsewhere, Live: e.live, Born: e.born, Floor: e.floor,
		Base: e.base, Newest: e.newest, Finalized: e.finalized, Keep: e.rules.keep(), Forgot: e.forgot, Stream: watermark.New(), Shape: e.shape, Node: e.Node}
	if e.stream != nil {
		s.Stream, s.Forgot.Before = e.stream.mark, max(e.forgot.Before, e.stillForgot(e.stream))
	}
	return s
}

// unknownState is that of a store which has none: nothing has been seen.
func unknownState(setup Setup) state {
	return state{Born: watermark.None, Floor: watermark.None, Base: watermark.None, Newest: watermark.None, Stream: watermark.New(), Forgot: noneForgot(),
		Shape: setup.shape(), Keep: setup.Rules.keep()}
}

func decodeState(text []byte) (state, error) {
	s := unknownState(Setup{})
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("decode stored state: %w", err)
	}
	return s, nil
}

func (e *Engine) setState(s state) {
	e.ledger, e.arrivalTimed, e.ignored, e.elsewhere, e.live = s.Ledger, s.ArrivalTimed, s.Ignored, s.Elsewhere, s.Live
	e.born, e.floor, e.base, e.newest, e.finalized, e.Node = s.Born, s.Floor, s.Base, s.Newest, s.Finalized, s.Node
	e.forgot = s.Forgot
	if e.stream != nil {
		e.stream.mark, e.stream.forgot = s.Stream, s.Forgot.Before
		e.stream.lastM = s.Stream.M
	}
}

// decodeHeld reads the readings held back.
func decodeHeld(text []byte) ([]held, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var h []held
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("decode held readings: %w", err)
	}
	return h, nil
}
