package agent

import (
	"encoding/json"

	"edgeagent/reading"
)

// Ledger says what became of every reading that reached the agent: each is in exactly one column, and the columns sum up
// to Received. It is stored in the same transaction as the effects it counts.
type Ledger struct {
	Received  int64    `json:"received"`
	Windowed  int64    `json:"windowed"`
	Late      int64    `json:"late"`
	Duplicate int64    `json:"duplicate"`
	Retained  int64    `json:"retained"`
	Rejected  Rejected `json:"rejected"`
}

// Rejected counts refused readings by reason.
type Rejected [reading.NumReasons]int64

// Sum is the number of refused readings.
func (r Rejected) Sum() int64 {
	var n int64
	for _, v := range r {
		n += v
	}
	return n
}

// Balanced reports whether every reading received is in exactly one column.
func (l Ledger) Balanced() bool {
	return l.Received == l.Windowed+l.Late+l.Duplicate+l.Retained+l.Rejected.Sum()
}

// MarshalJSON writes the reasons by name; those that are 0 are written too, so that a reader need not know the set.
func (r Rejected) MarshalJSON() ([]byte, error) {
	m := make(map[string]int64, len(r))
	for i, v := range r {
		m[reading.Reason(i).String()] = v
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads the reasons by name; absent ones are 0.
func (r *Rejected) UnmarshalJSON(text []byte) error {
	var m map[string]int64
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	for i := range r {
		r[i] = m[reading.Reason(i).String()]
	}
	return nil
}
