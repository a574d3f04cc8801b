package status

import (
	"bytes"
	"fmt"
	"slices"
)

// A fragment is a part of the page that is sent anew when it changes.
type fragment struct {
	element, id string
	html        []byte
}

// fragments are all parts of the page but the table of sensors, in their order.
func fragments(sc scene) []fragment {
	var all []fragment
	add := func(element, id string, write func(page)) {
		var b bytes.Buffer
		write(page{&b})
		all = append(all, fragment{element, id, b.Bytes()})
	}
	r := sc.report
	add("header", "head", func(p page) { p.head(r) })
	add("section", "verdict", func(p page) { p.verdict(r) })
	add("div", "states", func(p page) { p.states(r) })
	if sc.detail {
		add("div", "charts", func(p page) {
			p.timeChart(sc.samples)
			p.queueChart(sc.samples)
		})
	}
	add("div", "figures", func(p page) { p.figures(r) })
	add("div", "books", func(p page) { p.books(r) })
	if sc.detail {
		add("div", "drops", func(p page) {
			p.lateDrops(r, sc.sensors)
			p.parkedPoints(r, sc.parked)
		})
	}
	return all
}

func (p page) head(r Report) {
	p.tag("h1", "", r.Gateway)
	p.raw(`<p class="soft">edgeagent `)
	p.text(r.Version + ", up " + span(float64(r.UptimeS)) + " · ")
	p.tag("time", "", r.Clock.Now)
	p.raw("</p>")
}

// verdict says first what matters.
func (p page) verdict(r Report) {
	notices := r.notices()
	if len(notices) == 0 {
		p.raw(`<p class="note good"><b>All is well.</b> `)
		p.text("Broker and uplink are there, the clock is right, the books balance.")
		p.raw("</p>")
	}
	for _, n := range notices {
		p.tag("p", `class="note `+either(n.bad, "bad", "warn")+`"`, n.text)
	}
}

// states says in words how broker, uplink and clock are, and since when.
func (p page) states(r Report) {
	m, now := r.MQTT, r.Clock.Now
	lines := m.words(now)
	p.state("Broker", either(m.Connected, "good", "bad"), either(m.Connected, "connected", "not connected"), sinceWords(m.Since, now), lines[1:])
	for _, u := range r.uplinks() {
		title := "Uplink"
		if u.name != "" {
			title += " " + u.name
		}
		p.state(title, uplinkClass(u.Uplink.State), either(u.Uplink.State == "", "not known", u.Uplink.State), sinceWords(u.Uplink.Since, now),
			append([]string{uplinkMeans(u.Uplink.State)}, u.Uplink.words(now)[1:]...))
	}
	p.state("Clock", either(r.Clock.Trusted, "good", "warn"), either(r.Clock.Trusted, "trusted", "not trusted"), now,
		[]string{either(r.Clock.Trusted, "", "Is the time set? Is NTP reachable?")})
}

func (p page) state(title, class, word, when string, lines []string) {
	p.raw(`<section class="card"><h2>`)
	p.text(title)
	p.raw(`</h2><p class="word ` + class + `">`)
	p.text(word)
	p.raw("</p>")
	if when != "" {
		p.tag("p", "", when)
	}
	for _, line := range lines {
		if line != "" {
			p.tag("p", `class="soft"`, line)
		}
	}
	p.raw("</section>")
}

func uplinkClass(state string) string {
	switch state {
	case "up", "idle":
		return "good"
	case "waiting", "":
		return "warn"
	}
	return "bad"
}

// uplinkMeans says what a state of the uplink means to people.
func uplinkMeans(state string) string {
	switch state {
	case "idle":
		return "nothing waits to be sent"
	case "up":
		return "points are being sent"
	case "waiting":
		return "the server asked for time"
	case "down":
		return "points wait in the store and are tried again"
	case "blocked":
		return "somebody must act; points wait in the store"
	}
	return ""
}

// sinceWords is "for D, since T", as far as that is known.
func sinceWords(at, now string) string {
	if d, ok := between(at, now); ok {
		return "for " + span(d) + ", since " + dayTime(at, now)
	}
	return at
}

// figures are the numbers that need no books.
func (p page) figures(r Report) {
	p.raw(`<section class="card"><h2>Now</h2><dl>`)
	for _, part := range r.parts() {
		switch part.name {
		case "broker", "uplink", "clock":
			continue
		}
		p.raw("<div>")
		p.tag("dt", "", part.name)
		for _, line := range part.lines {
			p.tag("dd", "", line)
		}
		p.raw("</div>")
	}
	p.raw("</dl></section>")
}

func (p page) books(r Report) {
	for _, k := range r.books() {
		p.book(k)
	}
}

func (p page) book(k book) {
	p.raw(`<section class="card">`)
	p.tag("h2", "", k.name())
	p.raw(`<div class="sides">`)
	p.side(k.in)
	p.side(k.out)
	p.raw("</div>")
	if of := nonzero(k.detail); of != "" {
		p.tag("p", `class="soft"`, "rejected: "+of)
	}
	p.tag("p", `class="says `+either(k.balanced(), "good", "bad")+`"`, k.verdict())
	p.raw("</section>")
}

func (p page) side(entries []entry) {
	p.raw("<table>")
	for _, e := range entries {
		p.row("<tr>", e)
	}
	p.row(`<tr class="sum">`, entry{"in all", sum(entries)})
	p.raw("</table>")
}

func (p page) row(open string, e entry) {
	p.raw(open)
	p.tag("th", `scope="row"`, e.name)
	p.tag("td", `class="n"`, grouped(e.n))
	p.raw("</tr>")
}

// lateShown is how many sensors with late drops are shown; the table can be sorted for the others.
const lateShown = 8

// mostLate are the sensors with the most late drops.
func mostLate(list []Sensor) []*Sensor {
	all := choose(list, query{sort: "late", down: true})
	n := slices.IndexFunc(all, func(s *Sensor) bool { return s.Late == 0 })
	if n < 0 {
		n = len(all)
	}
	return all[:min(n, lateShown)]
}

// lateDrops shows which sensors lose readings to being late.
func (p page) lateDrops(r Report, list []Sensor) {
	p.raw(`<section class="card"><h2>Late drops</h2>`)
	p.tag("p", "", fmt.Sprintf("%s came when their window was final.", count(r.Ledger.Late, "reading")))
	if worst := mostLate(list); len(worst) > 0 {
		p.raw(`<table class="bars">`)
		for _, s := range worst {
			p.raw("<tr>")
			p.tag("th", `scope="row"`, s.Name)
			p.raw(`<td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="bar" width="` +
				fmt.Sprint(max(1, 100*s.Late/worst[0].Late)) + `" height="8"/></svg></td>`)
			p.tag("td", `class="n"`, grouped(s.Late))
			p.raw("</tr>")
		}
		p.raw("</table>")
	}
	p.raw("</section>")
}

// parkedPoints shows what the server refused, in its own words.
func (p page) parkedPoints(r Report, list []Parked) {
	p.raw(`<section class="card"><h2>Parked points</h2>`)
	if r.Points.Parked == 0 {
		p.tag("p", "", "None: the server has refused nothing.")
	} else {
		p.tag("p", "", count(r.Points.Parked, "point")+" refused by the server. Mend the cause there, then: edgeagent buffer requeue --all")
	}
	for _, k := range list {
		p.raw(`<div class="parked"><p class="bad">`)
		p.text(k.Reason)
		p.raw("</p>")
		p.tag("p", `class="soft"`, k.Time+", number "+fmt.Sprint(k.Seq))
		p.tag("code", "", k.Line)
		p.raw("</div>")
	}
	if n := r.Points.Parked - int64(len(list)); n > 0 && len(list) > 0 {
		p.tag("p", `class="soft"`, grouped(n)+" older ones: edgeagent buffer parked lists all.")
	}
	p.raw("</section>")
}
