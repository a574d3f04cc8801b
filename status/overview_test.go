package status

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// ofGateway asks a gateway on a socket, as the status command does.
func ofGateway(t *testing.T, g *gateway) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "edgeagent.sock")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := openSocket(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	s.details = g
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, g.Report) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return path
}

func TestOverviewGolden(t *testing.T) {
	trouble := dayGateway(60)
	trouble.report = troubleReport()
	for name, g := range map[string]*gateway{"overview.golden": dayGateway(60), "overview_trouble.golden": trouble} {
		o, err := AskOverview(t.Context(), ofGateway(t, g))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := o.Text(&b); err != nil {
			t.Fatal(err)
		}
		fits(t, name, b.String())
		golden(t, name, b.String())
	}
}

// fits fails the test unless every line of text can be shown on a terminal of 80 columns.
func fits(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := columns(line); n > textWidth {
			t.Errorf("%s: %d columns: %q", name, n, line)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s: unprintable character: %q", name, line)
		}
	}
}

// An agent of an earlier version gives no details.
func TestOverviewWithoutDetails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edgeagent.sock")
	serveAt(t, path, answers(dayReport()))
	o, err := AskOverview(t.Context(), path)
	if err != nil || len(o.History) != 0 || len(o.Late) != 0 || len(o.Parked) != 0 || o.Report.Gateway != "gw-07" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := AskOverview(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrNoAgent) {
		t.Errorf("no agent: %v", err)
	}
	if err := o.Text(brokenWriter{}); !errors.Is(err, errAway) {
		t.Errorf("Text = %v, want the writer's error", err)
	}
}

// Several uplinks are all there, each with its own books; one whose books do not balance is named.
func TestSeveralUplinks(t *testing.T) {
	r := dayReport()
	bad := r.Points
	bad.Uploaded--
	r.Uplinks = map[string]UplinkPart{"central": {r.Points, r.Uplink}, "site": {bad, Uplink{State: "down", Since: "2026-03-01T13:03:00Z", LastError: "no route \x1b to host"}}}
	text := text(t, r)
	for _, want := range []string{"central: idle since", "site: DOWN since 2026-03-01T13:03:00Z, for 1 h 0 min", `no route \x1b to host`, "of central", "of site", "1 point missing"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	if ok, why := r.Healthy(); ok || why != "uplink site: the books do not balance: 1 point missing" {
		t.Errorf("%v, %q", ok, why)
	}
	page := get(Options{Source: answers(r)}, loopback, "GET", "/").Body.String()
	for _, want := range []string{"<h2>Uplink central</h2>", "<h2>Uplink site</h2>", "<h2>points of site</h2>", "The uplink site is down since 13:03:00, for 1 h 0 min."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if got := values(exposition(t, r))[`edgeagent_books_balanced{book="points of site"}`]; got != "0" {
		t.Errorf("metric %q, want 0", got)
	}
}

func TestNotices(t *testing.T) {
	if got := dayReport().tidy(); len(got.notices()) != 1 || got.notices()[0].bad { // one point is parked
		t.Errorf("an ordinary day: %v", got.notices())
	}
	r := dayReport()
	r.HTTPError = "http.listen: 10.0.0.9:9273 is no address\x1b of this machine now"
	if got := r.tidy().notices(); len(got) != 2 || got[0] != (notice{false, `The status page is not served: http.listen: 10.0.0.9:9273 is no address\x1b of this machine now.`}) {
		t.Errorf("without its page: %+v", got)
	}
	var bad, look int
	for _, n := range troubleReport().tidy().notices() {
		if n.bad {
			bad++
		} else {
			look++
		}
	}
	if bad != 3 || look != 3 {
		t.Errorf("everything wrong: %d wrong, %d to look at, want 3 and 3", bad, look)
	}
}

func TestAskSensors(t *testing.T) {
	g := dayGateway(2500) // more than are asked for at once
	path := ofGateway(t, g)
	all, err := AskSensors(t.Context(), path, "late", "", false)
	if err != nil || len(all) != 2500 || all[0].Late != 22 || all[2499].Late != 0 {
		t.Errorf("%d sensors, %v", len(all), err)
	}
	few, err := AskSensors(t.Context(), path, "name", "hall-3/shelf-000", true)
	if err != nil || len(few) != 14 || few[0].Name != "hall-3/shelf-00094" {
		t.Errorf("%d sensors, %v", len(few), err)
	}
	if _, err := AskSensors(t.Context(), path, "colour", "", false); err == nil || !strings.Contains(err.Error(), "name, value, time") {
		t.Errorf("unknown order: %v", err)
	}
	few = append(few[:2], Sensor{Name: strings.Repeat("long", 30)}, Sensor{Name: "温度", Last: "1900-01-01T00:00:00Z", LagS: ptr(-1e9), Late: 1e12})
	var b strings.Builder
	if err := SensorText(&b, few, "2026-03-01T14:03:00Z"); err != nil {
		t.Fatal(err)
	}
	golden(t, "sensors.golden", b.String())
}
