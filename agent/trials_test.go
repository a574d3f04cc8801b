package agent

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/reading"
)

const trialConfig = `[gateway]
id = "gw"
[mqtt]
brokers = ["tcp://127.0.0.1:1883"]
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = %q
[window]
aggregates = [%s]
[uplink]
url = "http://127.0.0.1:8086"
api = "v1"
database = "edge"
`

// replayed is what a replay prints for messages, and its ledger. With closed, open windows are put out at its end.
func replayed(t *testing.T, config string, messages []byte, closed bool) (string, Ledger) {
	t.Helper()
	cfg, err := configs.Parse("trial.toml", []byte(config), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := OpenReplay(ReplayOptions{Config: cfg, Close: closed, BuildDate: testBuild, Out: &out, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := NewRecording("messages", bytes.NewReader(messages), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Feed(context.Background(), rec); err != nil {
		t.Fatal(err)
	}
	l, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), l
}

// units are ways to write a time down, with the digits of a second that they keep.
var units = []struct {
	format string
	digits int
}{{"unix_ns", 9}, {"unix_us", 6}, {"unix_ms", 3}}

// trialMessages are readings of one sensor with the values 1, 2, …, at times in seconds after start; "300-" is the last
// instant before 300 that the unit can tell, "299.5" half a second after 299.
func trialMessages(start int64, digits int, times []string) []byte {
	var text []byte
	for i, s := range times {
		var sec, half int64
		_, _ = fmt.Sscanf(s, "%d", &sec)
		scale := int64(1)
		for range digits {
			scale *= 10
		}
		ts := (start + sec) * scale
		if strings.HasSuffix(s, ".5") {
			half = scale / 2
		}
		if strings.HasSuffix(s, "-") {
			half = -1
		}
		text = fmt.Appendf(text, `{"topic": "sensors/s1/temperature", "payload": {"ts": %d, "temperature": %d}}`+"\n", ts+half, i+1)
	}
	return text
}

// Trial E4: readings on each edge, one unit before and after it, at several starts of windows and in several units.
func TestExactBoundaries(t *testing.T) {
	times := []string{"0", "300-", "300", "900-", "10", "900", "299.5", "301", "1800"}
	for _, start := range []int64{1700000100, 1577836800, 1709164800, 2208988800} { // the trial's, and 2020, a leap day, 2040
		for _, u := range units {
			name := fmt.Sprint(start, " ", u.format)
			conf := fmt.Sprintf(trialConfig, u.format, `"max", "count"`)
			if got, _ := replayed(t, conf, trialMessages(start, u.digits, times[:5]), false); got != "" {
				t.Errorf("%s: put out before the reading at 900: %s", name, got)
			}
			got, l := replayed(t, conf, trialMessages(start, u.digits, times), false)
			want := fmt.Sprintf("temperature,gateway=gw,sensor=s1 max=5,count=3i %d000000000\n"+
				"temperature,gateway=gw,sensor=s1 max=8,count=2i %d000000000\n"+
				"temperature,gateway=gw,sensor=s1 max=4,count=1i %d000000000\n"+
				"temperature,gateway=gw,sensor=s1 max=6,count=1i %d000000000\n"+
				"late_drops,gateway=gw,sensor=s1 count=1i,total=1i,max_lateness_s=600.5 %d000000000\n", start, start+300, start+600, start+900, start+900)
			if got != want || l.Late != 1 || l.Windowed != 8 {
				t.Errorf("%s: printed\n%swant\n%s; %d late, %d windowed", name, got, want, l.Late, l.Windowed)
			}
		}
	}
}

// Trial E5: a window is put out when the watermark has reached its end, once, with the stragglers in it.
func TestFinalValueIsNotEarly(t *testing.T) {
	messages := []byte(`{"topic": "sensors/s1/temperature", "payload": {"ts": 1700000110, "temperature": 20}}
{"topic": "sensors/s1/temperature", "payload": {"ts": 1700000410, "temperature": 21}}
{"topic": "sensors/s1/temperature", "payload": {"ts": 1700000120, "temperature": 25}}
{"topic": "sensors/s1/temperature", "payload": {"ts": 1700001005, "temperature": 19}}
`)
	conf := fmt.Sprintf(trialConfig, "unix", `"max", "count"`)
	last := bytes.LastIndex(messages, []byte(`{"topic"`))
	if got, _ := replayed(t, conf, messages[:last], false); got != "" {
		t.Errorf("put out before the reading at 905: %s", got)
	}
	got, _ := replayed(t, conf, messages, false)
	if want := "temperature,gateway=gw,sensor=s1 max=25,count=2i 1700000100000000000\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// Trial F5: times in every unit, spans over 2.2 s, 36 min and a week. The expected bytes were computed by another program;
// they are the same on every machine.
func TestSameBytesOnEveryMachine(t *testing.T) {
	read := func(name string) []byte {
		text, err := os.ReadFile("testdata/wide/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	got, l := replayed(t, fmt.Sprintf(trialConfig, "auto", `"max", "count", "min", "mean", "sum", "first", "last"`), read("messages.ndjson"), true)
	if want := string(read("expect.lp")); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
	if l.Received != 16 || l.Windowed != 13 || l.Late != 3 {
		t.Errorf("ledger %+v, want 16 received, 13 windowed, 3 late", l)
	}
}

// Trial F5: counters just below the bounds of 32 bits, signed and not, count on, over a restart and into what is put out.
func TestCountersPast32Bits(t *testing.T) {
	for _, n := range []int64{1<<31 - 2, 1<<32 - 2} {
		r := newRig(t, nil)
		r.live("a", 900, 1) // W = 300
		r.note()
		r.e.ledger = Ledger{Received: 4 * n, Windowed: n, Late: n, Duplicate: n, Retained: n - 5}
		r.e.ledger.Rejected[0] = 5
		r.e.ignored, r.e.arrivalTimed = n, n
		r.note()
		if _, err := r.store.Commit(&buffer.Batch{Late: []buffer.LateCount{{Series: "a", Total: n}}}); err != nil {
			t.Fatal(err)
		}
		r.restart()
		for i := range 4 {
			r.live("a", 901+float64(i), 1)
			r.live("a", float64(i), 1)
			r.live("a", 900, 1)
			if i == 1 {
				r.reopen(nil)
			}
		}
		r.counts(fmt.Sprint("from ", n), counts{"received": 4*n + 12, "windowed": n + 4, "late": n + 4, "duplicate": n + 4, "retained": n - 5,
			reading.Reason(0).String(): 5})
		if r.e.ignored != n || r.e.arrivalTimed != n {
			t.Errorf("%d ignored, %d arrival-timed, want %d", r.e.ignored, r.e.arrivalTimed, n)
		}
		r.took()
		r.live("a", 1200, 2)
		want := fmt.Sprintf("late_drops a@900 count=4 max_lateness_s=%v total=%d", 901.0, n+4)
		if got := r.took(); !slices.Contains(got, want) {
			t.Errorf("put out %q, want %q", got, want)
		}
	}
}
