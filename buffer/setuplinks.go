package buffer

import (
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// dropStep is how many points are let go in one transaction for an uplink that is gone.
const dropStep = 20000

// setUplinks makes the store's uplinks those of the configuration, by name. If none of its own is there any more, its first goes on under the
// name of the first: so a lone table may be named anew, or become one of several, and nothing is sent again or lost. What is new
// starts at the oldest point there is; what is not configured any more holds no points.
func (s *Store) setUplinks(names []string) error {
	if len(names) == 0 {
		return nil
	}
	now := *s.cur.Load()
	all := now.list()
	if !slices.ContainsFunc(all, func(u uplink) bool { return slices.Contains(names, u.name) }) {
		all[0].name = names[0]
	}
	var ordered []uplink
	for _, name := range names {
		i := slices.IndexFunc(all, func(u uplink) bool { return u.name == name })
		if i < 0 {
			u, err := s.newUplink(name, slices.Concat(all, ordered))
			if err != nil {
				return err
			}
			ordered = append(ordered, u)
			continue
		}
		ordered = append(ordered, all[i])
		all = slices.Delete(all, i, i+1)
	}
	now.setList(append(ordered, all...))
	s.cur.Store(&now)
	for range all {
		if err := s.dropUplink(len(names)); err != nil {
			return err
		}
	}
	return nil
}

// newUplink is one that has done nothing yet: what is queued is all that was made for it.
func (s *Store) newUplink(name string, others []uplink) (uplink, error) {
	taken := make(map[uint16]bool)
	for _, u := range others {
		taken[u.id] = true
	}
	u := uplink{name: name, id: freeID(taken)}
	err := s.view(func(tx *bolt.Tx) error {
		for countParked(tx.Bucket([]byte(bucketParked)), u.id) > 0 { // of an uplink whose record was damaged
			taken[u.id] = true
			u.id = freeID(taken)
		}
		return tx.Bucket([]byte(bucketOutbox)).ForEach(func(k, v []byte) error {
			p, err := unseal(k, v)
			kind := Carried // of a damaged one it cannot be told
			if err == nil && len(p) > 0 && PointKind(p[0]) < NumPointKinds {
				kind = PointKind(p[0])
			}
			*u.points.made(kind)++
			u.points.Queued++
			return nil
		})
	})
	if err != nil {
		return uplink{}, fmt.Errorf("add uplink %q: %w", name, err)
	}
	return u, nil
}

// dropUplink lets go of what waits or is parked for uplink u, and forgets it. It does so in steps; after a cut the next start goes on.
func (s *Store) dropUplink(u int) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	gone := s.cur.Load().uplinks[u]
	for more := true; more; {
		err := s.write(func(w *writer) (err error) {
			more, err = w.dropSome(u)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove uplink %q: %w", gone.name, err)
		}
	}
	s.o.Logger.Warn("store: an uplink is not configured any more; what waited for it is let go", "uplink", gone.name,
		"points", gone.points.Queued+gone.points.Parked)
	return nil
}

// dropSome evicts some of what waits for uplink u; when that is all, what is parked for it too, and the uplink is gone.
func (w *writer) dropSome(u int) (more bool, err error) {
	outbox, parked := w.bucket(bucketOutbox), w.bucket(bucketParked)
	var keys [][]byte
	c := outbox.Cursor()
	k, _ := c.First()
	for k != nil && len(keys) < dropStep {
		if sp, done := w.c.uplinks[u].settled.find(number(k)); done {
			k, _ = seekAfter(c, sp.Last)
			continue
		}
		keys = append(keys, k)
		k, _ = c.Next()
	}
	points := w.c.points(u)
	points.Queued -= int64(len(keys))
	points.Evicted += int64(len(keys))
	if n := len(keys); n > 0 {
		w.done(u, Span{1, number(keys[n-1])})
	}
	if err := w.dropDone(outbox, keys); err != nil || len(keys) == dropStep {
		return true, err
	}
	var refused [][]byte
	_ = parked.ForEach(func(k, _ []byte) error {
		if parkedFor(k) == w.c.uplinks[u].id {
			refused = append(refused, k)
		}
		return nil
	})
	if err := w.evictParked(parked, refused); err != nil {
		return false, err
	}
	w.c.uplinks = slices.Delete(w.c.uplinks, u, u+1)
	return false, nil
}
