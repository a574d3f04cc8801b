package buffer

import "slices"

// flights are the points in flight, by uplink.
type flights []InFlight

// flightsOf are those of a batch. What a settlement of it ends has been sent too.
func (b *books) flightsOf(batch *Batch) flights {
	f := make(flights, len(b.uplinks))
	for i := range batch.InFlight {
		in := &batch.InFlight[i]
		if u := b.index(in.Uplink); u >= 0 {
			f[u].All = f[u].All || in.All
			f[u].Spans = append(f[u].Spans, in.Spans...)
		}
	}
	for i := range batch.Settle {
		s := &batch.Settle[i]
		if u := b.index(s.Uplink); u >= 0 {
			f[u].Spans = append(f[u].Spans, Span{s.After + 1, s.Through})
		}
	}
	return f
}

// inFlight reports whether point seq of the outbox is on its way to uplink u.
func (w *writer) inFlight(u int, seq uint64) bool {
	if u >= len(w.flights) || !w.waits(u, seq) {
		return false
	}
	f := &w.flights[u]
	return f.All || slices.ContainsFunc(f.Spans, func(sp Span) bool { return sp.First <= seq && seq <= sp.Last })
}

// inFlightAnywhere reports whether point seq of the outbox is on its way to any uplink.
func (w *writer) inFlightAnywhere(seq uint64) bool {
	for u := range w.flights {
		if w.inFlight(u, seq) {
			return true
		}
	}
	return false
}

// overtake notes that an update of point seq has come while it was on its way to uplink u.
func (w *writer) overtake(u int, seq uint64) {
	over := w.c.uplinks[u].overtaken
	if i, there := slices.BinarySearch(over, seq); !there {
		w.c.uplinks[u].overtaken = slices.Insert(slices.Clone(over), i, seq)
	}
}

// sweep supersedes overtaken points that have come back from their way unsettled.
func (w *writer) sweep(*Batch) error {
	for u := range w.c.uplinks {
		for _, seq := range w.c.uplinks[u].overtaken {
			k := numberKey(seq)
			if w.inFlight(u, seq) || !w.waits(u, seq) || w.bucket(bucketOutbox).Get(k) == nil {
				continue
			}
			w.superseded(u, seq)
			if err := w.dropDone(w.bucket(bucketOutbox), [][]byte{k}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Overtaken reports whether a point that was on its way to an uplink has been replaced by an update meanwhile. When it has come back, a
// commit without it in flight supersedes it. It is safe from any goroutine.
func (s *Store) Overtaken(uplink string) bool {
	b := s.cur.Load()
	u := b.index(uplink)
	return u >= 0 && len(b.uplinks[u].overtaken) > 0
}
