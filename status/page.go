package status

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
)

// What is built in; nobody changes it.
var (
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.js
	pageScript string
)

// pagePolicy lets the page run its own script and style, known by their hashes, ask this server, and nothing else.
func pagePolicy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageScript) + "; style-src " + hash(pageStyle) +
		"; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}

// pageIcon is a thermometer, so that browsers do not ask for one.
const pageIcon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='6' y='1' width='4' height='10' rx='2' fill='%232f6fde'/%3E%3Ccircle cx='8' cy='12' r='3.5' fill='%232f6fde'/%3E%3C/svg%3E`

// A page writes HTML. Text goes through text, which escapes it; raw takes only what stands in this package.
type page struct{ *bytes.Buffer }

func (p page) raw(markup string) { p.WriteString(markup) }
func (p page) text(s string)     { p.WriteString(html.EscapeString(s)) }

// tag writes an element with text in it. The attributes are raw.
func (p page) tag(name, attributes, text string) {
	p.raw("<" + name + either(attributes == "", "", " "+attributes) + ">")
	p.text(text)
	p.raw("</" + name + ">")
}

// page writes the whole page. Everything on it can be read without a script; with one it is live.
func (s *site) page(ctx context.Context, b *bytes.Buffer, q query) error {
	sc, err := s.scene(ctx, true)
	if err != nil {
		return err
	}
	p := page{b}
	p.raw(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="color-scheme" content="light dark"><noscript><meta http-equiv="refresh" content="30"></noscript><link rel="icon" href="` + pageIcon + `">`)
	p.tag("title", "", sc.report.Gateway+" · edgeagent")
	p.raw("<style>" + pageStyle + "</style></head>\n<body>\n")
	p.tag("p", `id="live" class="live" role="status" hidden`, "")
	for _, f := range fragments(sc) {
		p.raw("<" + f.element + ` id="` + f.id + `">`)
		p.Write(f.html)
		p.raw("</" + f.element + ">\n")
	}
	if sc.detail {
		p.sensorSection(sc, q)
	}
	p.footer(sc.detail)
	p.raw("<script>" + pageScript + "</script></body></html>\n")
	return nil
}

func (p page) footer(detail bool) {
	p.raw("<footer>As JSON: <a href=\"status\">status</a>")
	if detail {
		p.raw(`, <a href="sensors">sensors</a>, <a href="history">history</a>, <a href="parked">parked points</a>`)
	}
	p.raw(` · <a href="metrics">metrics</a> for Prometheus · <a href="healthz">health</a> · all times are UTC</footer>` + "\n")
}

// sensorSection is the table with its search; the table alone is what /table answers.
func (p page) sensorSection(sc scene, q query) {
	p.raw(`<section class="card" id="sensors"><h2>Sensors</h2><form method="get" action="./#sensors" id="find" role="search">` +
		`<label>Find <input type="search" name="find" maxlength="100" autocomplete="off" value="`)
	p.text(q.find)
	p.raw(`"></label><input type="hidden" name="sort" value="`)
	p.text(q.sort)
	p.raw(`"><input type="hidden" name="dir" value="` + either(q.down, "down", "") + `"><button>Find</button></form><div id="table">`)
	p.sensorTable(sc.sensors, q, sc.report.Clock.Now)
	p.raw("</div></section>\n")
}

// table answers with the table of sensors alone.
func (s *site) table(ctx context.Context, b *bytes.Buffer, q query) error {
	list, err := s.sensorList(ctx)
	if err != nil {
		return err
	}
	report, err := s.reportOf(ctx, false)
	if err != nil {
		return err
	}
	page{b}.sensorTable(list, q, report.Clock.Now)
	return nil
}
