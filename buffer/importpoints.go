package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrSameStore is returned by ImportPoints when the file is an earlier state of the store itself. Its points have been here, and what has been
// put out again since would be overwritten at the server by an older point of the same window.
var ErrSameStore = errors.New("the file is an earlier state of this store, which has had its points already")

// ImportPoints takes the queued and parked points of an exported store into one that has begun, as carried points under new numbers. A file
// counts once: after a cut it goes on where it was, and again it brings in nothing. No other process may have the store open.
func ImportPoints(o Options, r io.Reader) (*Imported, error) {
	e, err := readExport(r)
	if err != nil {
		return nil, fmt.Errorf("import points: %w", err)
	}
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	sum, err := s.importPoints(e)
	if err != nil {
		err = fmt.Errorf("import points into %s: %w", s.path, err)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return sum, nil
}

func (s *Store) importPoints(e *exportReader) (*Imported, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	before := *s.cur.Load()
	key := "import\x00" + e.ID
	done, err := s.Input(key)
	if err != nil {
		return nil, err
	}
	sum := &Imported{ExportHeader: e.ExportHeader, Before: done, Floor: s.floor.get()}
	j := joiner{e: e, key: key, skip: done, sum: sum, came: make(map[uint64]uint64)}
	for more := true; more; {
		if err := s.write(func(w *writer) (err error) { more, err = j.some(w); return err }); err != nil {
			return nil, err
		}
	}
	sum.Evicted = s.cur.Load().Points.Evicted - before.Points.Evicted
	return sum, nil
}

// A joiner puts the points of an exported store into another, a step in each transaction.
type joiner struct {
	e    *exportReader
	last uint64            // number of the parked point that came last: it may come for each uplink
	came map[uint64]uint64 // the new numbers of points that may have an update behind them
	key  string            // of the input that counts what is in
	skip int64             // points that are in already
	sum  *Imported
}

// some joins about carryStep bytes of points; false when there are no more.
func (j *joiner) some(w *writer) (more bool, err error) {
	for size := 0; size < carryStep; {
		bucket, k, v, err := j.e.next()
		if err != nil {
			return false, err
		}
		if bucket == "" {
			return false, j.note(w)
		}
		if bucket == bucketState && string(k) == keyLine && bytes.Equal(v, w.tx.Bucket([]byte(bucketState)).Get(k)) {
			return false, ErrSameStore
		}
		if bucket != bucketOutbox && bucket != bucketParked {
			continue
		}
		if j.sum.Records++; j.sum.Records <= j.skip {
			continue
		}
		if err := j.point(w, bucket, k, v); err != nil {
			return false, err
		}
		size += len(v)
	}
	return true, j.note(w)
}

// note stores how many points are in, and keeps the shares.
func (j *joiner) note(w *writer) error {
	count := numberKey(uint64(max(j.sum.Records, j.skip)))
	return errors.Join(w.evictToShare(), w.trimParked(),
		putSealed(w.tx.Bucket([]byte(bucketInputs)), []byte(j.key), count))
}

func (j *joiner) point(w *writer, bucket string, k, v []byte) error {
	p, parked, err := foreign(bucket, k, v)
	if err != nil {
		return fmt.Errorf("%w: point %d: %w", ErrNotExport, number(k), err)
	}
	if p.Replaces = j.came[p.Replaces]; p.Series != "" {
		j.came[p.Seq] = w.c.NextSeq
	}
	p.Kind, p.Series, p.Seq = Carried, "", w.c.NextSeq // of another store: no update of ours replaces it
	if parked != nil && number(k) == j.last {
		return nil
	}
	w.c.NextSeq++
	if parked != nil {
		j.last = number(k)
		j.sum.Parked++
		w.c.Points.Carried++
		return w.putParked(0, p.Seq, parked, appendPoint(nil, &p))
	}
	for u := range w.c.uplinks {
		w.c.points(u).Carried++
	}
	j.sum.Queued++
	return w.queue(&p)
}

// foreign decodes a point of another store, with its refusal if it is parked.
func foreign(bucket string, k, v []byte) (Point, *Parked, error) {
	data, err := unseal(k, v)
	if err != nil {
		return Point{}, nil, err
	}
	if bucket == bucketOutbox {
		p, err := decodePoint(number(k), data)
		return p, nil, err
	}
	d := decoder{b: data}
	parked := &Parked{Time: d.varint(), Reason: d.string()}
	if d.bad {
		return Point{}, nil, errFormat
	}
	p, err := decodePoint(number(k), d.b)
	return p, parked, err
}
