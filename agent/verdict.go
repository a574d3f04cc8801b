package agent

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// A verdict is what became of the message at hand, so that it can be kept and read in again when something of it was refused.
type verdict struct {
	refused Rejected // of the message, by reason
	turned  []bool   // which of its readings were, as judged, by event time
	others  bool     // a held reading of another message is being judged
}

// reject counts one refused record or reading.
func (e *Engine) reject(reason reading.Reason) {
	e.ledger.Rejected[reason]++
	if !e.verdict.others {
		e.verdict.refused[reason]++
	}
}

// judgeAll judges the readings of one message, and notes which were refused.
func (e *Engine) judgeAll(rs []reading.Reading, retained bool, now Moment) {
	for i := range rs {
		before := e.verdict.refused
		e.judge(rs[i], retained, now)
		turned := e.verdict.refused != before
		if turned {
			e.tellReading(&rs[i], &before)
		}
		e.verdict.turned = append(e.verdict.turned, turned)
	}
}

// fresh empties the verdict for the next message.
func (v *verdict) fresh() { v.refused, v.turned = Rejected{}, v.turned[:0] }

// refusedAny reports whether something of the last message was refused.
func (e *Engine) refusedAny() bool { return e.verdict.refused != Rejected{} }

// mendable reports whether something of the last message was refused that may be accepted another time. What had no room
// is not kept: it would only fill a full store further.
func (e *Engine) mendable() bool {
	v := &e.verdict.refused
	return v.Sum() > v[reading.Overflow]
}

// describe writes what the ledger counts of the message of rs into r.
func (v *verdict) describe(r *buffer.Raw, rs []reading.Reading) {
	r.Refused = nil
	for reason, n := range v.refused {
		if n > 0 {
			r.Refused = append(r.Refused, buffer.Refused{Reason: reading.Reason(reason), N: n})
		}
	}
	if len(r.Refused) > 0 {
		r.Reason = r.Refused[0].Reason.String()
	}
	for i, turned := range v.turned {
		if !turned {
			r.Taken = append(r.Taken, markOf(rs[i]))
		}
	}
}

// markOf tells a reading from others of its message.
func markOf(r reading.Reading) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(string(r.Series))
	var b [17]byte
	binary.LittleEndian.PutUint64(b[1:], uint64(r.Time))
	binary.LittleEndian.PutUint64(b[9:], math.Float64bits(r.Value))
	_, _ = d.Write(b[:])
	return d.Sum64()
}
