package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/reading"
	"edgeagent/uplink"
)

// A SideOutput is what becomes of late readings beside their count.
type SideOutput uint8

// The side outputs, by the names of watermark.late_readings.
const (
	SideDrop   SideOutput = iota // "drop": nothing
	SideKeep                     // "keep": they are kept in the store, as many as there is room for
	SideUplink                   // "uplink": that, and each is a point of its own
)

// sideOutputOf is the side output that a configuration names.
func sideOutputOf(name string) SideOutput {
	switch name {
	case "keep":
		return SideKeep
	case "uplink":
		return SideUplink
	}
	return SideDrop
}

// keepLate hands a reading that was counted late to the side output; m is event time as it stood. What it puts out has no window to
// end, so it does not raise the floor.
func (e *Engine) keepLate(r reading.Reading, m int64) {
	if e.rules.Side == SideDrop {
		return
	}
	behind := max(m-r.Time, 0)
	e.batch.side = append(e.batch.side, buffer.SideReading{Series: r.Series, Time: r.Time, Value: r.Value, Arrival: e.arrival, Behind: behind})
	if e.rules.Side == SideUplink {
		line, err := e.encoder.LateReading(nil, r.Series, r.Time, r.Value, behind)
		e.queue(buffer.Point{Kind: buffer.LateReading}, line, err)
	}
}

// A LateReading is one late reading as an export of the side output shows it.
type LateReading struct {
	Sensor    string            `json:"sensor"`
	Tags      map[string]string `json:"tags,omitempty"` // of its series
	Time      string            `json:"time"`           // its own, RFC 3339 with ns
	Value     float64           `json:"value"`
	Arrival   string            `json:"arrival,omitempty"`    // of its message, RFC 3339 with ns; absent if it is not known
	LatenessS *float64          `json:"lateness_s,omitempty"` // how far event time was past Time when it was judged; absent if it is not known
}

// The formats of an export of late readings.
const (
	FormatJSON  = "json" // a LateReading a line
	FormatLines = "lp"   // line protocol, as the uplink sends them
)

// writeLate writes the late readings that the side output holds, oldest first. Where it holds none and is off, those are written that the
// journal still remembers; when they came, and how late they were, is not known then.
func writeLate(ctx context.Context, store *buffer.Store, cfg *configs.Config, format string, out io.Writer) error {
	encoder, err := uplink.NewEncoder(identityOf(cfg))
	if err != nil {
		return err
	}
	w := lateWriter{encoder: encoder, lines: format == FormatLines, out: bufio.NewWriter(out)}
	next := store.SideAfter
	if store.Stats().SideKept == 0 && sideOutputOf(cfg.Watermark.LateReadings) == SideDrop {
		next, w.bare = rememberedLate(store), true
	}
	for after := uint64(0); ; {
		list, last, err := next(after, answerPoints)
		if err != nil {
			return fmt.Errorf("read late readings: %w", err)
		}
		if last == 0 {
			return w.out.Flush()
		}
		for i := range list {
			if err := errors.Join(ctx.Err(), w.write(&list[i])); err != nil {
				return err
			}
		}
		after = last
	}
}

// rememberedLate is SideAfter for the late readings of the journal.
func rememberedLate(store *buffer.Store) func(after uint64, atLeast int) ([]buffer.SideReading, uint64, error) {
	return func(after uint64, atLeast int) ([]buffer.SideReading, uint64, error) {
		entries, last, err := store.LateAfter(after, atLeast)
		list := make([]buffer.SideReading, len(entries))
		for i, e := range entries {
			list[i] = buffer.SideReading{Series: e.Series, Time: e.Time, Value: e.Value, Arrival: reading.NoTime}
		}
		return list, last, err
	}
}

// A lateWriter writes late readings in one of the two formats.
type lateWriter struct {
	encoder *uplink.Encoder
	lines   bool
	bare    bool // lateness is not known
	out     *bufio.Writer
	line    []byte
}

func (w *lateWriter) write(r *buffer.SideReading) (err error) {
	if !w.lines {
		w.line, err = json.Marshal(w.show(r))
	} else if w.line, err = w.encode(r); err != nil {
		return nil // its late count is reported all the same
	}
	if err != nil {
		return fmt.Errorf("encode late reading: %w", err)
	}
	_, err = w.out.Write(append(w.line, '\n'))
	return err
}

func (w *lateWriter) encode(r *buffer.SideReading) ([]byte, error) {
	behind := r.Behind
	if w.bare {
		behind = -1
	}
	return w.encoder.LateReading(w.line[:0], r.Series, r.Time, r.Value, behind)
}

func (w *lateWriter) show(r *buffer.SideReading) LateReading {
	l := LateReading{Sensor: r.Series.Sensor(), Tags: tagsOf(r.Series), Time: stamp(r.Time), Value: r.Value}
	if r.Arrival != reading.NoTime {
		l.Arrival = stamp(r.Arrival)
	}
	if !w.bare {
		s := float64(r.Behind) / 1e9
		l.LatenessS = &s
	}
	return l
}

// stamp is an instant in RFC 3339 with ns.
func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
