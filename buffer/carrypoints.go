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
		if from != c.base && c.w.bucket(bucketOutbox).Get(k) != nil {
			return nil
		}
		p.Kind, p.Replaces, p.Seq = Carried, 0, c.seq(p.Seq)
		c.w.c.Points.Carried++
		c.sum.Points++
		if err := c.w.queue(&p, 0); err != nil {
			return err
		}
		return c.step(len(v))
	}, fault)
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
		key := numberKey(c.seq(number(k)))
		data = seal(key, data)
		c.w.c.Points.Carried++
		c.w.c.Points.Parked++
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
