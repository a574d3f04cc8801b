package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/window"
)

// traced hands a reading that was judged to the trace. It decides nothing.
func (e *Engine) traced(r reading.Reading, as buffer.Outcome) {
	if !e.rules.Trace {
		return
	}
	source := ""
	if int(r.Source) < len(e.sources) && !e.verdict.others { // a held reading does not tell
		source = e.sources[r.Source]
	}
	e.batch.trace = append(e.batch.trace, buffer.TraceReading{Series: r.Series, Source: source, Time: r.Time, Value: r.Value, Arrival: e.arrival, Outcome: as})
}

// refuse counts a reading as rejected.
func (e *Engine) refuse(r reading.Reading, reason reading.Reason) {
	e.reject(reason)
	e.traced(r, buffer.Refusal(reason))
}

// repeated traces the readings of a redelivered message that count here.
func (e *Engine) repeated(rs []reading.Reading) {
	for _, r := range rs {
		if e.rules.Share.Has(r.Series.Sensor()) {
			e.traced(r, buffer.WasDuplicate)
		}
	}
}

// A TracedReading is one reading of the trace as an export shows it.
type TracedReading struct {
	Sensor  string            `json:"sensor"`
	Tags    map[string]string `json:"tags,omitempty"`    // of its series
	Time    string            `json:"time"`              // its own, RFC 3339 with ns
	Value   float64           `json:"value"`             // °C
	Arrival string            `json:"arrival,omitempty"` // of its message, RFC 3339, to the ms; absent if it is not known
	Source  string            `json:"source,omitempty"`  // name of the source that read it; absent if it was held meanwhile
	Column  string            `json:"column"`            // of the ledger
	Reason  string            `json:"reason,omitempty"`  // with rejected
	Window  *TracedWindow     `json:"window,omitempty"`  // in which its time lies; absent with rejected
}

// A TracedWindow is a window, from Start up to but without End, RFC 3339.
type TracedWindow struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// A Span of arrivals, ns: From and after, before To. Of a reading whose arrival is not known its own time counts.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

func (s *Span) has(r *buffer.TraceReading) bool {
	at := r.Arrival
	if at == reading.NoTime {
		at = r.Time
	}
	return s == nil || s.From <= at && at < s.To
}

// writeTrace writes the readings that are kept for tracing, in the order in which they were judged: of one sensor, or all for "", and
// of a span of arrivals, or all for nil.
func writeTrace(ctx context.Context, store *buffer.Store, sensor string, span *Span, out io.Writer) error {
	w := bufio.NewWriter(out)
	for after := uint64(0); ; {
		list, last, err := store.TraceAfter(after, answerPoints)
		if err != nil {
			return fmt.Errorf("read the trace: %w", err)
		}
		if last == 0 {
			return w.Flush()
		}
		for i := range list {
			r := &list[i]
			if sensor != "" && r.Series.Sensor() != sensor || !span.has(r) {
				continue
			}
			text, err := json.Marshal(showTraced(r))
			if err != nil {
				return fmt.Errorf("encode a traced reading: %w", err)
			}
			if _, err := w.Write(append(text, '\n')); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		after = last
	}
}

func showTraced(r *buffer.TraceReading) TracedReading {
	t := TracedReading{Sensor: r.Series.Sensor(), Tags: tagsOf(r.Series), Time: stamp(r.Time), Value: r.Value, Source: r.Source}
	if r.Arrival != reading.NoTime {
		t.Arrival = stamp(r.Arrival)
	}
	if reason, refused := r.Outcome.Reason(); refused {
		t.Column, t.Reason = "rejected", reason.String()
		return t
	}
	t.Column = [...]string{buffer.WasWindowed: "windowed", buffer.WasLate: "late", buffer.WasDuplicate: "duplicate", buffer.WasRetained: "retained"}[r.Outcome]
	if r.Size > 0 {
		start := window.Start(r.Time, r.Size)
		t.Window = &TracedWindow{Start: stamp(start), End: stamp(start + r.Size)}
	}
	return t
}

// tagsOf are the tags of a series by name; nil if it has none.
func tagsOf(s reading.Series) map[string]string {
	var tags map[string]string
	for _, t := range s.Tags() {
		if tags == nil {
			tags = make(map[string]string)
		}
		tags[t.Key] = t.Value
	}
	return tags
}
