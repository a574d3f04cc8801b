package sim

import (
	"slices"

	"edgeagent/reading"
)

// fold takes a reading into its window, moves M and W, and puts out what follows from it.
func (r *Run) fold(rd reading.Reading) {
	scope := r.scope(rd.Series)
	id := Identity{Start: floor(rd.Time, r.p.Size), Series: rd.Series}
	_, shown := r.windows[id]
	shown = shown && !r.waiting[id] // it had its final point
	r.windows[id] = append(r.windows[id], rd)
	r.known[repeat{rd.Series, rd.Time, rd.Value}] = true
	r.changed[id] = true

	var out []Identity
	if shown {
		out = append(out, id)
	} else {
		r.waiting[id] = true
	}
	ticked := r.advance(scope, rd.Time)
	out = append(out, r.due(scope)...)
	if ticked {
		out = append(out, r.stillOpen(scope)...)
	}
	r.emit(out)
}

// advance moves M and W of a scope to a reading and reports whether M passed a multiple of the update interval.
func (r *Run) advance(scope string, t int64) bool {
	old, had := r.m[scope]
	m := t
	if had {
		m = max(old, t)
	}
	r.m[scope] = m
	r.raise(scope, m-int64(r.p.Delay))
	return had && r.p.UpdateInterval > 0 && floor(m, r.p.UpdateInterval) != floor(old, r.p.UpdateInterval)
}

// raise moves W of a scope, never back.
func (r *Run) raise(scope string, w int64) {
	if old, ok := r.w[scope]; !ok || w > old {
		r.w[scope] = w
	}
}

// due lists the windows of a scope that are final and had no final point, and the late intervals that M has left.
func (r *Run) due(scope string) []Identity {
	var ids []Identity
	for id := range r.waiting {
		if r.scope(id.Series) != scope {
			continue
		}
		if id.Late && id.Start != floor(r.m[scope], r.p.Size) || !id.Late && r.over(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// stillOpen lists the windows of a scope that are open and changed since they were last put out.
func (r *Run) stillOpen(scope string) []Identity {
	var ids []Identity
	for id := range r.changed {
		if r.scope(id.Series) == scope && !r.over(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// over reports whether end <= W for a window.
func (r *Run) over(id Identity) bool {
	return id.Start+int64(r.p.Size) <= r.w[r.scope(id.Series)]
}

// emit puts out points, which must all be different, in their order.
func (r *Run) emit(ids []Identity) {
	slices.SortFunc(ids, before)
	for _, id := range ids {
		if id.Late {
			r.points = append(r.points, r.report(id))
			delete(r.waiting, id)
			continue
		}
		p := aggregate(Point{Identity: id, Kind: Updated, Final: r.over(id)}, r.windows[id])
		if p.Final && r.waiting[id] {
			p.Kind = Finalized
			delete(r.waiting, id)
		}
		delete(r.changed, id)
		r.points = append(r.points, p)
	}
}

// report counts the late readings of one series and interval, and marks them reported.
func (r *Run) report(id Identity) Point {
	p := Point{Identity: id, Kind: LateReport, Final: true}
	drops := r.late[id.Series]
	for i := range drops {
		d := &drops[i]
		if d.interval == id.Start {
			p.Count++
			p.MaxLateness = max(p.MaxLateness, d.behind)
			d.reported = true
		}
		if d.reported {
			p.Total++
		}
	}
	return p
}

// Close finalizes every open window and reports all counts, as replay --close does at the end of its input, and returns
// these points. W becomes the largest end closed, each sensor's own in scope "sensor". More items may follow.
func (r *Run) Close() []Point {
	n := len(r.points)
	ids := make([]Identity, 0, len(r.waiting))
	for id := range r.waiting {
		ids = append(ids, id)
		if !id.Late {
			r.raise(r.scope(id.Series), id.Start+int64(r.p.Size))
		}
	}
	r.emit(ids)
	return r.points[n:len(r.points):len(r.points)]
}
