package buffer

import (
	"fmt"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Peek copies out queued points after sequence number after, whichever uplinks they wait for, oldest first, until maxPoints or maxBytes of
// lines would be passed, but at least one if there is any. They stay in the outbox. Before it returns the floor on disk is at or above the
// End of each; if that cannot be written there is an error and no points. It is safe beside Commit, from any goroutine.
//
// The caller owns the points. A point that is damaged is left out, and moved to quarantine by the next commit.
func (s *Store) Peek(after uint64, maxPoints, maxBytes int) ([]Point, error) {
	return s.peek(Span{after, math.MaxUint64}, maxPoints, maxBytes, func(*bolt.Tx) uplink { return uplink{} })
}

// PeekFor is Peek for the points that wait for an uplink ("" is the first), after one number and up to another.
func (s *Store) PeekFor(name string, after, upto uint64, maxPoints, maxBytes int) ([]Point, error) {
	return s.peek(Span{after, upto}, maxPoints, maxBytes, func(tx *bolt.Tx) uplink { return s.uplinkIn(tx, name) })
}

// peek looks between in.First, which is not included, and in.Last.
func (s *Store) peek(in Span, maxPoints, maxBytes int, whose func(*bolt.Tx) uplink) ([]Point, error) {
	var points []Point
	err := s.view(func(tx *bolt.Tx) error {
		points = s.collect(tx, whose(tx), in, maxPoints, maxBytes)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("peek: %w", err)
	}
	if err := s.offer(points); err != nil {
		return nil, err
	}
	return points, nil
}

// uplinkIn is an uplink as of tx; of one that no commit has stored yet what is known of it.
func (s *Store) uplinkIn(tx *bolt.Tx, name string) uplink {
	known := s.cur.Load()
	i := known.index(name)
	if i < 0 {
		return uplink{}
	}
	name = known.uplinks[i].name
	if data, err := getSealed(tx.Bucket([]byte(bucketUplinks)), name); data != nil && err == nil {
		if u, _, err := decodeUplink(name, data); err == nil {
			return u
		}
	}
	return known.uplinks[i]
}

// skips reports whether point n is not to be offered, and up to which number none is.
func (u *uplink) skips(n uint64) (last uint64, skip bool) {
	if sp, ok := u.settled.find(n); ok {
		return sp.Last, true
	}
	_, over := slices.BinarySearch(u.overtaken, n)
	return n, over
}

func (s *Store) collect(tx *bolt.Tx, u uplink, in Span, maxPoints, maxBytes int) (points []Point) {
	c := tx.Bucket([]byte(bucketOutbox)).Cursor()
	bytes := 0
	k, v := seekAfter(c, in.First)
	for k != nil && number(k) <= in.Last && len(points) < max(maxPoints, 1) {
		if last, skip := u.skips(number(k)); skip {
			k, v = seekAfter(c, last)
			continue
		}
		if p, ok := s.point(k, v); ok {
			bytes += len(p.Line)
			if len(points) > 0 && bytes > maxBytes {
				break
			}
			points = append(points, p)
		}
		k, v = c.Next()
	}
	return points
}

// point decodes a queued point; a damaged one is noted for the next commit.
func (s *Store) point(k, v []byte) (Point, bool) {
	data, err := unseal(k, v)
	if err == nil {
		var p Point
		if p, err = decodePoint(number(k), data); err == nil {
			return p, true
		}
	}
	s.noteBad(number(k), err)
	return Point{}, false
}

// offer raises the floor to what points need. Health points have no End.
func (s *Store) offer(points []Point) error {
	for i := range points {
		if points[i].End == 0 {
			continue
		}
		if err := s.floor.raise(points[i].End); err != nil {
			return err
		}
	}
	return nil
}

// Newest copies out the newest point that waits for an uplink ("" is the first), under the same promise as Peek; false if none does.
func (s *Store) Newest(name string) (newest Point, ok bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		u := s.uplinkIn(tx, name)
		c := tx.Bucket([]byte(bucketOutbox)).Cursor()
		k, v := c.Last()
		for k != nil && !ok {
			if sp, done := u.settled.find(number(k)); done {
				c.Seek(numberKey(sp.First))
			} else if _, skip := u.skips(number(k)); !skip {
				newest, ok = s.point(k, v)
			}
			k, v = c.Prev()
		}
		return nil
	})
	if err != nil {
		return Point{}, false, fmt.Errorf("peek at newest: %w", err)
	}
	if err := s.offer([]Point{newest}); err != nil {
		return Point{}, false, err
	}
	return newest, ok, nil
}

// Queued calls fn with every parked and every queued point that may still be replaced (Series is set), oldest first, each once or more. An
// error of fn ends the walk and is returned as it is. The points are not offered to anyone, so the floor stays.
func (s *Store) Queued(fn func(p Point) error) error {
	return s.view(func(tx *bolt.Tx) error {
		parked, outbox := tx.Bucket([]byte(bucketParked)).Cursor(), tx.Bucket([]byte(bucketOutbox)).Cursor()
		pk, pv := parked.First()
		qk, qv := outbox.First()
		for pk != nil || qk != nil {
			var p Point
			var ok bool
			if qk == nil || pk != nil && number(pk) <= number(qk) {
				q, err := parkedPoint(pk, pv)
				p, ok = q, err == nil && len(q.Line) > 0
				pk, pv = parked.Next()
			} else {
				p, ok = s.point(qk, qv)
				qk, qv = outbox.Next()
			}
			if !ok || p.Series == "" {
				continue
			}
			if err := fn(p); err != nil {
				return err
			}
		}
		return nil
	})
}
