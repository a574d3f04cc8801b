package reading

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// A frame is what is known while one source works through one message.
type frame struct {
	*match
	m       *Message
	res     *Result
	root    gjson.Result
	records int      // records found
	names   []string // of columns, once they are needed

	// of the record at hand
	record    gjson.Result
	timed     bool // time holds the answer below
	at        int64
	byArrival bool
	late      refusal // why there is no time
	unit      unit
	noUnit    Reason // why the unit cannot be used; NumReasons if it can
}

// A refusal is a reason and its detail; the zero value with reason NumReasons is none.
type refusal struct {
	reason Reason
	detail string
}

var accepted = refusal{reason: NumReasons}

func (f *frame) refuse(reason Reason, detail string) {
	f.res.Refusals = append(f.res.Refusals, Refusal{Source: f.index, Reason: reason, Detail: clip(detail)})
}

// run appends what one source makes of m to res, and reports whether it found records.
func (d *Decoder) run(mt *match, m *Message, res *Result) bool {
	f := frame{match: mt, m: m, res: res}
	doc := d.document(mt.source.format, m)
	if doc.reason != NumReasons {
		f.refuse(doc.reason, doc.detail)
		return false
	}
	f.root = doc.root
	d.setEnv(mt)
	d.resetMemo(mt.source.memoCount)
	d.records = d.findRecords(mt.source, d.records[:0], f.root)
	f.records = len(d.records)
	if f.records == 0 {
		f.refuse(Decode, "no record found"+doc.detail)
		return false
	}
	for i := range d.records {
		d.runRecord(&f, &d.records[i])
	}
	return true
}

// setEnv puts the captures of the topic in place.
func (d *Decoder) setEnv(mt *match) {
	d.env = append(d.env[:0], mt.caps...)
	for len(d.env) < mt.source.captures {
		d.env = append(d.env, "")
	}
}

func (d *Decoder) resetMemo(n int) {
	if cap(d.memo) < n {
		d.memo = make([]memoized, n)
	}
	d.memo = d.memo[:n]
	clear(d.memo)
}

// findRecords appends the records of a message: what the first alternative of each that is not null finds.
func (d *Decoder) findRecords(s *source, nodes []node, root gjson.Result) []node {
	if len(s.each) == 0 {
		if s.rows && root.IsArray() {
			members(root.Raw, func(_, v string) bool {
				nodes = append(nodes, node{v: parseValue(v)})
				return true
			})
			return nodes
		}
		return append(nodes, node{v: root})
	}
	nodes = collectFirst(nodes, s.each, root, root)
	kept := nodes[:0]
	for _, n := range nodes {
		if !n.loose || !s.stepsIn() || n.v.Type == gjson.Null || inside(n.v).Type == gjson.JSON {
			kept = append(kept, n)
		}
	}
	return kept
}

// stepsIn reports whether the value is inside the record.
func (s *source) stepsIn() bool {
	for _, p := range s.value {
		if len(p.steps) > 0 {
			return true
		}
	}
	return false
}

// collectFirst fills nodes, which is empty, with what the first alternative that finds anything but null finds, else with
// the nulls of the first that finds any.
func collectFirst(nodes []node, alts []path, record, root gjson.Result) []node {
	for i := range alts {
		from := record
		if alts[i].rooted {
			from = root
		}
		before := len(nodes)
		nodes = collect(nodes, node{v: from}, alts[i].steps)
		for _, n := range nodes[before:] {
			if exists(n.v) {
				return append(nodes[:0], nodes[before:]...)
			}
		}
		if before > 0 {
			nodes = nodes[:before]
		}
	}
	return nodes
}

// runRecord makes readings or refusals of one record.
func (d *Decoder) runRecord(f *frame, rec *node) {
	s := f.source
	f.record, f.timed = rec.v, false
	if len(s.columns)+len(s.columnsAt) > 0 {
		named, r := d.nameColumns(f)
		if r.reason != NumReasons {
			f.refuse(r.reason, r.detail)
			return
		}
		f.record = named
	}
	copy(d.env[s.eachCaps:s.valueCaps], rec.caps[:])
	f.unit, f.noUnit = d.unitOf(f)
	if len(s.value) == 1 && !s.value[0].many() {
		d.runValue(f, find(f.record, s.value[0].steps))
		return
	}
	d.values = collectFirst(d.values[:0], s.value, f.record, f.root)
	if len(d.values) == 0 {
		f.refuse(NoValue, s.absent)
	}
	for i := range d.values {
		copy(d.env[s.valueCaps:], d.values[i].caps[:])
		d.runValue(f, d.values[i].v)
	}
}

// runValue makes a reading or a refusal of one value.
func (d *Decoder) runValue(f *frame, v gjson.Result) {
	celsius, r := f.celsius(v)
	if r.reason != NumReasons {
		f.refuse(r.reason, r.detail)
		return
	}
	series, bad := f.series, f.bad
	if !f.source.static {
		series, bad = d.makeSeries(f.source, f)
	}
	if bad != "" {
		f.refuse(Decode, bad)
		return
	}
	if !f.timed {
		f.at, f.byArrival, f.late = d.timeOf(f)
		f.timed = true
	}
	if f.late.reason != NumReasons {
		f.refuse(f.late.reason, f.late.detail)
		return
	}
	f.res.Readings = append(f.res.Readings, Reading{Series: series, Source: f.index, ArrivalTimed: f.byArrival, Time: f.at, Value: celsius})
}

// celsius turns the value at the path into degrees Celsius, or says why it is none.
func (f *frame) celsius(v gjson.Result) (float64, refusal) {
	s := f.source
	raw, u, reason := number(v)
	if reason != NumReasons {
		return 0, refusal{reason, s.valueDetail(v, reason)}
	}
	if f.noUnit != NumReasons {
		return 0, refusal{f.noUnit, "the unit is none of temperature"}
	}
	if u == noUnit {
		u = f.unit
	}
	scaled := s.rescale(raw)
	x := u.toCelsius(scaled)
	switch {
	case !finite(x):
		return 0, refusal{Range, "not finite: " + v.Raw}
	case sentinel(s.reject, raw) || sentinel(s.reject, scaled) || sentinel(s.reject, x):
		return 0, refusal{Range, fmt.Sprintf("%v is in reject", raw)}
	case x < s.min || x > s.max:
		return 0, refusal{Range, fmt.Sprintf("%v °C is outside %v..%v", x, s.min, s.max)}
	}
	return x + 0, accepted // -0 + 0 is 0
}

// rescale applies scale.
func (s *source) rescale(x float64) float64 {
	if s.inverse != 0 {
		return x / s.inverse
	}
	return x * s.scale
}

// valueDetail says what is wrong with what stands at the value path.
func (s *source) valueDetail(v gjson.Result, reason Reason) string {
	switch {
	case v.Raw == "":
		return s.absent
	case reason == NoValue:
		return "no value: " + v.Raw
	case reason == Value:
		return "not a number: " + v.Raw
	}
	return "wrong type at the value path: " + v.Raw
}
