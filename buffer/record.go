package buffer

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	bolt "go.etcd.io/bbolt"
)

const (
	crcSize  = 4
	partSize = 480 // eight to a page

	// keyCost is what bbolt adds to a key and value on a page.
	keyCost = 16
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errChecksum = errors.New("checksum does not match")
	errShort    = errors.New("it ends early")
	errParts    = errors.New("a part of it is missing")
	errTooLong  = errors.New("value is too long for the store")
)

// seal appends to data the checksum over key and data. With the key in it a page that turns up in the wrong place is noticed.
func seal(key, data []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, data)
	return binary.BigEndian.AppendUint32(data, sum)
}

// unseal checks what seal made and gives the data in it.
func unseal(key, sealed []byte) ([]byte, error) {
	n := len(sealed) - crcSize
	if n < 0 {
		return nil, errShort
	}
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, sealed[:n])
	if sum != binary.BigEndian.Uint32(sealed[n:]) {
		return nil, errChecksum
	}
	return sealed[:n:n], nil
}

// cost is the room that a key and value are counted as, in bytes: a third is added for pages that are not quite full.
func cost(k, v []byte) int64 {
	n := int64(keyCost + len(k) + len(v))
	return n + n/3
}

// number is the record or sequence number that a key begins with.
func number(k []byte) uint64 {
	if len(k) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k)
}

// seekAfter moves c to the first key after number n.
func seekAfter(c *bolt.Cursor, n uint64) (k, v []byte) {
	if n == math.MaxUint64 {
		return nil, nil
	}
	return c.Seek(numberKey(n + 1))
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func partKey(prefix []byte, part int) []byte {
	k := make([]byte, 0, len(prefix)+2)
	return binary.BigEndian.AppendUint16(append(k, prefix...), uint16(part))
}

// partsOf calls fn for each part of a sealed value.
func partsOf(prefix, sealed []byte, fn func(k, v []byte) error) error {
	if len(sealed) > partSize<<16 {
		return errTooLong
	}
	for i := 0; len(sealed) > 0; i++ {
		n := min(len(sealed), partSize)
		if err := fn(partKey(prefix, i), sealed[:n]); err != nil {
			return err
		}
		sealed = sealed[n:]
	}
	return nil
}

// putRecord stores data as record n, in parts, and reports its cost.
func putRecord(b *bolt.Bucket, n uint64, data []byte) (total int64, err error) {
	key := numberKey(n)
	err = partsOf(key, seal(key, data), func(k, v []byte) error {
		total += cost(k, v)
		return b.Put(k, v)
	})
	return total, err
}

// A record is one logical value as it is read back from its parts.
type record struct {
	n    uint64
	raw  []byte // with checksum; used again for the next record
	next int    // the part that must come next; -1 once one was missing
}

func (r *record) add(k, v []byte) {
	if r.next < 0 || len(k) != 10 || int(binary.BigEndian.Uint16(k[8:])) != r.next {
		r.next = -1
		return
	}
	r.raw = append(r.raw, v...)
	r.next++
}

func (r *record) data() ([]byte, error) {
	if r.next < 0 {
		return nil, errParts
	}
	return unseal(numberKey(r.n), r.raw)
}

// A splitter is fed parts in key order and calls fn for every record. The data are valid during the call; in place of damaged data
// comes the reason.
type splitter struct {
	fn   func(n uint64, data []byte, bad error) error
	r    record
	open bool
}

func (s *splitter) add(k, v []byte) error {
	if s.open && s.r.n != number(k) {
		if err := s.end(); err != nil {
			return err
		}
	}
	if !s.open {
		s.r = record{n: number(k), raw: s.r.raw[:0]}
		s.open = true
	}
	s.r.add(k, v)
	return nil
}

// end ends the record at hand, if there is one.
func (s *splitter) end() error {
	if !s.open {
		return nil
	}
	s.open = false
	data, bad := s.r.data()
	return s.fn(s.r.n, data, bad)
}

// eachRecord calls fn, as a splitter does, for every record up to last, in order.
func eachRecord(b *bolt.Bucket, last uint64, fn func(n uint64, data []byte, bad error) error) error {
	s := splitter{fn: fn}
	c := b.Cursor()
	for k, v := c.First(); k != nil && number(k) <= last; k, v = c.Next() {
		if err := s.add(k, v); err != nil {
			return err
		}
	}
	return s.end()
}

// recordsAfter calls fn, as a splitter does, for every record after number after, in order, until fn returns errEnough, which is no
// error here.
func recordsAfter(b *bolt.Bucket, after uint64, fn func(n uint64, data []byte, bad error) error) error {
	s := splitter{fn: fn}
	c := b.Cursor()
	k, v := seekAfter(c, after)
	for ; k != nil; k, v = c.Next() {
		if err := s.add(k, v); err != nil {
			return unless(err, errEnough)
		}
	}
	return unless(s.end(), errEnough)
}

// unless is err, but nil if it is the error given.
func unless(err, is error) error {
	if errors.Is(err, is) {
		return nil
	}
	return err
}

// deleteUpTo deletes every key whose number is at most last, and reports how many records and what cost went.
func deleteUpTo(b *bolt.Bucket, last uint64) (records, total int64, err error) {
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.First(); k != nil && number(k) <= last; k, v = c.Next() {
		if len(keys) == 0 || number(k) != number(keys[len(keys)-1]) {
			records++
		}
		keys = append(keys, k)
		total += cost(k, v)
	}
	for _, k := range keys { // not in the loop above: a bbolt cursor skips after a deletion
		if err := b.Delete(k); err != nil {
			return 0, 0, err
		}
	}
	return records, total, nil
}
