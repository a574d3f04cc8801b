package agent

import (
	"slices"

	"edgeagent/buffer"
	"edgeagent/uplink"
	"edgeagent/watermark"
	"edgeagent/window"
)

// A Shape is what the windows in a store are made under. When it changes, open windows are finalized under the old one.
type Shape struct {
	Size      int64           `json:"size"`
	PerSensor bool            `json:"per_sensor"`
	Share     Share           `json:"share,omitzero"`
	Identity  uplink.Identity `json:"identity"`
}

// differs names what of the shape is another in b, by configuration key. What only adds fields to points (aggregates,
// emit) is no change: a window's state holds all of them.
func (a Shape) differs(b Shape) []string {
	var keys []string
	note := func(key string, same bool) {
		if !same {
			keys = append(keys, key)
		}
	}
	note("window.size", a.Size == b.Size)
	note("watermark.scope", a.PerSensor == b.PerSensor)
	note("window.timestamp", a.Identity.Timestamp == b.Identity.Timestamp)
	note("window.measurement", a.Identity.Measurement == b.Identity.Measurement)
	note("gateway.id", a.Identity.Gateway == b.Identity.Gateway)
	note("mqtt.shard", a.Share == b.Share && a.Identity.Shard == b.Identity.Shard && a.Identity.Shared == b.Identity.Shared)
	note("gateway.tags", slices.Equal(a.Identity.Tags, b.Identity.Tags))
	return keys
}

// after is the floor under shape b once shape a has sent windows up to watermark w: the first instant from which a window of
// b can share no timestamp with one that was sent.
func (a Shape) after(b Shape, w int64) int64 {
	if w == watermark.None {
		return w
	}
	sent := window.Start(w, a.Size)
	floor := window.Start(sent, b.Size)
	if floor < sent {
		floor += b.Size
	}
	if floor == sent && a.Identity.Timestamp == "end" && b.Identity.Timestamp != "end" {
		floor += b.Size
	}
	return floor
}

// sameReports reports whether late drops are counted by the same intervals under b and reported in the same points. If not, what
// a has reported must not be reported again: it would stand beside its first report, or overwrite another.
func (a Shape) sameReports(b Shape) bool {
	x, y := a.Identity, b.Identity
	return a.Size == b.Size && a.PerSensor == b.PerSensor && x.Gateway == y.Gateway && slices.Equal(x.Tags, y.Tags) &&
		x.Shared == y.Shared && (!x.Shared || x.Shard == y.Shard)
}

// closeShape finalizes what a store holds under the shape it was written under, commits that, and gives back the store's
// content for the new shape.
func closeShape(store *buffer.Store, setup Setup, snap *buffer.Snapshot, st state) (*buffer.Snapshot, state, error) {
	was := setup
	was.Rules.Size, was.Rules.PerSensor, was.Rules.Share, was.Identity = st.Shape.Size, st.Shape.PerSensor, st.Shape.Share, st.Shape.Identity
	e, err := was.engine()
	if err != nil {
		return nil, st, err
	}
	if err := e.restore(store, snap, st); err != nil {
		return nil, st, err
	}
	e.Close()
	next := e.reshape(setup.shape())
	var b buffer.Batch
	if err := e.fill(&b, next); err != nil {
		return nil, st, err
	}
	if _, err := store.Commit(&b); err != nil {
		return nil, st, err
	}
	if snap, err = store.Load(); err != nil {
		return nil, st, err
	}
	st, err = decodeState(snap.State)
	return snap, st, err
}

// reshape readies a closed engine's state for another shape: no window of it may share a timestamp with one that was sent,
// no interval of late counts be reported again with other readings.
func (e *Engine) reshape(to Shape) state {
	from, mark, gone, forgot := e.shape, watermark.New(), watermark.None, watermark.None
	if from.Size != to.Size {
		e.stayForgotten(e.rules.keep(), e.batch.record)
	}
	for _, sc := range e.scopes() {
		mark.M, mark.W = max(mark.M, sc.mark.M), max(mark.W, sc.mark.W)
		gone = max(gone, sc.gone)
		if !from.sameReports(to) {
			e.endLate(sc)
		}
		forgot = max(forgot, sc.forgot)
		if from.PerSensor && to.PerSensor {
			sc.gone = from.after(to, max(sc.mark.W, sc.gone))
			e.touch(sc.owner)
		}
	}
	e.floor = from.after(to, e.floor)
	if !from.PerSensor || !to.PerSensor {
		e.floor = max(e.floor, from.after(to, max(mark.W, gone)))
	}
	if from.PerSensor != to.PerSensor {
		e.base = max(e.base, mark.W)
	}
	if to.PerSensor && !from.PerSensor {
		for _, s := range e.sensors {
			e.touch(s)
		}
	}
	e.shape = to
	s := e.state()
	if from.PerSensor != to.PerSensor {
		s.Forgot.Before = max(s.Forgot.Before, forgot)
	}
	if !to.PerSensor {
		s.Stream = mark
	}
	return s
}
