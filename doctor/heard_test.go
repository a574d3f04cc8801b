package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/status"
)

// hears decodes messages by a configuration with a timed source, one of plain text, and one that stays silent.
func hears(t *testing.T, messages ...mqtt.Delivery) (*heard, Options) {
	t.Helper()
	c := config(t, "[[source]]\nname = \"text\"\ntopic = \"p/{sensor}\"\nformat = \"text\"\nretained = \"keep\"\n[[source]]\nname = \"silent\"\ntopic = \"x/{sensor}\"\nvalue = \"t\"\n")
	d, err := decoderOf(c)
	if err != nil {
		t.Fatal(err)
	}
	h := newHeard(d, c)
	for _, m := range messages {
		if m.Size == 0 {
			m.Size = len(m.Payload)
		}
		m.Arrival = now
		h.message(m)
	}
	return &h, Options{Config: c, Listen: 10 * time.Second}
}

func timed(sensor string, ahead time.Duration) mqtt.Delivery {
	return mqtt.Delivery{Topic: "s/" + sensor, QoS: 1, Payload: fmt.Appendf(nil, `{"t":20,"ts":%d}`, now.Add(ahead).Unix())}
}

func TestJudgeHeard(t *testing.T) {
	const silent = "WARN messages: silent: nothing came on x/{sensor} in 10 s"
	h, o := hears(t, timed("a", 0), timed("b", -time.Second), timed("b", 0))
	expect(t, "good", judgeHeard(h, o), "OK messages: source 1: 3 readings of 2 sensors from 3 messages in 10 s",
		"WARN messages: text: nothing came on p/{sensor} in 10 s", silent)
	h, o = hears(t, timed("a", time.Hour), mqtt.Delivery{Topic: "s/a", Payload: []byte("{")}, mqtt.Delivery{Topic: "p/x", Payload: []byte("hot")},
		mqtt.Delivery{Topic: "p/y", TooBig: true, Size: 70000}, mqtt.Delivery{Topic: "q"})
	expect(t, "bad", judgeHeard(h, o), "OK messages: source 1: 1 readings of 1 sensors from 2 messages", "WARN messages: source 1: refused decode: 1, such as …on s/a",
		"WARN messages: source 1: 1 readings are further ahead of the clock than watermark.max_future (2m)",
		"FAIL messages: text: no reading; refused too_big: 1, such as 70000 bytes on p/y", "FAIL messages: text: no reading; refused value: 1, such as …hot on p/x", silent)
	h, o = hears(t, timed("a", 0), timed("b", -15*time.Minute)) // delay and size
	expect(t, "just in time", judgeHeard(h, o)[:2], "OK messages: source 1: 2 readings", "WARN messages: text: nothing came")
	old := timed("b", -time.Hour)
	old.Retained = true // a snapshot says nothing of the clock
	h, o = hears(t, timed("a", 0), timed("b", -15*time.Minute-time.Second), timed("b", -2*time.Hour), old)
	expect(t, "another zone", judgeHeard(h, o)[:2], "OK messages: source 1: 4 readings of 2 sensors from 4 messages", "WARN messages: source 1: 2 readings are so far behind the clock that they are late if another sensor is on time (watermark.delay is 10m)")
	h, o = hears(t, mqtt.Delivery{Topic: "p/x", Payload: []byte("20.5"), Retained: true})
	expect(t, "retained", judgeHeard(h, o)[1:2], "OK messages: text: 1 readings of 1 sensors from 1 messages in 10 s (1 without a time of their own, 1 messages retained)")
	o.Listen = 0
	expect(t, "not listened", judgeHeard(h, o))
	expect(t, "no broker", judgeHeard(nil, o))
}

func TestJudgeAbsence(t *testing.T) {
	h, o := hears(t, timed("a", 0), timed("a", 1), mqtt.Delivery{Topic: "p/x", Payload: []byte("1")}, mqtt.Delivery{Topic: "p/x", Payload: []byte("1"), QoS: 1, Retained: true})
	// two of QoS 1 in 10 s: 1000 are there after 5000 s
	expect(t, "mosquitto", judgeAbsence(h, extras{version: "mosquitto version 2.0.11"}, o),
		"WARN absence: 0.2 messages a second: mosquitto version 2.0.11, with its default of max_queued_messages 1000 keeps those of 1 h 23 min for an absent agent")
	expect(t, "another", judgeAbsence(h, extras{}, o), "WARN absence: …a broker with mosquitto's default")
	o.Listen = 300 * time.Second
	expect(t, "slow devices", judgeAbsence(h, extras{}, o), "OK absence: …keeps those of 1 d 17 h")
	h.queued = 0
	expect(t, "nothing", judgeAbsence(h, extras{}, o))
	expect(t, "no broker", judgeAbsence(nil, extras{}, o))
}

func TestHeardAt(t *testing.T) {
	brokers := []broker{{heard: heard{live: 1}}, {err: errors.New("gone"), heard: heard{live: 9}}, {heard: heard{live: 2}}}
	if got := heardAt(brokers); got == nil || got.live != 2 {
		t.Errorf("got %+v", got)
	}
	if got := heardAt(brokers[1:2]); got != nil {
		t.Errorf("got %+v of none", got)
	}
}

func TestJudgeBroker(t *testing.T) {
	o := Options{Config: config(t, ""), Now: func() time.Time { return now }}
	none := running{err: status.ErrNoAgent}
	connected := running{report: status.Report{MQTT: status.MQTT{Connected: true, Broker: "tcp://h:1883"}}}
	b := broker{url: "tcp://h:1883", filters: []string{"a", "b"}}
	refused, silent, gone := b, b, b
	b.granted = true
	refused.refused, gone.err = []string{"b"}, errors.New("refused")
	expect(t, "good", judgeBroker(b, o, none), "OK broker: tcp://h:1883 lets us in, without a user", "OK filter: a is granted", "OK filter: b is granted")
	expect(t, "refused", judgeBroker(refused, o, none), "OK broker", "OK filter: a", "FAIL filter: b: the broker refuses the subscription")
	expect(t, "silent", judgeBroker(silent, o, none), "OK broker", "FAIL filter: a: the broker did not answer", "FAIL filter: b: the broker did not answer")
	expect(t, "gone", judgeBroker(gone, o, none), "FAIL broker: tcp://h:1883: refused")
	expect(t, "only the agent", judgeBroker(gone, o, connected), "WARN broker: tcp://h:1883 does not let this look on (refused), but the agent is connected")
	o.Config.MQTT = configs.MQTT{Username: "edge"}
	expect(t, "user", judgeBroker(b, o, none)[:1], "OK broker: tcp://h:1883 lets us in as edge")
}

func TestJudgePresence(t *testing.T) {
	none := running{err: status.ErrNoAgent}
	expect(t, "nobody", judgePresence(extras{}, none))
	expect(t, "a clone", judgePresence(extras{online: "yesterday"}, none), "WARN presence: the broker says that this gateway is online since yesterday, but no agent runs here")
	expect(t, "ourselves", judgePresence(extras{online: "yesterday"}, running{}))
	for payload, want := range map[string]string{`{"state":"online","since":"T"}`: "T", `{"state":"online"}`: "a time not told", `{"state":"offline","since":"T"}`: "", "": "", "x": ""} {
		if got := onlineSince(mqtt.Delivery{Payload: []byte(payload)}); got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}

// A report is 80 columns wide, whatever it holds, and its foreign text can do no harm.
func TestText(t *testing.T) {
	r := Report{
		ok("config", "f is right"),
		warn("retention", strings.Repeat("do this ", 30), "%s", strings.Repeat("words ", 40)),
		fail("broker", "x", "a\x1b[31m\nforged line %s", strings.Repeat("y", 1000)),
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.HasPrefix(got, "OK    config     f is right\nWARN  retention  words words") || !strings.Contains(got, "\n                 -> do this") ||
		!strings.HasSuffix(got, "\n\n1 OK, 1 WARN, 1 FAIL\n") || strings.Contains(got, "\x1b") || strings.Contains(got, "\nforged") {
		t.Errorf("got\n%s", got)
	}
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width && !strings.Contains(line, "yyy") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	b.Reset()
	if err := (Report{ok("uplink central", "answers"), ok("disk", "has room")}).Text(&b); err != nil || !strings.HasPrefix(b.String(), "OK    uplink central answers\nOK    disk           has room\n") {
		t.Errorf("a long name: %v\n%s", err, b.String())
	}
	b.Reset()
	if err := r[:2].JSON(&b); err != nil || !strings.HasPrefix(b.String(), "{\n  \"verdict\": \"WARN\",\n  \"checks\": [\n    {\n      \"check\": \"config\",\n      \"verdict\": \"OK\",\n      \"text\": \"f is right\"\n    },") {
		t.Errorf("%v, JSON %s", err, b.String())
	}
}
