package agent

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"edgeagent/docs"
	"edgeagent/logs"
	"edgeagent/status"
	"edgeagent/uplink"
)

// While readings come the log sums up every five minutes; when nothing comes, goes or changes, ever less often, down to once an hour;
// and a change is summed up at the next five minutes.
func TestSummaryRhythm(t *testing.T) {
	var s summaries
	p := pulse{received: 1, uplink: "up", broker: true}
	var got []int
	for minute := 5; minute <= 12*60; minute += 5 {
		switch {
		case minute <= 30:
			p.received++
		case minute == 600:
			p.broker = false
		case minute == 700:
			p.uploaded++
		}
		if s.due(p, time.Duration(minute)*time.Minute) {
			got = append(got, minute)
		}
	}
	want := []int{5, 10, 15, 20, 25, 30, 35, 45, 65, 105, 165, 225, 285, 345, 405, 465, 525, 585, 600, 605, 615, 635, 675, 700, 705, 715}
	if len(got) != len(want) {
		t.Fatalf("summaries at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("summaries at %v, want %v", got, want)
			break
		}
	}
}

// Every word of a summary is in the table of docs/operations.md, in its order.
func TestSummaryWordsDocumented(t *testing.T) {
	d, err := docs.Read("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(strings.Join(d.Prose, "\n"), "| word | what it says |")
	table, _, _ = strings.Cut(table, "With several uplinks")
	if !found {
		t.Fatal("there is no table")
	}
	const at = "2026-11-30T00:00:00Z"
	down := status.Uplink{State: "down", Since: at, LastError: "no route", LastSuccess: at}
	r := status.Report{MQTT: status.MQTT{Since: at, LastError: "gone", Refused: []string{"a/#"}}, Uplink: down, Buffer: status.Buffer{Error: "full"},
		Ledger: status.Ledger{Rejected: map[string]int64{"decode": 1}}}
	said := words(r, linksOf(r), status.Ledger{})
	last := -1
	for i := 0; i < len(said); i += 2 {
		at := strings.Index(table, "`"+said[i].(string)+"`")
		if at < 0 {
			t.Errorf("docs/operations.md does not tell of %s", said[i])
		} else if first := strings.Index(table, "| `"+said[i].(string)+"`"); first >= 0 && first < last {
			t.Errorf("docs/operations.md tells of %s too early", said[i])
		} else {
			last = max(last, first)
		}
	}
	healthy := status.Report{MQTT: status.MQTT{Connected: true}, Clock: status.Clock{Trusted: true},
		Ledger: status.Ledger{Balanced: true}, Points: status.Points{Balanced: true}}
	if got := gravity(healthy, linksOf(healthy), false); got != slog.LevelInfo {
		t.Errorf("all is well: a summary of level %v", got)
	}
	healthy.MQTT.Refused = []string{"a/#"}
	if got := gravity(healthy, linksOf(healthy), false); got != slog.LevelWarn {
		t.Errorf("a subscription is refused: a summary of level %v", got)
	}
	if len(said) < 36 {
		t.Errorf("only %d words were said: %v", len(said)/2, said)
	}
}

// When nothing that comes can be used, that is told once, with the reasons, and so is its end.
func TestUselessReadings(t *testing.T) {
	var log strings.Builder
	a := &Agent{log: slog.New(logs.NewHandler(&log, logs.Journal, slog.LevelInfo))}
	l := status.Ledger{Rejected: map[string]int64{}}
	look := func(windowed, duplicate, decode int64, want string) {
		t.Helper()
		log.Reset()
		l.Windowed += windowed
		l.Duplicate += duplicate
		l.Rejected = map[string]int64{"decode": l.Rejected["decode"] + decode}
		l.Received += windowed + duplicate + decode
		a.useless(l)
		if got := log.String(); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("windowed %d, duplicate %d, decode %d: %q, want %q", windowed, duplicate, decode, got, want)
		}
	}
	look(5, 0, 5, "")
	look(0, 0, 0, "")
	look(0, 3, 2, "") // repeats are no fault of anybody's
	look(0, 0, 7, `<4>WARN  readings: none of those that came can be used; edgeagent doctor and edgeagent try --listen 30s show why  received=7 rejected_for="decode 7"`)
	look(0, 0, 7, "")
	look(0, 0, 0, "")
	look(1, 0, 7, "<6>INFO  readings: they can be used again")
	look(1, 0, 0, "")
}

// The summary that README.md shows, cut and broken over several lines, is one that the log writes.
func TestSummaryOfReadme(t *testing.T) {
	d, err := docs.Read("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	for _, b := range d.Blocks {
		if strings.Contains(b.Text, "  summary  ") {
			shown = strings.ReplaceAll(strings.TrimSpace(b.Text), "\n  ", " ")
		}
	}
	balanced := status.Points{Balanced: true, Queued: 40}
	r := status.Report{MQTT: status.MQTT{Connected: true, Since: "2026-11-30T00:24:06Z"}, Clock: status.Clock{Trusted: true}, Points: balanced,
		Uplink: status.Uplink{State: uplink.StateBlocked, Since: "2026-11-30T00:24:12Z",
			LastError: `404 Not Found: database not found: "edge"; check the token, its permissions, and that what it writes into exists`},
		Ledger: status.Ledger{Received: 1827, Windowed: 1536, Balanced: true}}
	var log strings.Builder
	line := slog.NewRecord(time.Date(2026, 11, 30, 0, 29, 7, 0, time.UTC), gravity(r, linksOf(r), false), "summary", 0)
	line.Add(words(r, linksOf(r), status.Ledger{})...)
	if err := logs.NewHandler(&log, logs.Plain, slog.LevelInfo).Handle(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	parts, rest := strings.Split(shown, "…"), strings.TrimSpace(log.String())
	if len(parts) != 3 || !strings.HasPrefix(rest, parts[0]) || !strings.HasSuffix(rest, parts[2]) {
		t.Errorf("README.md shows\n%s\nthe log says\n%s", shown, rest)
	}
	for _, part := range parts {
		var found bool
		if _, rest, found = strings.Cut(rest, part); !found {
			t.Errorf("README.md shows %q, which the log does not say there", part)
		}
	}
}
