package buffer

import (
	"encoding/binary"
	"math"

	bolt "go.etcd.io/bbolt"
)

// commitPages is what a commit writes beside its data: meta page, roots, branches, and leaves that data are added to.
const commitPages = 32

// makeRoom deletes of the trace, and then evicts points, in a transaction of its own when b might not find the pages it needs. The shares usually see to that;
// it comes about when many half-empty pages are left, by points superseded one here and one there, or by a lowered cap.
// Pages freed by a transaction can only be used by the next, so b itself cannot do it. The caller holds s.writing.
func (s *Store) makeRoom(b *Batch) error {
	missing, err := s.missing(b)
	if traced := s.cur.Load().trace.bytes; err == nil && missing > 0 && traced > 0 {
		if err = s.shrinkTrace(max(traced-2*missing*pageSize, 0)); err == nil {
			missing, err = s.missing(b)
		}
	}
	if err != nil {
		return err
	}
	bytes := s.cur.Load().Bytes[inOutbox]
	if missing <= 0 || bytes == 0 {
		return nil
	}
	return s.write(func(w *writer) error {
		w.flights = w.c.flightsOf(b)
		return w.evictDown(max(bytes-2*missing*pageSize, 0), math.MaxInt64)
	})
}

// missing is how many pages b might need beyond those that are free.
func (s *Store) missing(b *Batch) (int64, error) {
	var size int64
	if err := s.view(func(tx *bolt.Tx) error { size = tx.Size(); return nil }); err != nil {
		return 0, err
	}
	st := s.db.Stats()
	free := s.lim.pages - size/pageSize + int64(st.FreePageN+st.PendingPageN)
	return s.need(b) - free, nil
}

// need is a generous guess at the pages that b dirties.
func (s *Store) need(b *Batch) int64 {
	c := s.cur.Load()
	n := int64(len(b.State) + len(b.Held) + packetSize*len(b.Packets))
	for i := range b.Journal {
		n += EntrySize(b.Journal[i])
	}
	for i := range b.Side {
		n += EntrySize(Entry{Series: b.Side[i].Series}) + 2*binary.MaxVarintLen64
	}
	for i := range b.Trace.Readings {
		n += int64(len(b.Trace.Readings[i].Series)+len(b.Trace.Readings[i].Source)) + 3*binary.MaxVarintLen64
	}
	for i := range b.Points {
		size := int64(len(b.Points[i].Line)+len(b.Points[i].Series)) + 64
		if b.Points[i].Refused != "" {
			size = (size + maxReason) * int64(len(c.uplinks)) // it is parked for each
		}
		n += size
	}
	for i := range b.Lags {
		n += int64(len(b.Lags[i].Data) + 2*len(b.Lags[i].Source) + 2*len(b.Lags[i].Sensor) + partSize)
	}
	var raw int64
	for i := range b.Rejected {
		raw += int64(len(b.Rejected[i].Payload)+len(b.Rejected[i].Topic)) + maxReason
	}
	var parked int64
	for i := range b.Settle {
		parked += int64(len(b.Settle[i].Parked))
	}
	parked *= c.Bytes[inOutbox]/max(c.Outbox, 1) + maxReason
	for i := range b.Readmitted {
		if keep := b.Readmitted[i].Keep; keep != nil {
			raw += int64(len(keep.Payload)+len(keep.Topic)) + maxReason
		}
	}
	n += min(raw, max(s.lim.rejected, 0)) + min(parked, s.lim.parked)
	n += s.requeued(b)
	scattered := min(int64(len(b.Marks)+len(b.Late)), s.lim.pages/32) // each may be on a page of its own
	return n/pageSize*4/3 + scattered + commitPages
}

// requeued is about what the points take that go back to the outbox.
func (s *Store) requeued(b *Batch) int64 {
	c := s.cur.Load()
	if b.RequeueAll {
		return c.Bytes[inParked]
	}
	var parked int64
	for u := range c.uplinks {
		parked += c.points(u).Parked
	}
	return int64(len(b.Requeue)*len(c.uplinks)) * c.Bytes[inParked] / max(parked, 1)
}
