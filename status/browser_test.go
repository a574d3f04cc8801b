package status

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	cdp "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A gateway is a source and details that a test can change.
type gateway struct {
	mu      sync.Mutex // guards all below
	report  Report
	samples []Sample
	sensors []Sensor
	parked  []Parked
}

func (g *gateway) Report(context.Context) (Report, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.report, nil
}

func (g *gateway) Sensors(context.Context) ([]Sensor, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sensors, nil
}

func (g *gateway) History(context.Context) ([]Sample, error)         { return g.samples, nil }
func (g *gateway) Parked(_ context.Context, _ int) ([]Parked, error) { return g.parked, nil }

func (g *gateway) change(fn func(*Report)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fn(&g.report)
}

// dayGateway is a gateway with n sensors, and six hours behind it: the broker was away for 20 min, the uplink for 90 min.
func dayGateway(n int) *gateway {
	g := &gateway{report: dayReport()}
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	for age := 6 * time.Hour; age >= 0; age -= 30 * time.Second {
		m := age.Minutes()
		s := Sample{At: now.Add(-age).Format(time.RFC3339), Known: true, BehindS: 12 + 5*math.Sin(m/7)}
		if m > 200 && m < 220 {
			s.BrokerAway, s.BehindS = true, 12+60*(220-m)
		}
		if m > 40 && m < 130 {
			s.UplinkDown, s.Queued = true, int64((130-m)*8)
		}
		s.WatermarkBehind = s.BehindS + 600
		g.samples = append(g.samples, s)
	}
	for i := range n {
		value, lag := 20+math.Mod(float64(i)*7.31, 15), 0.2+math.Mod(float64(i)*0.37, 3)
		s := Sensor{Name: fmt.Sprintf("hall-%d/shelf-%05d", i%7, i), Value: &value, LagS: &lag, Open: int64(2 + i%2),
			Last: now.Add(-time.Duration(i*37%280) * time.Second).Format(time.RFC3339)}
		if i%11 == 3 {
			s.Late = int64(i % 23)
		}
		if i%17 == 5 {
			offset := -130 + float64(i%3)
			s.ClockOffsetS = &offset
		}
		g.sensors = append(g.sensors, s)
	}
	g.report.Sensors = int64(n)
	late := int64(0)
	for _, s := range g.sensors {
		late += s.Late
	}
	l := &g.report.Ledger
	l.Windowed, l.Late = l.Windowed+l.Late-late, late
	g.parked = []Parked{{Seq: 1204, Time: "2026-03-01T09:12:00Z", Line: `temperature,gateway=gw-07,sensor=hall-3/shelf-00003 max=21.5,count=10i 1772355900000000000`,
		Reason: `partial write: field type conflict: input field "count" on measurement "temperature" is type integer, already exists as type float`}}
	return g
}

// A browser is one tab, and what it has complained of and asked for.
type browser struct {
	t    *testing.T
	ctx  context.Context
	url  string
	stop func() error // the server

	mu    sync.Mutex // guards all below
	said  []string   // errors and warnings of the console, exceptions
	asked []string   // addresses
}

// browse starts a server over g and a tab of its own, of the browser behind ctx, that looks at nothing yet.
func browse(t *testing.T, ctx context.Context, g *gateway) *browser {
	t.Helper()
	url, stop := run(t, Options{Source: g.Report, Details: g})
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, url: url, stop: stop}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(log.Enable(), network.Enable(), cdp.Enable(), cdppage.BringToFront(), emulation.SetFocusEmulationEnabled(true))
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *cdp.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Error())
	case *cdp.EventConsoleAPICalled:
		b.said = append(b.said, string(e.Type))
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(query string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.url + query))
}

// eval is the value of a script's expression.
func eval[T any](b *browser, script string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(script, &v))
	return v
}

// until waits for a script's expression to be true.
func (b *browser) until(what, script string) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Poll(script, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(time.Minute))); err != nil {
		b.t.Fatalf("waited for %s: %v; the page says:\n%s", what, err, eval[string](b, "document.body.innerText"))
	}
}

// quiet fails the test if the page has complained, or has asked for anything that is not its own server's.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("the console says: %s", text)
	}
	for _, url := range b.asked {
		if !strings.HasPrefix(url, b.url) && !strings.HasPrefix(url, "data:") {
			b.t.Errorf("the page asked for %s", url)
		}
	}
	if len(b.asked) == 0 {
		b.t.Error("nothing was asked for at all: the test is blind")
	}
}

// shoot writes a picture to the folder that $EDGEAGENT_PICTURES names, for people to look at.
func (b *browser) shoot(name string) {
	dir := os.Getenv("EDGEAGENT_PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	b.run(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(dir+"/"+name+".png", png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// names are the sensors that the table shows.
func (b *browser) names() []string {
	return eval[[]string](b, `[...document.querySelectorAll("#table tbody th")].map(e => e.textContent)`)
}
