package status

import (
	"bytes"
	"html"
)

// pageStyle follows the reader's light or dark setting and works at the width of a telephone.
const pageStyle = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:1.5rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:0}h2{font-size:1.05rem;margin:1.5rem 0 .3rem}p{margin:.3rem 0}
.good{color:#18794e}.bad{color:#c62a2f;font-weight:bold}@media(prefers-color-scheme:dark){.good{color:#4cc38a}.bad{color:#ff8589}}
table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:normal;vertical-align:top;width:7.5rem;opacity:.7}
td{overflow-wrap:anywhere}th,td{padding:.15rem .5rem .15rem 0}.sides{display:flex;flex-wrap:wrap;gap:0 3rem}.sides table{width:15rem}
.n{text-align:right;font-variant-numeric:tabular-nums}.sum td,.sum th{border-top:1px solid}
`

// A page writes HTML. Text goes through text, which escapes it; raw takes only what stands in this file.
type page struct{ *bytes.Buffer }

func (p page) raw(markup string) { p.WriteString(markup) }
func (p page) text(s string)     { p.WriteString(html.EscapeString(s)) }

// writePage writes the status page: it needs no script and nothing from elsewhere. r must be tidy.
func writePage(b *bytes.Buffer, r Report) error {
	p := page{b}
	p.raw(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<meta http-equiv="refresh" content="30"><title>edgeagent `)
	p.text(r.Gateway)
	p.raw("</title>\n<style>" + pageStyle + "</style></head>\n<body><h1>")
	p.text(r.Gateway)
	p.raw("</h1>\n<p>edgeagent ")
	p.text(r.Version + ", up " + span(float64(r.UptimeS)))
	p.raw("</p>\n")
	healthy, reason := r.Healthy()
	p.verdict(healthy, either(healthy, "All is well here.", reason))
	p.raw("<h2>State</h2>\n<table>\n")
	for _, part := range r.parts() {
		p.words(part)
	}
	p.raw("</table>\n")
	for _, k := range r.books() {
		p.book(k)
	}
	p.raw(`<p><a href="/status">JSON</a> · <a href="/metrics">metrics</a> · <a href="/healthz">health</a></p>` + "\n</body></html>\n")
	return nil
}

func (p page) verdict(good bool, words string) {
	p.raw(either(good, `<p class="good">`, `<p class="bad">`))
	p.text(words)
	p.raw("</p>\n")
}

func (p page) words(part part) {
	p.raw(`<tr><th scope="row">`)
	p.text(part.name)
	p.raw("</th><td>")
	for i, line := range part.lines {
		if i > 0 {
			p.raw("<br>")
		}
		p.text(line)
	}
	p.raw("</td></tr>\n")
}

func (p page) book(k book) {
	p.raw("<h2>")
	p.text(k.title)
	p.raw("</h2>\n<div class=\"sides\">\n")
	p.side(k.in)
	p.side(k.out)
	p.raw("</div>\n")
	if of := nonzero(k.detail); of != "" {
		p.raw("<p>")
		p.text("rejected: " + of)
		p.raw("</p>\n")
	}
	p.verdict(k.balanced(), k.verdict())
}

func (p page) side(entries []entry) {
	p.raw("<table>\n")
	for _, e := range entries {
		p.row("<tr>", e)
	}
	p.row(`<tr class="sum">`, entry{"in all", sum(entries)})
	p.raw("</table>\n")
}

func (p page) row(open string, e entry) {
	p.raw(open + `<th scope="row">`)
	p.text(e.name)
	p.raw(`</th><td class="n">`)
	p.text(grouped(e.n))
	p.raw("</td></tr>\n")
}
