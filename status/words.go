package status

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A part is one subject of the report in words, a line for each thing to say.
type part struct {
	name  string
	lines []string
}

// parts says everything but the two identities. r must be tidy.
func (r Report) parts() []part {
	all := []part{{"broker", r.MQTT.words(r.Clock.Now)}}
	for _, u := range r.uplinks() {
		lines := u.Uplink.words(r.Clock.Now)
		if u.name != "" {
			lines[0] = u.name + ": " + lines[0]
		}
		all = append(all, part{"uplink", lines})
	}
	return append(all, []part{
		{"clock", []string{r.Clock.Now + ", " + either(r.Clock.Trusted, "trusted", "NOT trusted: is the time set? is NTP reachable?")}},
		{"watermark", r.Watermark.words()},
		{"windows", []string{fmt.Sprintf("%s open, %s finalized since the store began; %s", grouped(r.Windows.Open),
			grouped(r.Windows.Finalized), count(r.Sensors, "sensor"))}},
		{"queue", r.queue()},
		{"store", r.Buffer.words(r.StoreResets)},
		{"lag", r.Lag.words()},
		{"refused", r.refused()},
		{"beside", r.beside()},
	}...)
}

// words says how late readings come. Lags are all 0 only when there are none.
func (l Lag) words() []string {
	if l == (Lag{}) {
		return []string{"no live reading with a time of its own since the start"}
	}
	return []string{fmt.Sprintf("median %s, 95 %% within %s, 99 %% within %s", span(l.P50S), span(l.P95S), span(l.P99S)),
		"largest " + span(l.MaxS)}
}

// beside is what the ledger does not count.
func (r Report) beside() []string {
	lines := []string{fmt.Sprintf("%s timed by arrival, %s held as future, %s ignored", count(r.ArrivalTimed, "reading"),
		grouped(r.Held), count(r.Ignored, "message"))}
	if r.Elsewhere > 0 {
		lines = append(lines, count(r.Elsewhere, "reading")+" left to the agents that share the site")
	}
	return lines
}

func (m MQTT) words(now string) []string {
	lines := []string{either(m.Connected, "connected", "NOT connected") + since(m.Since, now)}
	if m.Broker != "" {
		lines = append(lines, m.Broker)
	}
	if m.Unacked > 0 {
		lines = append(lines, count(m.Unacked, "message")+" taken, to be acknowledged after the next commit")
	}
	if len(m.Refused) > 0 {
		lines = append(lines, "REFUSES the subscription to "+someOf(m.Refused))
	}
	if m.LastError != "" {
		lines = append(lines, "last error: "+m.LastError)
	}
	return lines
}

// words says what the state is, and what it asks of people.
func (u Uplink) words(now string) []string {
	state, so := u.State, ""
	switch u.State {
	case "":
		state = "not known"
	case "idle":
		so = ": nothing waits"
	case "down":
		state = "DOWN"
	case "waiting":
		so = ": the server asked for time"
	case "blocked":
		state, so = "BLOCKED", ": somebody must act"
	}
	lines := []string{state + since(u.Since, now) + so}
	if u.LastError != "" {
		lines = append(lines, "cause: "+u.LastError)
	}
	if u.RetryInS > 0 {
		lines = append(lines, "next attempt in "+span(u.RetryInS))
	}
	if u.LastSuccess == "" {
		return append(lines, "nothing uploaded yet")
	}
	return append(lines, "last success "+u.LastSuccess+ago(u.LastSuccess, now))
}

func (w Watermark) words() []string {
	if w.MaxEventTime == "" {
		return []string{"none: no reading has been windowed yet"}
	}
	side := span(w.BehindS) + " behind the clock"
	if w.BehindS < 0 {
		side = span(-w.BehindS) + " ahead of the clock"
	}
	return []string{w.Value, "newest event time " + w.MaxEventTime + ", " + side}
}

func (r Report) queue() []string {
	var most int64 // that any uplink has before it
	for _, u := range r.uplinks() {
		most = max(most, u.Points.Queued)
	}
	if most == 0 {
		return []string{"empty"}
	}
	lines := []string{count(most, "point") + " to upload"}
	if r.Buffer.Oldest != "" {
		lines = append(lines, "oldest window ended "+r.Buffer.Oldest+ago(r.Buffer.Oldest, r.Clock.Now))
	}
	return lines
}

func (b Buffer) words(resets int64) []string {
	line := Size(b.Bytes)
	if b.MaxBytes > 0 {
		line += fmt.Sprintf(" of %s (%.1f %%)", Size(b.MaxBytes), 100*float64(b.Bytes)/float64(b.MaxBytes))
	}
	lines := []string{line}
	if resets > 0 {
		lines = append(lines, "begun anew "+count(resets, "time")+" after damage")
	}
	if b.Error != "" {
		lines = append(lines, "CANNOT BE WRITTEN: "+b.Error)
	}
	return lines
}

func either(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// since is " since T, for D", as far as that is known.
func since(at, now string) string {
	if at == "" {
		return ""
	}
	if d, ok := between(at, now); ok {
		return " since " + at + ", for " + span(d)
	}
	return " since " + at
}

// ago is ", D ago", or nothing if that is not known.
func ago(at, now string) string {
	if d, ok := between(at, now); ok {
		return ", " + span(d) + " ago"
	}
	return ""
}

// between is the seconds from one RFC 3339 instant to a later one; false if they are not that.
func between(from, to string) (float64, bool) {
	d, ok := difference(from, to)
	return max(0, d), ok && d >= 0
}

// difference is the seconds from one RFC 3339 instant to another; false if one is none.
func difference(from, to string) (float64, bool) {
	a, err := time.Parse(time.RFC3339Nano, from)
	if err != nil {
		return 0, false
	}
	b, err := time.Parse(time.RFC3339Nano, to)
	if err != nil {
		return 0, false
	}
	return seconds(b) - seconds(a), true
}

// seconds is an instant as seconds since the Unix epoch; unlike UnixNano it covers every year.
func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// span is a number of seconds in at most two units: "0.3 s", "12 s", "3 min 4 s", "2 h 5 min", "40 d 3 h".
func span(s float64) string {
	if s < -0.05 {
		return "-" + span(-s)
	}
	s = max(s, 0)
	if s < 9.95 {
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	n := int64(math.Round(min(s, 1e15)))
	switch {
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 3600:
		return fmt.Sprintf("%d min %d s", n/60, n%60)
	case n < 86400:
		return fmt.Sprintf("%d h %d min", n/3600, n%3600/60)
	}
	return fmt.Sprintf("%d d %d h", n/86400, n%86400/3600)
}

// Size is a number of bytes in binary units, as the configuration writes them, with one decimal where it is no whole
// number: "0 B", "284 KiB", "1.5 MiB".
func Size(n int64) string {
	const units = "KMGTPE"
	x, unit := float64(n), ""
	for i := 0; math.Abs(x) >= 1024 && i < len(units); i++ {
		x, unit = x/1024, units[i:i+1]+"i"
	}
	if unit == "" || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f %sB", x, unit)
	}
	return fmt.Sprintf("%.1f %sB", x, unit)
}

// grouped writes n with commas between thousands, but for numbers so long that the columns would not fit.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	if len(s) > 15 {
		return s
	}
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count is "1 point", "2 points".
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}
