package reading

import (
	"github.com/tidwall/gjson"
)

// lookup is the value of a path for the record at hand.
func (d *Decoder) lookup(f *frame, p *path) gjson.Result {
	if !p.rooted {
		return find(f.record, p.steps)
	}
	memo := &d.memo[p.memo]
	if !memo.done {
		*memo = memoized{done: true, v: find(f.root, p.steps)}
	}
	return memo.v
}

// unitOf is the unit of the record at hand. An absent one is Celsius.
func (d *Decoder) unitOf(f *frame) (unit, Reason) {
	s := f.source
	for i := range s.unitAt {
		if v := d.lookup(f, &s.unitAt[i]); exists(v) {
			return unitAt(v)
		}
	}
	return s.unit, NumReasons
}

// timeOf is the event time of the record at hand, and whether it comes from the arrival.
func (d *Decoder) timeOf(f *frame) (at int64, byArrival bool, r refusal) {
	s := f.source
	if len(s.time) == 0 {
		return f.arrival("no time key", "")
	}
	v, own := d.timeValue(f)
	if v.Type == gjson.JSON || v.Type == gjson.True || v.Type == gjson.False {
		return 0, false, refusal{Decode, "wrong type at the time path: " + v.Raw}
	}
	t, got := s.timeFormat.instant(v, s.zone, f.m.Arrival)
	if s.format == senmlFormat && got == timeGood && abs(t) < senmlRelative {
		return f.relative(t)
	}
	switch {
	case got == timeFar:
		return 0, false, refusal{Future, "time after 2262: " + v.Raw}
	case got == timeGood && t >= s.notBefore && t != 0:
		return t, false, accepted
	case own && f.records > 1:
		return 0, false, refusal{Time, "one of several records without a usable time: " + v.Raw}
	}
	return f.arrival("no usable time: ", v.Raw)
}

// timeValue is the first time that is not null, and whether it is the record's own: not that of the whole message.
func (d *Decoder) timeValue(f *frame) (v gjson.Result, own bool) {
	s := f.source
	for i := range s.time {
		r := &s.time[i]
		if r.capture < 0 {
			own = own || !r.path.rooted
			if v := d.lookup(f, &r.path); exists(v) {
				return v, !r.path.rooted
			}
			continue
		}
		own = own || r.capture >= s.eachCaps
		if text := d.env[r.capture]; text != "" {
			return gjson.Result{Type: gjson.String, Str: text, Raw: text}, r.capture >= s.eachCaps
		}
	}
	return gjson.Result{}, own
}

// arrival is the arrival time as event time, where that is allowed.
func (f *frame) arrival(why, raw string) (int64, bool, refusal) {
	switch {
	case f.source.timeRequired:
		return 0, false, refusal{Time, "time_required is set, and " + why + raw}
	case f.m.Arrival == NoTime:
		return 0, false, refusal{Time, "the arrival is not known, and " + why + raw}
	}
	return f.m.Arrival, true, accepted
}

// relative is a time given as a distance in ns from the arrival.
func (f *frame) relative(distance int64) (int64, bool, refusal) {
	at, byArrival, r := f.arrival("the time is relative to the arrival", "")
	if r.reason != NumReasons {
		return 0, false, r
	}
	return at + distance, byArrival, accepted
}

// makeSeries makes the sensor and the tags of the value at hand, or says why they cannot be used. A static source needs no
// frame.
func (d *Decoder) makeSeries(s *source, f *frame) (Series, string) {
	d.id = d.id[:0]
	if what := d.appendTemplate(f, s.sensor); what != "" {
		return "", "sensor " + what
	}
	if why := checkText(alias(d.id)); why != "" {
		return "", "sensor " + why + ": " + string(d.id)
	}
	for i := range s.tags {
		t := &s.tags[i]
		before := len(d.id)
		d.id = append(append(append(d.id, 0), t.key...), 0)
		start := len(d.id)
		if d.appendTemplate(f, t.value) != "" {
			d.id = d.id[:before]
			continue
		}
		if why := checkText(alias(d.id[start:])); why != "" {
			return "", "tag " + t.key + " " + why + ": " + string(d.id[start:])
		}
	}
	return d.series.intern(d.id), ""
}

// appendTemplate appends the text of t to d.id, or says what it lacks.
func (d *Decoder) appendTemplate(f *frame, t template) string {
	for i := range t {
		if len(t[i].refs) == 0 {
			d.id = append(d.id, t[i].text...)
			continue
		}
		if !d.appendRefs(f, t[i].refs) {
			return "has no text: " + t[i].text + " is not there, or is none"
		}
	}
	return ""
}

// appendRefs appends the first alternative that is there. A boolean, an object or an array is no text.
func (d *Decoder) appendRefs(f *frame, refs []ref) (ok bool) {
	for i := range refs {
		r := &refs[i]
		if r.capture >= 0 {
			if d.env[r.capture] != "" {
				d.id = append(d.id, d.env[r.capture]...)
				return true
			}
			continue
		}
		if v := d.lookup(f, &r.path); exists(v) {
			before := len(d.id)
			d.id, ok = plain(d.id, v)
			return ok && len(d.id) > before
		}
	}
	return false
}
