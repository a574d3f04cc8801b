package buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// A Lag is what is known of how late the readings of a source, or of one sensor of it, come. Data is opaque here.
type Lag struct {
	Source string
	Sensor string // "" for the source as a whole
	Data   []byte // nil deletes it
}

// lagKey is the key of the first part; neither name holds a control character.
func lagKey(l *Lag) []byte {
	k := make([]byte, 0, len(l.Source)+len(l.Sensor)+4)
	k = append(append(k, l.Source...), 0)
	return append(append(k, l.Sensor...), 0)
}

// putLags stores lags in parts, each with its checksum, and writes only those that have changed.
func (w *writer) putLags(b *Batch) error {
	if len(b.Lags) == 0 {
		return nil
	}
	bucket := w.tx.Bucket([]byte(bucketLags))
	for i := range b.Lags {
		if err := putLag(bucket, &b.Lags[i]); err != nil {
			return fmt.Errorf("store lags of %q, %q: %w", b.Lags[i].Source, b.Lags[i].Sensor, err)
		}
	}
	return nil
}

func putLag(bucket *bolt.Bucket, l *Lag) error {
	prefix, n := lagKey(l), 0
	for data := l.Data; len(data) > 0; n++ {
		size := min(len(data), partSize-crcSize)
		k := partKey(prefix, n)
		v := seal(k, bytes.Clone(data[:size]))
		if !bytes.Equal(bucket.Get(k), v) {
			if err := bucket.Put(k, v); err != nil {
				return err
			}
		}
		data = data[size:]
	}
	return deleteParts(bucket, prefix, n)
}

// deleteParts deletes the parts from number n on.
func deleteParts(bucket *bolt.Bucket, prefix []byte, n int) error {
	var keys [][]byte
	c := bucket.Cursor()
	for k, _ := c.Seek(partKey(prefix, n)); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+2; k, _ = c.Next() {
		keys = append(keys, k)
	}
	for _, k := range keys {
		if err := bucket.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Lags calls fn for all lags in the order of source and sensor. Their Data are valid during the call. Of what is damaged Data is what
// could be read, which its owner must find out: a part that is missing ends it. It is safe beside Commit.
func (s *Store) Lags(fn func(Lag)) error {
	return s.view(func(tx *bolt.Tx) error {
		var at Lag
		var prefix []byte
		whole, next := false, 0
		flush := func() {
			if prefix != nil {
				fn(at)
			}
		}
		c := tx.Bucket([]byte(bucketLags)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			p, part, ok := cutLagKey(k)
			if !ok {
				continue
			}
			if prefix == nil || !bytes.Equal(p, prefix) {
				flush()
				prefix, whole, next = bytes.Clone(p), true, 0
				source, sensor, _ := bytes.Cut(p[:len(p)-1], []byte{0})
				at = Lag{Source: string(source), Sensor: string(sensor), Data: at.Data[:0]}
			}
			data, err := unseal(k, v)
			whole = whole && err == nil && part == next
			if next++; whole {
				at.Data = append(at.Data, data...)
			}
		}
		flush()
		return nil
	})
}

// cutLagKey splits a key into what names the lag, and the number of the part.
func cutLagKey(k []byte) (prefix []byte, part int, ok bool) {
	n := len(k) - 2
	if n < 2 || k[n-1] != 0 || bytes.Count(k[:n], []byte{0}) != 2 {
		return nil, 0, false
	}
	return k[:n], int(binary.BigEndian.Uint16(k[n:])), true
}
