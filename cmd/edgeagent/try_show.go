package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"edgeagent/configs"
	"edgeagent/reading"
	"edgeagent/window"
)

// A trial decodes messages and shows what becomes of each.
type trial struct {
	decoder   *reading.Decoder
	out       io.Writer
	json      bool
	size      int64 // of a window, ns
	most      int   // bytes of a payload
	maxFuture int64 // ns that a reading may be ahead of its arrival; 0 is any
	result    reading.Result
	sums      sums
}

func newTrial(cfg *configs.Config, d *reading.Decoder, out io.Writer, asJSON bool) *trial {
	return &trial{decoder: d, out: out, json: asJSON, size: int64(cfg.Window.Size), most: int(cfg.MQTT.MaxMessageBytes), sums: newSums()}
}

// tried is what one message decodes to.
type tried struct {
	Readings []triedReading `json:"readings"`
	Rejected []triedRefusal `json:"rejected"`
}

type triedReading struct {
	Source       string            `json:"source"`
	Sensor       string            `json:"sensor"`
	Time         string            `json:"time"`
	ArrivalTimed bool              `json:"arrival_timed"`
	Value        float64           `json:"value"`
	Tags         map[string]string `json:"tags"`
	Window       string            `json:"window"` // its start

	noTime bool // it looked for a time, and found none of use
}

type triedRefusal struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// message decodes m, whose payload had so many bytes, and shows the outcome.
func (t *trial) message(m reading.Message, size int) error {
	if size > t.most {
		t.tooBig(m.Topic, size)
	} else {
		t.decoder.Decode(m, &t.result)
	}
	what := t.judge(&m)
	t.sums.add(what)
	if t.json {
		text, err := json.Marshal(what)
		if err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		_, err = fmt.Fprintf(t.out, "%s\n", text)
		return err
	}
	_, err := io.WriteString(t.out, what.text(m.Topic, m.Retained, t.size))
	return err
}

// tooBig refuses a message for the first source that takes its topic, as an empty payload tells.
func (t *trial) tooBig(topic string, size int) {
	t.decoder.Decode(reading.Message{Topic: topic}, &t.result)
	if len(t.result.Refusals) > 0 {
		t.result.Refusals = t.result.Refusals[:1]
		t.result.Refusals[0].Reason, t.result.Refusals[0].Detail = reading.TooBig, fmt.Sprintf("%d bytes", size)
	}
}

// judge turns the result into what is shown. Of the rules that need no memory it applies those of retained messages and of
// the future.
func (t *trial) judge(m *reading.Message) tried {
	what := tried{Readings: []triedReading{}, Rejected: []triedRefusal{}}
	for _, r := range t.result.Readings {
		name := t.decoder.SourceName(r.Source)
		policy := t.decoder.Retained(r.Source)
		switch {
		case m.Retained && policy == reading.Drop:
			what.Rejected = append(what.Rejected, triedRefusal{name, "retained", "retained messages of this source are dropped"})
			continue
		case m.Retained && policy == reading.DropUntimed && r.ArrivalTimed:
			what.Rejected = append(what.Rejected, triedRefusal{name, "retained", "a retained message without a time of its own may be of any age"})
			continue
		case t.maxFuture > 0 && r.Time > m.Arrival && r.Time-m.Arrival > t.maxFuture:
			what.Rejected = append(what.Rejected, triedRefusal{name, "future", stamp(r.Time) + " is ahead of the clock by more than watermark.max_future"})
			continue
		}
		tags := make(map[string]string)
		for _, tag := range r.Series.Tags() {
			tags[tag.Key] = tag.Value
		}
		what.Readings = append(what.Readings, triedReading{name, r.Series.Sensor(), stamp(r.Time), r.ArrivalTimed, r.Value, tags,
			stamp(window.Start(r.Time, t.size)), r.ArrivalTimed && t.decoder.Timed(r.Source)})
	}
	for _, r := range t.result.Refusals {
		what.Rejected = append(what.Rejected, triedRefusal{t.decoder.SourceName(r.Source), r.Reason.String(), r.Detail})
	}
	return what
}

func stamp(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }

// arrival says that the time is the arrival, and why.
func (r *triedReading) arrival() string {
	switch {
	case r.noTime:
		return " (arrival: no usable time of its own)"
	case r.ArrivalTimed:
		return " (arrival)"
	}
	return ""
}

// text is the outcome for people.
func (w tried) text(topic string, retained bool, size int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q%s\n", topic, map[bool]string{true: " (retained)"}[retained])
	if len(w.Readings)+len(w.Rejected) == 0 {
		b.WriteString("  no source takes this topic\n")
	}
	for _, r := range w.Readings {
		fmt.Fprintf(&b, "  %s: sensor %q %g °C at %s%s, window %s + %v", r.Source, r.Sensor, r.Value, r.Time, r.arrival(), r.Window, time.Duration(size))
		for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
			fmt.Fprintf(&b, ", %s %q", key, r.Tags[key])
		}
		b.WriteByte('\n')
	}
	for _, r := range w.Rejected {
		fmt.Fprintf(&b, "  %s: refused, %s: %q\n", r.Source, r.Reason, r.Detail)
	}
	return b.String()
}

// sums are what many messages came to.
type sums struct {
	messages, ignored int
	readings          map[string]int             // by source
	sensors           map[string]map[string]bool // by source
	reasons           map[string]map[string]int  // by source
}

func newSums() sums {
	return sums{readings: map[string]int{}, sensors: map[string]map[string]bool{}, reasons: map[string]map[string]int{}}
}

func (s *sums) add(w tried) {
	s.messages++
	if len(w.Readings)+len(w.Rejected) == 0 {
		s.ignored++
	}
	for _, r := range w.Readings {
		s.readings[r.Source]++
		if s.sensors[r.Source] == nil {
			s.sensors[r.Source] = map[string]bool{}
		}
		s.sensors[r.Source][r.Sensor] = true
	}
	for _, r := range w.Rejected {
		if s.reasons[r.Source] == nil {
			s.reasons[r.Source] = map[string]int{}
		}
		s.reasons[r.Source][r.Reason]++
	}
}

// print writes one line for all, and one for each source.
func (s *sums) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d messages", s.messages)
	if s.ignored > 0 {
		fmt.Fprintf(&b, ", %d of them on topics that fit no source", s.ignored)
	}
	b.WriteByte('\n')
	names := maps.Clone(s.readings)
	for name := range s.reasons {
		names[name] += 0
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&b, "%s: %d readings of %d sensors", name, s.readings[name], len(s.sensors[name]))
		sep := "; refused: "
		for _, reason := range slices.Sorted(maps.Keys(s.reasons[name])) {
			fmt.Fprintf(&b, "%s%s %d", sep, reason, s.reasons[name][reason])
			sep = ", "
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
