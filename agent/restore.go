package agent

import (
	"fmt"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/uplink"
	"edgeagent/watermark"
	"edgeagent/window"
)

// Setup is what an engine is made from.
type Setup struct {
	Rules    Rules
	Identity uplink.Identity
	Retained func(source uint16) reading.RetainPolicy
	Sources  []string // names, by index; lags are kept of these
}

func (s Setup) shape() Shape {
	return Shape{Size: s.Rules.Size, PerSensor: s.Rules.PerSensor, Share: s.Rules.Share, Identity: s.Identity}
}

func (s Setup) engine() (*Engine, error) {
	encoder, err := uplink.NewEncoder(s.Identity)
	if err != nil {
		return nil, err
	}
	e := NewEngine(s.Rules, encoder, s.Retained)
	e.shape = s.shape()
	e.lags = newLags(s.Rules, s.Sources)
	e.tallies = make([]tally, len(s.Sources))
	e.sources = s.Sources
	return e, nil
}

// Restored is what a store comes back as.
type Restored struct {
	Engine  *Engine
	Changed []string // configuration keys by which the shape of windows differs from the one the store was written under
	Packets []buffer.PacketRecord
	Aliases []byte // the decoder's
}

// Restore rebuilds the engine from a store, which must have been opened and not loaded yet. When the shape of windows has
// changed since the store was written, its open windows are first finalized under the old shape, in a commit of their own.
// Windows that are final under the stored watermark and the present delay are in the engine's batch on return.
func Restore(store *buffer.Store, setup Setup) (*Restored, error) {
	snap, err := store.Load()
	if err != nil {
		return nil, fmt.Errorf("load store: %w", err)
	}
	r := &Restored{Packets: snap.Packets, Aliases: snap.Aliases}
	st := unknownState(setup)
	if snap.State != nil {
		if st, err = decodeState(snap.State); err != nil {
			return nil, err
		}
	}
	r.Changed = st.Shape.differs(setup.shape())
	if len(r.Changed) > 0 {
		if snap, st, err = closeShape(store, setup, snap, st); err != nil {
			return nil, fmt.Errorf("finalize the windows of the former configuration: %w", err)
		}
	}
	if r.Engine, err = setup.engine(); err != nil {
		return nil, err
	}
	if err := r.Engine.restore(store, snap, st); err != nil {
		return r, err
	}
	return r, r.Engine.restoreLags(store)
}

// restore takes in all that the store holds.
func (e *Engine) restore(store *buffer.Store, snap *buffer.Snapshot, st state) error {
	e.setState(st)
	e.born, e.floor = max(e.born, snap.Floor), max(e.floor, snap.Floor)
	e.Node.Resets = snap.Resets
	e.batch.record, e.batch.seq = snap.NextRecord, snap.NextSeq
	e.restoreSensors(snap)
	if e.rules.Allowed > st.Keep {
		e.leaveGone(st.Keep)
	}
	for _, c := range snap.Late {
		e.restoreLate(c)
	}
	var err error
	if e.held, err = decodeHeld(snap.Held); err != nil {
		return err
	}
	whole := snap.State != nil && !snap.Partial
	if err := e.restoreJournal(store, whole); err != nil {
		return err
	}
	if e.mayUpdate() {
		err := store.Queued(func(p buffer.Point) error {
			if sc := e.scopeOf(p.Series); sc != nil {
				sc.set.SetQueued(p.Series, p.Start, p.Seq)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read queued points: %w", err)
		}
	}
	e.catchUp()
	return nil
}

// restoreSensors makes the stored sensors known. A store that was kept under scope = "stream" has no watermarks of theirs.
func (e *Engine) restoreSensors(snap *buffer.Snapshot) {
	for _, m := range snap.Marks {
		s := &sensor{name: m.Sensor, scope: e.stream, last: m.M, saved: m.M, heard: unheard()}
		if e.stream == nil {
			s.scope = e.newScope(s)
			s.scope.mark.M, s.scope.lastM, s.scope.gone = m.M, m.M, m.Gone
			if m.W != watermark.None {
				s.scope.mark.W = m.W
			}
		}
		e.sensors[m.Sensor] = s
	}
	e.eldest = watermark.None
}

// leaveGone keeps windows gone of which readings may have been forgotten, since they were remembered for keep only, when a
// longer allowed lateness would open them again: their true points have been sent.
func (e *Engine) leaveGone(keep int64) {
	e.eachScope(func(sc *scope) {
		if sc.mark.W == watermark.None {
			return
		}
		gone := window.Start(sc.mark.W-keep, e.rules.Size)
		if sc.owner == nil {
			e.floor = max(e.floor, gone)
			return
		}
		sc.gone = max(sc.gone, gone)
		e.touch(sc.owner)
	})
}

// restoreLate takes a late counter in; one of a sensor that is not known any more has no open count.
func (e *Engine) restoreLate(c buffer.LateCount) {
	k := window.Counter{Interval: c.Interval, Count: c.Count, Reported: c.Reported, MaxNs: c.MaxNs, Total: c.Total}
	if sc := e.scopeOf(c.Series); sc != nil {
		sc.late.Restore(c.Series, k)
		return
	}
	e.late[c.Series] = &k
}

// restoreJournal takes in what is remembered. Of a store from which not all could be saved it also tells what sensors there
// are, and where event time stood at least.
func (e *Engine) restoreJournal(store *buffer.Store, whole bool) error {
	err := store.Journal(func(number uint64, entries []buffer.Entry) error {
		for i := range entries {
			if !whole {
				e.learn(&entries[i])
			}
			e.restoreEntry(number, &entries[i])
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return nil
}

// learn makes the sensor of an entry known, and moves M to it; W follows when all is read.
func (e *Engine) learn(en *buffer.Entry) {
	if en.Kind == buffer.BareTick {
		return
	}
	name := en.Series.Sensor()
	s := e.known(name)
	if s == nil {
		s = e.newSensor(name)
	}
	if sc := s.scope; en.Kind == buffer.Windowed && en.Time > sc.mark.M {
		sc.mark.M, sc.lastM = en.Time, en.Time
		e.newest = max(e.newest, en.Time)
		e.touch(sc.owner)
	}
}

// restoreEntry takes in one journalled reading. One of a window that the floor has closed is remembered, and no more: it
// may have been sent, by an earlier store or under a former configuration.
func (e *Engine) restoreEntry(number uint64, en *buffer.Entry) {
	sc := e.scopeOf(en.Series)
	if sc == nil && en.Kind != buffer.BareTick {
		return
	}
	e.journal.add(number, en.Kind)
	if en.Kind != buffer.BareTick {
		if s := e.known(en.Series.Sensor()); s != nil {
			if en.Time >= s.last {
				s.last, s.heard.value = en.Time, en.Value
			}
		}
		windowed := en.Kind == buffer.Windowed && sc.set.End(en.Time) > max(e.floor, sc.gone)
		if !sc.set.Restore(en.Series, en.Time, en.Value, windowed, sc.mark.W, number) {
			e.journal.release([]window.Ref{{Record: number, N: 1}})
		}
	}
	if en.Tick && sc != nil {
		sc.set.Settle()
	}
}

// catchUp recomputes every watermark with the present delay and finalizes what it has passed, before the first reading.
func (e *Engine) catchUp() {
	for _, sc := range e.scopes() {
		before := sc.mark.W
		sc.mark.Recompute(e.rules.Delay)
		e.outputs = sc.set.Advance(sc.mark.W, e.outputs[:0])
		e.journal.release(sc.set.Released())
		if sc.mark.W != before {
			e.touch(sc.owner)
		}
		e.put(e.outputs)
	}
}
