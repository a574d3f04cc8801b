package status

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sensorTable writes one page of the table, its headings as links that sort, and links to the other pages.
func (p page) sensorTable(list []Sensor, q query, now string) {
	chosen := choose(list, q)
	pages := max(1, (len(chosen)+pageRows-1)/pageRows)
	q.page = min(q.page, pages-1)
	from := q.page * pageRows
	shown := chosen[from:min(from+pageRows, len(chosen))]
	p.tableSummary(len(list), len(chosen), from, len(shown), q)
	p.raw(`<div class="wide"><table class="sensors"><thead><tr>`)
	for _, c := range sensorColumns() {
		p.heading(&c, q)
	}
	p.raw("</tr></thead><tbody>\n")
	for _, s := range shown {
		p.sensorRow(s, now)
	}
	p.raw("</tbody></table></div>\n")
	if pages > 1 {
		p.pager(q, pages)
	}
}

func (p page) tableSummary(total, matching, from, shown int, q query) {
	words := count(int64(total), "sensor")
	if q.find != "" {
		words = fmt.Sprintf("%s of %s with “%s” in the name", grouped(int64(matching)), words, clean(q.find, maxName))
	}
	if shown < matching {
		words += fmt.Sprintf(", %s to %s shown", grouped(int64(from+1)), grouped(int64(from+shown)))
	}
	p.tag("p", `class="soft" id="summary"`, words)
}

func (p page) heading(c *sensorColumn, q query) {
	sorted := ""
	if c.key == q.sort {
		sorted = either(q.down, ` aria-sort="descending"`, ` aria-sort="ascending"`)
	}
	p.raw(`<th scope="col"` + sorted + either(c.key == "name", "", ` class="n"`) + `><a data-sort="` + c.key + `" href="`)
	p.text(q.by(c).link())
	p.raw(`">` + c.title + either(sorted == "", "", either(q.down, " ▾", " ▴")) + "</a></th>")
}

// sensorRow writes a sensor. Each cell bears its title, which a narrow screen shows in place of the headings.
func (p page) sensorRow(s *Sensor, now string) {
	p.raw("<tr>")
	p.tag("th", `scope="row"`, s.Name)
	cell := func(title, class, text string) { p.tag("td", `data-t="`+title+`" class="n`+class+`"`, text) }
	cell("value", "", degrees(s.Value))
	cell("last", "", shortTime(s.Last, now))
	cell("lag", "", spanOrNone(s.LagS))
	cell("open", "", grouped(s.Open))
	cell("late", either(s.Late > 0, " warn", ""), grouped(s.Late))
	cell("offset", "", signedSpan(s.ClockOffsetS))
	p.raw("</tr>\n")
}

func (p page) pager(q query, pages int) {
	link := func(to int, word string) {
		if to < 0 || to >= pages || to == q.page {
			p.tag("span", `class="off"`, word)
			return
		}
		at := q
		at.page = to
		p.raw(`<a data-page href="`)
		p.text(at.link())
		p.raw(`">` + word + "</a>")
	}
	p.raw(`<nav class="pager" aria-label="pages of the table">`)
	link(0, "First")
	link(q.page-1, "Back")
	p.tag("span", "", fmt.Sprintf("page %d of %d", q.page+1, pages))
	link(q.page+1, "Next")
	link(pages-1, "Last")
	p.raw("</nav>\n")
}

// degrees is a temperature, to a thousandth at most.
func degrees(v *float64) string {
	if v == nil {
		return "–"
	}
	s := strconv.FormatFloat(*v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + " °C"
}

func spanOrNone(s *float64) string {
	if s == nil {
		return "–"
	}
	return span(*s)
}

func signedSpan(s *float64) string {
	if s == nil || *s <= 0 {
		return spanOrNone(s)
	}
	return "+" + span(*s)
}

// shortTime is dayTime with how long ago it was.
func shortTime(at, now string) string { return dayTime(at, now) + ago(at, now) }

// dayTime is an instant as it is best read at the time now: the time of day if it is today's.
func dayTime(at, now string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return either(at == "", "–", at)
	}
	n, err := time.Parse(time.RFC3339Nano, now)
	if err != nil {
		return t.UTC().Format(time.DateTime)
	}
	layout := time.DateTime
	if t.UTC().Format(time.DateOnly) == n.UTC().Format(time.DateOnly) {
		layout = time.TimeOnly
	}
	return t.UTC().Format(layout)
}
