package buffer

import (
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// counters1 are the counters as schema 1 wrote them.
type counters1 struct {
	Points     PointCounts
	NextRecord uint64
	NextSeq    uint64
	NextRaw    uint64
	NextBad    uint64
	Commits    uint64
	Records    int64
	Rejected   int64
	Bad        int64
	Bytes      [inQuarantine + 1]int64
	Floor      int64
}

// toSchema2 makes room for what came with schema 2.
func toSchema2(tx *bolt.Tx) error {
	for _, name := range [...]string{bucketUplinks, bucketSide, bucketLags} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil { // an import has all of them already
			return err
		}
	}
	state := tx.Bucket([]byte(bucketState))
	data, err := getSealed(state, keyCounters)
	if err != nil {
		return err
	}
	c, err := upCounters(data)
	return errors.Join(err, putSealed(state, []byte(keyCounters), c.encode()))
}

// upCounters are counters as schema 1 wrote them.
func upCounters(data []byte) (counters, error) {
	var old counters1
	n, err := binary.Decode(data, binary.BigEndian, &old)
	if err != nil || n != len(data) {
		return counters{}, errFormat
	}
	c := firstCounters()
	c.Points, c.NextRecord, c.NextSeq, c.NextRaw, c.NextBad = old.Points, old.NextRecord, old.NextSeq, old.NextRaw, old.NextBad
	c.Commits, c.Records, c.Rejected, c.Bad, c.Floor = old.Commits, old.Records, old.Rejected, old.Bad, old.Floor
	c.Outbox = old.Points.Queued
	copy(c.Bytes[:], old.Bytes[:])
	return c, nil
}
