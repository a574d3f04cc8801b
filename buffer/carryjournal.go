package buffer

import "errors"

// remembering chooses whose journal is carried: always that of one transaction, since a record may have been rewritten in another. It is
// the newest that is whole, though the state of that transaction be lost; if none is, the one of which more can be read.
func (c *carrier) remembering() *wreck {
	best := c.base
	for _, w := range c.from {
		switch whole := w.holes == 0; {
		case whole && best.holes == 0 && w.last > best.last,
			whole && best.holes > 0,
			!whole && best.holes > 0 && w.memory > best.memory:
			best = w
		}
	}
	return best
}

// packets carries the packet memory that goes with the journal, or, if that is damaged, one of another transaction. A message that is
// not known any more is judged again: most of its readings are repeats.
func (c *carrier) packets() error {
	from := c.memory
	for _, w := range c.from {
		if w.torn < from.torn {
			from = w
		}
	}
	return from.records(bucketPackets, func(n uint64, data []byte) error {
		if _, err := unpackPackets(data); err != nil {
			return c.lost(err)
		}
		c.w.c.NextRecord = max(c.w.c.NextRecord, n+1)
		size, err := putRecord(c.w.bucket(bucketPackets), n, data)
		return errors.Join(err, c.step(int(size)))
	}, c.lost)
}

func (c *carrier) journal() error {
	var u unpacker
	return c.memory.records(bucketJournal, func(n uint64, data []byte) error {
		entries, err := u.unpack(data)
		if err != nil {
			return c.lost(err)
		}
		size, err := putRecord(c.w.bucket(bucketJournal), n, data)
		if err != nil {
			return err
		}
		c.w.c.NextRecord = max(c.w.c.NextRecord, n+1)
		c.w.c.Records++
		c.w.c.Bytes[inJournal] += size
		c.sum.Records++
		c.sum.Readings += int64(len(entries))
		return c.step(int(size))
	}, c.lost)
}
