package buffer

// outbox carries the queued points, under the numbers they had. Where some of the last transaction cannot be read those of the one
// before are taken: what was settled in between goes out twice, and is the same twice. So are those of a later one, of which other things are lost.
func (c *carrier) outbox() error {
	if err := c.later(); err != nil {
		return err
	}
	if err := c.points(c.base, 0); err != nil {
		return err
	}
	if c.base.gaps == 0 || c.renumber {
		return nil
	}
	for _, w := range c.from {
		if w == c.base || !w.known || w.counters.Commits+1 != c.base.counters.Commits {
			continue
		}
		return c.points(w, 0)
	}
	return nil
}

// later carries the points of transactions after base. They come first, since they tell which of base's they replace. If it cannot be told
// that it is later, or numbers are new, only points made after base are taken: they cannot be base's.
func (c *carrier) later() error {
	if !c.base.known {
		return nil
	}
	for _, w := range c.from {
		least := max(c.taken, c.base.counters.NextSeq)
		if w == c.base || w.known && w.counters.NextSeq <= least {
			continue
		}
		if w.last > c.base.last && !c.renumber {
			least = 1
		}
		if err := c.points(w, least); err != nil {
			return err
		}
		w.again()
	}
	return nil
}

// seq is the number that a point gets which had number old.
func (c *carrier) seq(old uint64) uint64 {
	c.taken = max(c.taken, old+1)
	n := &c.w.c.NextSeq
	if c.renumber {
		old = *n
	}
	*n = max(*n, old+1)
	return old
}

// match finds the uplinks of the new file among those of the damaged one.
func (c *carrier) match() {
	c.source = nil
	for _, u := range c.w.c.uplinks {
		c.source = append(c.source, c.old.index(u.name))
	}
}

// waits reports whether the point that had number old waits for uplink u of the new file.
func (c *carrier) waits(u int, old uint64) bool {
	if c.source[u] < 0 {
		return true
	}
	_, skip := c.old.uplinks[c.source[u]].skips(old)
	return !skip
}

// points carries the points of one transaction from number least on.
func (c *carrier) points(from *wreck, least uint64) error {
	fault := c.lost
	if from != c.base {
		fault = func(error) error { return nil }
	}
	return from.each(bucketOutbox, func(k, v []byte) error {
		data, err := unseal(k, v)
		if err != nil {
			return fault(err)
		}
		p, err := decodePoint(number(k), data)
		if err != nil {
			return fault(err)
		}
		if p.Seq < least || c.replaced[p.Seq] || !c.renumber && c.w.bucket(bucketOutbox).Get(k) != nil {
			return nil
		}
		if p.Replaces != 0 {
			c.replaced[p.Replaces] = true
		}
		if p.Kind == Finalized && (least > 0 || c.base.faults > 0) {
			c.final = max(c.final, p.End)
		}
		return c.point(&p, len(v))
	}, fault)
}

// point carries one over, unless no uplink waits for it: then an update of it is there.
func (c *carrier) point(p *Point, size int) error {
	old, n := p.Seq, 0
	for u := range c.w.c.uplinks {
		if c.waits(u, old) {
			c.w.c.points(u).Carried++
			n++
		}
	}
	if n == 0 {
		return nil
	}
	p.Kind, p.Replaces, p.Seq = Carried, 0, c.seq(old)
	c.sum.Points++
	if err := c.w.enter(p, func(u int) bool { return c.waits(u, old) }); err != nil {
		return err
	}
	return c.step(size)
}

func (c *carrier) parked() error {
	return c.base.each(bucketParked, func(k, v []byte) error {
		data, err := unseal(k, v)
		if err == nil {
			_, err = decodeParked(number(k), data)
		}
		if err != nil {
			return c.lost(err)
		}
		u := max(c.w.c.index(c.old.nameByID(parkedFor(k))), 0)
		key := parkedKey(c.seq(number(k)), c.w.c.uplinks[u].id)
		if c.w.bucket(bucketParked).Get(key) != nil {
			return nil // the same point, for an uplink that is not known any more
		}
		data = seal(key, data)
		p := c.w.c.points(u)
		p.Carried++
		p.Parked++
		c.w.c.Bytes[inParked] += cost(key, data)
		c.sum.Parked++
		return c.put(bucketParked, key, data)
	}, c.lost)
}

func (c *carrier) rejected() error {
	return c.base.records(bucketRejected, func(n uint64, data []byte) error {
		if c.renumber {
			n, data = c.w.c.NextRaw, uncounted(data)
		}
		c.w.c.NextRaw = max(c.w.c.NextRaw, n+1)
		size, err := putRecord(c.w.bucket(bucketRejected), n, data)
		if err != nil {
			return err
		}
		c.w.c.Rejected++
		c.w.c.Bytes[inRejected] += size
		c.sum.Rejected++
		return c.step(int(size))
	}, c.lost)
}
