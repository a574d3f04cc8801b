package status

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of foreign text, in characters as shown.
const (
	maxName  = 80
	maxError = 240
)

// clean makes foreign text safe to show: what a terminal or a reader could take for something else (control characters,
// marks of direction, bytes that are no UTF-8) is written as an escape, and what is longer than limit ends in "…". Text
// that is clean already stays as it is.
func clean(s string, limit int) string {
	var b strings.Builder
	n, end := 0, 0 // end is where b is cut if more than limit follows
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		shown := s[:size]
		switch {
		case r == utf8.RuneError && size == 1:
			shown = fmt.Sprintf(`\x%02x`, s[0])
		case !strconv.IsPrint(r):
			shown = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		n += utf8.RuneCountInString(shown)
		if n > limit {
			return b.String()[:end] + "…"
		}
		b.WriteString(shown)
		if n < limit {
			end = b.Len()
		}
		s = s[size:]
	}
	return b.String()
}

// finite is x, or 0 where x is no number that JSON can carry.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// tidy is r with all foreign text made safe, every reason present and every number finite. It shares nothing with r.
func (r Report) tidy() Report {
	for _, s := range []*string{&r.Gateway, &r.Version, &r.MQTT.Broker, &r.Uplink.State, &r.Clock.Now, &r.MQTT.Since,
		&r.Watermark.Value, &r.Watermark.MaxEventTime, &r.Buffer.Oldest, &r.Uplink.Since, &r.Uplink.LastSuccess} {
		*s = clean(*s, maxName)
	}
	for _, s := range []*string{&r.MQTT.LastError, &r.Buffer.Error, &r.Uplink.LastError, &r.HTTPError} {
		*s = clean(*s, maxError)
	}
	for _, x := range []*float64{&r.Watermark.BehindS, &r.Uplink.RetryInS, &r.Lag.P50S, &r.Lag.P95S, &r.Lag.P99S, &r.Lag.MaxS} {
		*x = finite(*x)
	}
	if len(r.MQTT.Refused) > 0 {
		r.MQTT.Refused = slices.Clone(r.MQTT.Refused)
		for i, s := range r.MQTT.Refused {
			r.MQTT.Refused[i] = clean(s, maxName)
		}
	}
	rejected := make(map[string]int64)
	for _, e := range r.Ledger.reasons() {
		rejected[clean(e.name, maxName)] = e.n
	}
	r.Ledger.Rejected = rejected
	r.Uplinks, r.Work = tidyUplinks(r.Uplinks), r.Work.tidy()
	r.Sources = r.tidySources()
	return r
}

func tidyUplinks(all map[string]UplinkPart) map[string]UplinkPart {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]UplinkPart, len(all))
	for name, u := range all {
		r := Report{Uplink: u.Uplink}.tidy()
		out[clean(name, maxName)] = UplinkPart{u.Points, r.Uplink}
	}
	return out
}

func (w Work) tidy() Work {
	w.Commits = w.Commits.tidy()
	uploads := make(map[string]Histogram)
	for outcome, h := range w.Uploads {
		uploads[clean(outcome, maxName)] = h.tidy()
	}
	w.Uploads = uploads
	return w
}

func (h Histogram) tidy() Histogram {
	h.Bounds, h.Counts, h.SumS = slices.Clone(h.Bounds), slices.Clone(h.Counts), finite(h.SumS)
	for i := range h.Bounds {
		h.Bounds[i] = finite(h.Bounds[i])
	}
	return h
}
