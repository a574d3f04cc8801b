package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"edgeagent/buffer"
)

// How much of the lags goes into one commit, and how often: a slice is a run of neighbours in the store, so it dirties few pages beside
// what a commit dirties anyway. A round over ten thousand sensors takes some seven hours.
const (
	lagEvery      = 2 * time.Minute
	lagSliceBytes = 3 << 10
	lagSliceKeys  = 48
)

// lagShare is the part of the store that sensors' samples may take, and lagCost what one takes there at most, bytes.
const (
	lagShare = 64
	lagCost  = 256
)

// fillLags adds a slice of what has changed to b.
func (e *Engine) fillLags(b *buffer.Batch, maxSize int64) {
	l := &e.lags
	room := lagSliceBytes
	for len(l.dropped) > 0 && len(b.Lags) < lagSliceKeys {
		k := l.dropped[len(l.dropped)-1]
		l.dropped = l.dropped[:len(l.dropped)-1]
		b.Lags = append(b.Lags, buffer.Lag{Source: l.name(k), Sensor: k.gone})
	}
	if len(l.round) == 0 {
		e.beginRound()
	}
	for len(l.round) > 0 && room > 0 && len(b.Lags) < lagSliceKeys {
		k := l.round[0]
		l.round = l.round[1:]
		if data := e.lagData(k, maxSize); data != nil {
			rec := buffer.Lag{Source: l.name(k), Sensor: k.record.key(), Data: data}
			if k.sensor != nil {
				rec.Sensor = k.sensor.name
			}
			b.Lags = append(b.Lags, rec)
			room -= len(data) + len(rec.Source) + len(rec.Sensor)
		}
	}
}

// name is that of the source.
func (l *lags) name(k lagKey) string {
	if k.former != "" {
		return k.former
	}
	return l.names[k.source]
}

// beginRound lists what has changed, in the order of the store's keys.
func (e *Engine) beginRound() {
	l := &e.lags
	l.round = nil
	for i := range l.sources {
		for r := range numLagRecords {
			if c := l.sources[i].generation(r); c.dirty {
				l.round = append(l.round, lagKey{source: uint16(i), record: r})
			}
		}
	}
	for _, s := range e.sensors {
		for k := s.lag; k != nil; k = k.next {
			if k.dirty {
				l.round = append(l.round, lagKey{source: k.source, sensor: s})
			}
		}
	}
	slices.SortFunc(l.round, func(a, b lagKey) int {
		if (a.sensor == nil) != (b.sensor == nil) {
			return cmp.Compare(a.rank(), b.rank())
		}
		c := cmp.Or(cmp.Compare(l.names[a.source], l.names[b.source]), cmp.Compare(a.record, b.record))
		if c != 0 || a.sensor == nil {
			return c
		}
		return cmp.Compare(a.sensor.name, b.sensor.name)
	})
}

// rank has the sources come first.
func (k lagKey) rank() int {
	if k.sensor == nil {
		return 0
	}
	return 1
}

// lagData is the record of k, nil if there is none to store: the sensor is forgotten, or there is no room for one more.
func (e *Engine) lagData(k lagKey, maxSize int64) []byte {
	l := &e.lags
	if k.sensor == nil {
		s := &l.sources[k.source]
		if k.record%agedLag == youngPast {
			s.generation(k.record).dirty = false
		}
		return l.encode(s, k.record)
	}
	if e.sensors[k.sensor.name] != k.sensor {
		return nil
	}
	s := k.sensor.lagOf(k.source)
	if !s.stored && int64(l.stored) >= maxSize/lagShare/lagCost {
		return nil
	}
	if !s.stored {
		s.stored = true
		l.stored++
	}
	s.dirty = false
	return s.encode()
}

// forgetLags has what is kept of a sensor deleted.
func (e *Engine) forgetLags(s *sensor) {
	for k := s.lag; k != nil; k = k.next {
		if k.stored {
			e.lags.stored--
			e.lags.dropped = append(e.lags.dropped, lagKey{source: k.source, gone: s.name})
		}
	}
}

// restoreLags takes in what the store has. What belongs to a source or sensor that there is no more is deleted with the next slices;
// so is what cannot be read.
func (e *Engine) restoreLags(store *buffer.Store) error {
	l := &e.lags
	err := store.Lags(func(rec buffer.Lag) {
		k := lagKey{gone: rec.Sensor, former: rec.Source}
		i := slices.Index(l.names, rec.Source)
		if i < 0 || !e.restoreLag(uint16(i), rec) {
			l.dropped = append(l.dropped, k)
		}
	})
	if err != nil {
		return fmt.Errorf("read lags: %w", err)
	}
	return nil
}

// restoreLag takes one record in; false if it is of no use.
func (e *Engine) restoreLag(source uint16, rec buffer.Lag) bool {
	l := &e.lags
	if record, ok := recordOf(rec.Sensor); ok {
		return l.decode(rec.Data, &l.sources[source], record) == nil
	}
	s := e.sensors[rec.Sensor]
	if s == nil {
		return false
	}
	var k sensorLag
	if k.decode(rec.Data) != nil {
		return false
	}
	k.source, k.stored, k.next = source, true, s.lag
	s.lag = &k
	l.stored++
	return true
}

// turnLags begins a day of the sensors.
func (e *Engine) turnLags() {
	for _, s := range e.sensors {
		for k := s.lag; k != nil; k = k.next {
			k.turn()
		}
	}
}
