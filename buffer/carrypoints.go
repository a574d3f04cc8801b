package buffer

// outbox carries the queued points, under the numbers they had. Where some of the last transaction cannot be read those of the one
// before are taken: what was settled in between goes out twice, and is the same twice.
func (c *carrier) outbox() error {
	if err := c.points(c.base); err != nil {
		return err
	}
	if c.base.gaps == 0 || c.renumber {
		return nil
	}
	for _, w := range c.from {
		if w == c.base || !w.known || w.counters.Commits+1 != c.base.counters.Commits {
			continue
		}
		return c.points(w)
	}
	return nil
}

// seq is the number that a point gets which had number old.
func (c *carrier) seq(old uint64) uint64 {
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

func (c *carrier) points(from *wreck) error {
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
		if from != c.base && (c.replaced[p.Seq] || c.w.bucket(bucketOutbox).Get(k) != nil) {
			return nil
		}
		if p.Replaces != 0 {
			c.replaced[p.Replaces] = true
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
