package doctor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/reading"
)

// mosquittoQueue is how many messages mosquitto keeps for an absent client unless max_queued_messages says otherwise.
const mosquittoQueue = 1000

// maxSensors bounds the memory for different sensors of one source.
const maxSensors = 100_000

// heard is what came at a broker.
type heard struct {
	decoder *reading.Decoder
	config  *configs.Config
	result  reading.Result
	sources []source
	live    int // messages that were not retained, of any kind
	queued  int // of these, those that the broker would keep for an absent agent
	offsets []time.Duration
}

// A source is what came for one.
type source struct {
	name     string
	topic    string
	messages int
	readings int
	retained int // messages
	untimed  int // readings timed by arrival
	ahead    int // readings further ahead than max_future
	behind   int // live readings whose window would be final by now, if another sensor is on time
	sensors  map[string]bool
	refused  map[string]int
	example  map[string]string // of a refusal, by reason
}

func newHeard(d *reading.Decoder, c *configs.Config) heard {
	h := heard{decoder: d, config: c}
	for i, r := range c.Sources {
		if whole, err := r.WithPreset(); err == nil {
			r = whole
		}
		h.sources = append(h.sources, source{name: d.SourceName(uint16(i)), topic: r.Topic,
			sensors: map[string]bool{}, refused: map[string]int{}, example: map[string]string{}})
	}
	return h
}

// message takes one message in. It is one that a filter asked for.
func (h *heard) message(d mqtt.Delivery) {
	if !d.Retained {
		h.live++
		if d.QoS > 0 {
			h.queued++
		}
	}
	if d.TooBig {
		h.decoder.Decode(reading.Message{Topic: d.Topic}, &h.result)
		h.result.Readings = nil
		for i := range h.result.Refusals {
			h.result.Refusals[i].Reason, h.result.Refusals[i].Detail = reading.TooBig, fmt.Sprintf("%d bytes", d.Size)
		}
	} else {
		h.decoder.Decode(reading.Message{Topic: d.Topic, Payload: d.Payload, Retained: d.Retained, Arrival: d.Arrival.UnixNano()}, &h.result)
	}
	seen := map[uint16]bool{}
	for _, r := range h.result.Readings {
		seen[r.Source] = true
		h.reading(&h.sources[r.Source], r, d)
	}
	for _, r := range h.result.Refusals {
		seen[r.Source] = true
		s := &h.sources[r.Source]
		reason := r.Reason.String()
		s.refused[reason]++
		if s.example[reason] == "" {
			s.example[reason] = fmt.Sprintf("%s on %s", r.Detail, d.Topic)
		}
	}
	for i := range seen {
		h.sources[i].messages++
		if d.Retained {
			h.sources[i].retained++
		}
	}
}

func (h *heard) reading(s *source, r reading.Reading, d mqtt.Delivery) {
	s.readings++
	if len(s.sensors) < maxSensors {
		s.sensors[r.Series.Sensor()] = true
	}
	if r.ArrivalTimed {
		s.untimed++
		return
	}
	ahead := time.Duration(r.Time - d.Arrival.UnixNano())
	if most := h.config.Watermark.MaxFuture.Std(); most > 0 && ahead > most {
		s.ahead++
	}
	if !d.Retained {
		h.offsets = append(h.offsets, ahead)
		if -ahead > h.config.Watermark.Delay.Std()+h.config.Window.Size.Std()+h.config.Window.AllowedLateness.Std() {
			s.behind++
		}
	}
}

// heardAt is what came at the brokers of one cluster: of the one at which most did.
func heardAt(brokers []broker) *heard {
	var best *heard
	for i := range brokers {
		if b := &brokers[i]; b.err == nil && (best == nil || b.heard.live > best.live) {
			best = &b.heard
		}
	}
	return best
}

// judgeHeard tells for each source what came and how it was read. nil is a broker that did not answer.
func judgeHeard(h *heard, o Options) Report {
	if h == nil || o.Listen == 0 {
		return nil
	}
	var out Report
	for _, s := range h.sources {
		name := s.name
		if s.messages == 0 {
			out = append(out, warn("messages", "does the device send less often? --listen 5m. Is the topic right? edgeagent discover. A broker may also drop without a word what its access rules forbid (mosquitto with acl_file does)",
				"%s: nothing came on %s in %s", name, s.topic, span(o.Listen)))
			continue
		}
		if s.readings > 0 {
			out = append(out, ok("messages", "%s: %d readings of %d sensors from %d messages in %s%s", name, s.readings, len(s.sensors), s.messages, span(o.Listen), s.beside()))
		}
		for _, reason := range slices.Sorted(maps.Keys(s.refused)) {
			out = append(out, s.judgeRefused(reason))
		}
		if s.ahead > 0 {
			out = append(out, warn("messages", "is the clock of the device right? is ours?", "%s: %d readings are further ahead of the clock than watermark.max_future (%s)", name, s.ahead, o.Config.Watermark.MaxFuture))
		}
		if s.behind > 0 {
			out = append(out, warn("messages", "is the clock of the device right, and its zone, see zone of the source? if it sends what it has stored, raise watermark.delay",
				"%s: %d readings are so far behind the clock that they are late if another sensor is on time (watermark.delay is %s)", name, s.behind, o.Config.Watermark.Delay))
		}
	}
	return out
}

// beside says what is worth knowing of readings that are right.
func (s source) beside() string {
	var all []string
	if s.untimed > 0 {
		all = append(all, fmt.Sprintf("%d without a time of their own", s.untimed))
	}
	if s.retained > 0 {
		all = append(all, fmt.Sprintf("%d messages retained", s.retained))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// judgeRefused is a fault only where nothing of the source can be read.
func (s source) judgeRefused(reason string) Line {
	next := rejectedNext[reason]
	if s.readings == 0 {
		return fail("messages", next, "%s: no reading; refused %s: %d, such as %s", s.name, reason, s.refused[reason], s.example[reason])
	}
	return warn("messages", next, "%s: refused %s: %d, such as %s", s.name, reason, s.refused[reason], s.example[reason])
}

// judgeAbsence says how long the agent may be away until the broker loses messages, at the rate that was heard.
func judgeAbsence(h *heard, x extras, o Options) Report {
	if h == nil || h.queued == 0 || o.Listen == 0 {
		return nil
	}
	rate := float64(h.queued) / o.Listen.Seconds()
	lasts := time.Duration(math.Min(mosquittoQueue/rate, 1e6) * float64(time.Second))
	who := "a broker with mosquitto's default"
	if x.mosquitto() {
		who = x.version + ", with its default"
	}
	text := fmt.Sprintf("%.1f messages a second: %s of max_queued_messages %d keeps those of %s for an absent agent", rate, who, mosquittoQueue, span(lasts))
	if lasts >= 24*time.Hour {
		return Report{ok("absence", "%s", text)}
	}
	return Report{warn("absence", "for mosquitto set max_queued_messages 0, persistence true, and persistent_client_expiration 30d or so; other brokers have the like", "%s", text)}
}
