package reading

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A Decoder turns messages into readings. It is used by one goroutine at a time. What it decodes depends on the rules, the
// message and the Sparkplug alias table alone.
type Decoder struct {
	sources []source
	topics  topicCache
	series  seriesCache
	aliases aliasTable

	// working memory of one message
	msg     Message
	docs    [numFormats]document
	buf     []byte     // JSON made from other formats; documents alias it
	commas  bool       // the cells of the CSV at hand are separated by commas
	id      []byte     // the series being made
	env     []string   // captures of the value being read
	memo    []memoized // answers of rooted paths
	records []node
	values  []node
	seen    map[identity]struct{}
}

// An identity is what makes readings of two sources one.
type identity struct {
	series Series
	time   int64
	value  float64
}

// A memoized is the answer of a rooted path for the message at hand.
type memoized struct {
	done bool
	v    gjson.Result
}

func newDecoder(sources []source) *Decoder {
	return &Decoder{sources: sources, seen: map[identity]struct{}{}}
}

// Decode resets res and fills it with what the sources make of m: readings in payload text order within a source, sources
// in configuration order, and what was refused. res is empty if no source takes the topic. Nothing of m is kept.
//
// A fault of a decoding library on some payload is a refusal too: a message that stops the agent would come back for ever.
func (d *Decoder) Decode(m Message, res *Result) {
	defer func() {
		d.msg = Message{}
		if p := recover(); p != nil {
			res.Reset()
			res.Refusals = append(res.Refusals, Refusal{Reason: Decode, Detail: clip(fmt.Sprintf("BUG: decoding stopped: %v", p))})
		}
	}()
	d.decode(m, res)
}

// NoSource is the index of no source: there are never so many.
const NoSource uint16 = math.MaxUint16

// SourceOf is the index of the first source that takes a topic, NoSource if none does.
func (d *Decoder) SourceOf(topic string) uint16 {
	e := d.topic(topic)
	if len(e.matches) == 0 {
		return NoSource
	}
	return e.matches[0].index
}

func (d *Decoder) decode(msg Message, res *Result) {
	d.msg = msg
	m := &d.msg
	res.Reset()
	e := d.topic(m.Topic)
	if len(e.matches) == 0 {
		return
	}
	d.docs = [numFormats]document{}
	d.buf = d.buf[:0]
	if len(e.matches) == 1 {
		d.run(&e.matches[0], m, res)
		return
	}
	d.runAll(e.matches, m, res)
}

// runAll merges what several sources make of one message.
func (d *Decoder) runAll(matches []match, m *Message, res *Result) {
	clear(d.seen)
	var kept int // refusals kept so far, of one source
	var found, known = false, 0
	for i := range matches {
		before := len(res.Readings)
		records := d.run(&matches[i], m, res)
		if i == 0 || records && !found {
			kept = copy(res.Refusals, res.Refusals[kept:])
			found = records
		}
		res.Refusals = res.Refusals[:kept]
		for ; known < before; known++ {
			d.seen[res.Readings[known].identity()] = struct{}{}
		}
		res.Readings = d.dropSeen(res.Readings, before)
	}
	if len(res.Readings) > 0 {
		res.Refusals = res.Refusals[:0]
	}
}

func (r *Reading) identity() identity { return identity{r.Series, r.Time, r.Value} }

// dropSeen removes from the readings after the first n those that an earlier source gave too.
func (d *Decoder) dropSeen(readings []Reading, n int) []Reading {
	out := readings[:n]
	for _, r := range readings[n:] {
		if _, dup := d.seen[r.identity()]; !dup {
			out = append(out, r)
		}
	}
	return out
}

// A Filter is one MQTT subscription.
type Filter struct {
	Topic string
	QoS   byte // 0 or 1
}

// Filters reports what to subscribe to, in the order of the sources: equal filters once, with the highest QoS.
func (d *Decoder) Filters() []Filter {
	var filters []Filter
	at := map[string]int{}
	for i := range d.sources {
		s := &d.sources[i]
		topic := s.topic.filter()
		j, ok := at[topic]
		if !ok {
			at[topic] = len(filters)
			filters = append(filters, Filter{Topic: topic, QoS: s.qos})
			continue
		}
		filters[j].QoS = max(filters[j].QoS, s.qos)
	}
	return filters
}

// Retained reports what a source makes of messages with the retain flag. Decode does not look at the flag.
func (d *Decoder) Retained(source uint16) RetainPolicy { return d.sources[source].retained }

// Timed reports whether a source looks for a time in its messages: then a reading that is arrival-timed had none of use.
func (d *Decoder) Timed(source uint16) bool { return len(d.sources[source].time) > 0 }

// SourceName reports the name of a source, "source 1" and so on if the rule has none.
func (d *Decoder) SourceName(source uint16) string { return d.sources[source].name }

// clip cuts text for a Refusal to what a log line can bear.
func clip(s string) string {
	most := 160
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
