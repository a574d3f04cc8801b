package buffer

import (
	"encoding/binary"
	"fmt"
	"math"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// A Snapshot is what the store remembers, but for the journal and the points. The caller owns it.
type Snapshot struct {
	State      []byte         // as last committed; nil if never
	Marks      []Mark         // by sensor
	Late       []LateCount    // by series
	Held       []byte         // nil if none
	Aliases    []byte         // nil if none
	Packets    []PacketRecord // oldest first
	NextRecord uint64         // number that the next commit gives its journal and packet records; from 1
	NextSeq    uint64         // sequence number of the next point; from 1
	Fresh      bool           // the file was made by this Open
	Floor      int64          // what ends at or before it counts as late, and is not put out again, ns; reading.NoTime if none. See Salvage
	Resets     int64          // times that a damaged file was moved aside and a fresh one begun
	Salvaged   *Salvage       // what this Open saved from a damaged file; nil if it found none
	Partial    bool           // the store was salvaged in part and no State has been committed since: journal and State may be of different commits
	Counts     PointCounts    // of the first uplink
}

// A PacketRecord is the packet memory of one commit.
type PacketRecord struct {
	Record  uint64
	Packets []Packet
}

// Load reads what the agent starts from. Damaged packet records, watermarks and late counters are logged; the records go to
// quarantine, and the load goes on.
func (s *Store) Load() (*Snapshot, error) {
	c := s.cur.Load()
	snap := &Snapshot{NextRecord: c.NextRecord, NextSeq: c.NextSeq, Fresh: s.fresh, Floor: s.born, Resets: s.resets,
		Salvaged: s.carried, Counts: c.Points}
	var bad []badRecord
	err := s.view(func(tx *bolt.Tx) (err error) {
		state := tx.Bucket([]byte(bucketState))
		if snap.State, err = getBlob(state, keyState); err != nil {
			return err
		}
		if snap.Held, err = getBlob(state, keyHeld); err != nil {
			return err
		}
		if snap.Aliases, err = getBlob(state, keyAliases); err != nil {
			return err
		}
		snap.Partial = state.Get([]byte(keyPartial)) != nil
		s.loadMarks(tx, snap)
		s.loadLate(tx, snap)
		return eachRecord(tx.Bucket([]byte(bucketPackets)), math.MaxUint64, func(n uint64, data []byte, err error) error {
			var p []Packet
			if err == nil {
				p, err = unpackPackets(data)
			}
			if err != nil {
				bad = append(bad, badRecord{bucketPackets, n, err})
				return nil
			}
			snap.Packets = append(snap.Packets, PacketRecord{n, p})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", s.path, err)
	}
	if err := s.quarantineAll(bad); err != nil {
		return nil, fmt.Errorf("load %s: %w", s.path, err)
	}
	snap.Counts = s.Counts()
	return snap, nil
}

func (s *Store) loadMarks(tx *bolt.Tx, snap *Snapshot) {
	s.eachNamed(tx, bucketMarks, func(key string, data []byte) error {
		m, err := decodeMark(key, data)
		if err == nil {
			snap.Marks = append(snap.Marks, m)
		}
		return err
	})
}

func (s *Store) loadLate(tx *bolt.Tx, snap *Snapshot) {
	s.eachNamed(tx, bucketLate, func(key string, data []byte) error {
		l, err := decodeLate(reading.Series(key), data)
		if err == nil {
			snap.Late = append(snap.Late, l)
		}
		return err
	})
}

// eachNamed calls fn for each value of a bucket whose keys are names, and logs those that are damaged.
func (s *Store) eachNamed(tx *bolt.Tx, bucket string, fn func(key string, data []byte) error) {
	c := tx.Bucket([]byte(bucket)).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		data, err := unseal(k, v)
		if err == nil {
			err = fn(string(k), data)
		}
		if err != nil {
			s.o.Logger.Warn("store: record left out", "error", &RecordError{Bucket: bucket, Key: fmt.Sprintf("%q", k), Cause: err})
		}
	}
}

// Input reports how many lines of a replayed file are committed, 0 if it is not known.
func (s *Store) Input(key string) (lines int64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		data, err := getSealed(tx.Bucket([]byte(bucketInputs)), key)
		if err == nil && len(data) == 8 {
			lines = int64(binary.BigEndian.Uint64(data))
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("look up input %q: %w", key, err)
	}
	return lines, nil
}

// readHeader checks the schema and reads the small state. Where it is missing or fails its checksum the file is damaged.
func (s *Store) readHeader(tx *bolt.Tx) error {
	state := tx.Bucket([]byte(bucketState))
	if state == nil {
		return fmt.Errorf("%w: not a store of edgeagent", ErrDamaged)
	}
	version, err := getSealed(state, keySchema)
	if err != nil || len(version) != 8 {
		return fmt.Errorf("%w: schema cannot be read", ErrDamaged)
	}
	if v := binary.BigEndian.Uint64(version); v > schema {
		return fmt.Errorf("%w: its schema is %d, this version knows up to %d", ErrNewerSchema, v, schema)
	} else if v < schema {
		return errOlder(v)
	}
	for _, name := range buckets {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("%w: bucket %s is missing", ErrDamaged, name)
		}
	}
	c, err := readCounters(tx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, name := range [...]string{keyState, keyHeld, keyAliases} {
		if _, err := getBlob(state, name); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	born, err := getSealed(state, keyBorn)
	if err != nil || len(born) != 8 {
		return fmt.Errorf("%w: its floor cannot be read", ErrDamaged)
	}
	s.born = int64(binary.BigEndian.Uint64(born))
	s.resets = 0
	if resets, err := getSealed(state, keyResets); err == nil && len(resets) == 8 {
		s.resets = int64(binary.BigEndian.Uint64(resets))
	}
	b := s.loadUplinks(tx, c)
	b.trace = readTrace(tx)
	s.cur.Store(&b)
	return nil
}

func readCounters(tx *bolt.Tx) (counters, error) {
	data, err := getSealed(tx.Bucket([]byte(bucketState)), keyCounters)
	if err == nil {
		var c counters
		if c, err = decodeCounters(data); err == nil {
			return c, nil
		}
	}
	return counters{}, &RecordError{Bucket: bucketState, Key: keyCounters, Cause: err}
}
