package status

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"edgeagent/testbed"
)

// TestPage looks at the page with the eyes of a real browser.
func TestPage(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testbed.Need(t, "chromium")), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 900), chromedp.UserDataDir(t.TempDir()), chromedp.Env("DBUS_SESSION_BUS_ADDRESS=disabled:"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
		{"live", pageLive}, {"away", pageLosesAgent}, {"silent", pageHearsNothing}, {"table", pageTable}, {"looks", pageLooks}, {"many", pageManySensors}, {"no script", pageWithoutScript},
	} {
		t.Run(test.name, func(t *testing.T) { test.fn(t, ctx) })
	}
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

// A connection over which nothing comes any more, though it stands, is not called live; when the way is open again the page goes on.
func pageHearsNothing(t *testing.T, ctx context.Context) {
	g := dayGateway(3)
	b := browse(t, ctx, g)
	proxy := testbed.StartTapProxy(t, strings.Trim(strings.TrimPrefix(b.url, "http:"), "/"))
	b.url = "http://" + proxy.Addr() + "/"
	b.open("")
	b.until("the live line", `document.getElementById("live").textContent === "live"`)
	proxy.Stall()
	b.until("it to be noticed", `/^No connection to the agent. The figures are \d+ s old.$/.test(document.getElementById("live").textContent)`)
	proxy.Resume()
	b.until("the live line again", `document.getElementById("live").textContent === "live"`)
	b.quiet()
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
	day, wrong := dayGateway(60), dayGateway(60)
	wrong.report = troubleReport()
	wrong.report.Gateway = strings.Repeat("a-very-long-name-", 12)
	wrong.sensors[0].Name = wrong.report.Gateway
	for _, look := range []struct {
		name          string
		width, height int64
		scheme, back  string
		g             *gateway
	}{
		{"phone-light", 360, 800, "light", "rgb(243, 245, 247)", day},
		{"phone-dark", 360, 800, "dark", "rgb(17, 22, 28)", wrong},
		{"desktop-light", 1200, 900, "light", "rgb(243, 245, 247)", day},
		{"desktop-dark", 1200, 900, "dark", "rgb(17, 22, 28)", wrong},
	} {
		b := browse(t, ctx, look.g)
		b.run(emulation.SetDeviceMetricsOverride(look.width, look.height, 1, look.width < 500),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}))
		b.open("?sort=late&dir=down")
		b.until("the live line", `document.getElementById("live").textContent === "live"`)
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > look.width {
			t.Errorf("%s: the page is %d wide on a screen of %d", look.name, got, look.width)
		}
		if back := eval[string](b, `getComputedStyle(document.body).backgroundColor`); back != look.back {
			t.Errorf("%s: background %s, want %s", look.name, back, look.back)
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
