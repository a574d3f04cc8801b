package buffer

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Peek copies out queued points after sequence number after, oldest first, until maxPoints or maxBytes of lines would be passed,
// but at least one if there is any. They stay in the outbox. Before it returns the floor on disk is at or above the End of each; if
// that cannot be written there is an error and no points. It is safe beside Commit, from any goroutine.
//
// The caller owns the points. A point that is damaged is left out, and moved to quarantine by the next commit.
func (s *Store) Peek(after uint64, maxPoints, maxBytes int) ([]Point, error) {
	var points []Point
	err := s.view(func(tx *bolt.Tx) error {
		points = s.collect(tx, after, maxPoints, maxBytes)
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

func (s *Store) collect(tx *bolt.Tx, after uint64, maxPoints, maxBytes int) (points []Point) {
	c := tx.Bucket([]byte(bucketOutbox)).Cursor()
	bytes := 0
	for k, v := seekAfter(c, after); k != nil && len(points) < max(maxPoints, 1); k, v = c.Next() {
		p, ok := s.point(k, v)
		if !ok {
			continue
		}
		bytes += len(p.Line)
		if len(points) > 0 && bytes > maxBytes {
			break
		}
		points = append(points, p)
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

// Newest copies out the newest queued point, under the same promise as Peek; false if none is queued.
func (s *Store) Newest() (newest Point, ok bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketOutbox)).Cursor()
		for k, v := c.Last(); k != nil && !ok; k, v = c.Prev() {
			newest, ok = s.point(k, v)
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

// Queued calls fn with every parked and then with every queued point that may still be replaced (Series is set), oldest first.
// An error of fn ends the walk and is returned as it is. The points are not offered to anyone, so the floor stays.
func (s *Store) Queued(fn func(p Point) error) error {
	return s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketParked)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if p, err := parkedPoint(k, v); err == nil && p.Series != "" && len(p.Line) > 0 {
				if err := fn(p); err != nil {
					return err
				}
			}
		}
		c = tx.Bucket([]byte(bucketOutbox)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			p, ok := s.point(k, v)
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
