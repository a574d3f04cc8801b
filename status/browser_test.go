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

	"edgeagent/testbed"
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

// TestPage looks at the page with the eyes of a real browser.
func TestPage(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testbed.Need(t, "chromium")), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 900), chromedp.UserDataDir(t.TempDir()), chromedp.Env("DBUS_SESSION_BUS_ADDRESS=disabled:"))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	defer cancelAllocator()
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = chromedp.Cancel(ctx) }()
	for _, test := range []struct {
		name string
		fn   func(*testing.T, context.Context)
	}{
		{"live", pageLive}, {"away", pageLosesAgent}, {"table", pageTable}, {"looks", pageLooks}, {"many", pageManySensors}, {"no script", pageWithoutScript},
	} {
		t.Run(test.name, func(t *testing.T) { test.fn(t, ctx) })
	}
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
	if err := chromedp.Run(b.ctx, chromedp.Poll(script, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second))); err != nil {
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

func pageLive(t *testing.T, ctx context.Context) {
	g := dayGateway(40)
	b := browse(t, ctx, g)
	b.open("")
	b.until("the live line", `document.getElementById("live").textContent === "live"`)
	if got := eval[string](b, `document.querySelector("#states .word").textContent`); got != "connected" {
		t.Errorf("broker %q, want connected", got)
	}
	eval[bool](b, `window.stays = document.getElementById("table").firstChild, true`)
	g.change(func(r *Report) {
		r.MQTT = MQTT{Since: "2026-03-01T14:02:00Z", Broker: "tcp://<b>10.0.0.5</b>", LastError: "connection <script>window.evil=1</script> refused"}
		r.Points.Queued, r.Points.Finalized = 77, r.Points.Finalized+77
	})
	b.until("the broker to be away", `document.querySelector("#states .word").textContent === "not connected"`)
	text := eval[string](b, `document.body.innerText`)
	for _, want := range []string{"The broker is away since 14:02:00, for 1 min 0 s.", "<b>10.0.0.5</b>", "77 points to upload", "the books balance"} {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if eval[bool](b, `window.evil === 1 || document.querySelector("#states b") !== null`) {
		t.Error("foreign text became part of the page")
	}
	b.quiet()
}

// When the agent goes away the page says so, and how old its figures are.
func pageLosesAgent(t *testing.T, ctx context.Context) {
	g := dayGateway(3)
	b := browse(t, ctx, g)
	b.open("")
	b.until("the live line", `document.getElementById("live").textContent === "live"`)
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	b.until("it to be noticed", `/^No connection to the agent. The figures are \d+ s old.$/.test(document.getElementById("live").textContent)`)
}

func pageTable(t *testing.T, ctx context.Context) {
	g := dayGateway(120)
	b := browse(t, ctx, g)
	b.open("")
	if got := b.names(); len(got) != pageRows || got[0] != "hall-0/shelf-00000" {
		t.Errorf("%d sensors, the first %v, want 50 by name", len(got), got[:1])
	}
	b.run(chromedp.Click(`a[data-sort="late"]`))
	b.until("the order by late", `document.querySelector('th[aria-sort="descending"] a')?.dataset.sort === "late"`)
	if got := b.names()[0]; got != mostLate(tidySensors(g.sensors))[0].Name {
		t.Errorf("most late is %s, want %s", got, mostLate(tidySensors(g.sensors))[0].Name)
	}
	b.run(chromedp.Click(`a[data-sort="late"]`))
	b.until("the order turned", `document.querySelector('th[aria-sort="ascending"] a')?.dataset.sort === "late"`)
	b.run(chromedp.SendKeys(`input[name="find"]`, "HALL-3/"))
	b.until("the search", `document.getElementById("summary").textContent.startsWith("17 of 120 sensors")`)
	for _, name := range b.names() {
		if !strings.HasPrefix(name, "hall-3/") {
			t.Errorf("%s was found", name)
		}
	}
	if got := eval[string](b, `location.search`); got != "?find=HALL-3%2F&sort=late&dir=" {
		t.Errorf("address %q: it cannot be loaded again", got)
	}
	b.run(chromedp.Reload())
	if got := b.names(); len(got) != 17 {
		t.Errorf("%d sensors after loading again, want 17", len(got))
	}
	b.open("?find=hall&page=2")
	if got := b.names(); len(got) != 20 {
		t.Errorf("%d sensors on the last page, want 20", len(got))
	}
	b.run(chromedp.Click(`//nav//a[text()="First"]`))
	b.until("the first page", `document.querySelectorAll("#table tbody tr").length === 50`)
	b.quiet()
}

// The page fits a telephone, in light and in dark, with everything wrong at once.
func pageLooks(t *testing.T, ctx context.Context) {
	g := dayGateway(60)
	trouble := troubleReport()
	trouble.Points.Queued = 12345
	long := strings.Repeat("a-very-long-name-", 12)
	for _, look := range []struct {
		name          string
		width, height int64
		scheme        string
		report        Report
	}{
		{"phone-light", 360, 800, "light", dayReport()},
		{"phone-dark", 360, 800, "dark", trouble},
		{"desktop-light", 1200, 900, "light", trouble},
		{"desktop-dark", 1200, 900, "dark", dayReport()},
	} {
		g.change(func(r *Report) { *r = look.report })
		if look.name == "phone-dark" {
			g.sensors[0].Name, g.report.Gateway = long, long
		}
		b := browse(t, ctx, g)
		b.run(emulation.SetDeviceMetricsOverride(look.width, look.height, 1, look.width < 500),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}))
		b.open("?sort=late&dir=down")
		b.until("the live line", `document.getElementById("live").textContent === "live"`)
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > look.width {
			t.Errorf("%s: the page is %d wide on a screen of %d", look.name, got, look.width)
		}
		back := eval[string](b, `getComputedStyle(document.body).backgroundColor`)
		if want := map[string]string{"light": "rgb(243, 245, 247)", "dark": "rgb(17, 22, 28)"}[look.scheme]; back != want {
			t.Errorf("%s: background %s, want %s", look.name, back, want)
		}
		if bad := eval[[]string](b, contrastScript); len(bad) > 0 {
			t.Errorf("%s: too little contrast: %v", look.name, bad)
		}
		b.shoot(look.name)
		b.quiet()
	}
}

// contrastScript lists text that stands out less than 4.5 to 1, as WCAG asks for.
const contrastScript = `(() => {
  const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!c.endsWith(", 0)")) return c; } return "rgb(255, 255, 255)"; };
  return [...document.querySelectorAll("h1, h2, p, td, th, dt, dd, a, span, footer, code")].filter(e => e.textContent.trim() && !e.closest(".off")).map(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
    return (a + .05) / (b + .05) < 4.5 ? e.tagName + " " + e.textContent.slice(0, 30) : "";
  }).filter(x => x);
})()`

// With ten thousand sensors the page is there as soon, and sorts and finds at once. The bounds are wide, for a slow machine.
func pageManySensors(t *testing.T, ctx context.Context) {
	g := dayGateway(10_000)
	b := browse(t, ctx, g)
	b.open("")
	b.until("the first paint", `performance.getEntriesByName("first-contentful-paint").length > 0`)
	paint := eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	sent := eval[[]float64](b, `(n => [n.transferSize, n.decodedBodySize])(performance.getEntriesByType("navigation")[0])`)
	times := map[string]int{}
	for _, key := range []string{"late", "time", "value"} {
		b.run(chromedp.Click(`a[data-sort="` + key + `"]`))
		b.until("the order by "+key, `document.querySelector('th[aria-sort] a')?.dataset.sort === "`+key+`"`)
		times[key] = eval[int](b, `+document.getElementById("table").dataset.ms`)
	}
	b.run(chromedp.SendKeys(`input[name="find"]`, "00777"))
	b.until("the search", `document.getElementById("summary").textContent.startsWith("1 of 10,000 sensors")`)
	t.Logf("10,000 sensors: first paint after %.0f ms, page of %.0f bytes (%.0f unpacked), sorted in ms %v", paint, sent[0], sent[1], times)
	if paint > 5000 || sent[0] > 25_000 || sent[1] > 80_000 {
		t.Errorf("first paint after %.0f ms, %.0f bytes sent, %.0f unpacked; want 5000, 25000 and 80000 at most", paint, sent[0], sent[1])
	}
	for key, ms := range times {
		if ms > 3000 {
			t.Errorf("sorting by %s took %d ms", key, ms)
		}
	}
	b.quiet()
}

// Without a script all figures are there, and the table sorts and searches.
func pageWithoutScript(t *testing.T, ctx context.Context) {
	g := dayGateway(120)
	b := browse(t, ctx, g)
	b.run(emulation.SetScriptExecutionDisabled(true))
	b.open("?find=hall-3&sort=late&dir=down")
	var text string
	b.run(chromedp.Text("body", &text, chromedp.ByQuery))
	for _, want := range []string{"connected", "12 s", "120,056", "17 of 120 sensors", "hall-3/shelf-00003", "field type conflict"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}
