package buffer

import (
	"encoding/binary"

	"edgeagent/reading"
)

// The areas whose bytes are counted.
const (
	inJournal = iota
	inOutbox
	inParked
	inRejected
	inQuarantine
	inSide
	inLateOut // of inOutbox: late readings
	numAreas
)

// counters are the numbers of the store itself, written with each commit. In memory a value is never changed once it
// is published, so any goroutine may read it.
type counters struct {
	Points     PointCounts
	NextRecord uint64 // number of the next commit's records
	NextSeq    uint64 // of the next point
	NextRaw    uint64 // of the next rejected message
	NextBad    uint64 // of the next record in quarantine
	NextSide   uint64 // of the next late reading of the side output
	Commits    uint64 // write transactions since the store began: tells whether a commit landed
	Outbox     int64  // points in the outbox, whichever uplinks they wait for
	Records    int64  // in the journal
	Rejected   int64  // messages in the ring
	Bad        int64  // records in quarantine
	Side       int64  // late readings in the side output
	LateFrom   uint64 // no late reading is queued before this sequence number
	Bytes      [numAreas]int64
	Floor      int64 // as of this commit, in case the floor file is lost
}

// firstCounters are those of a store in which nothing has happened.
func firstCounters() counters {
	return counters{NextRecord: 1, NextSeq: 1, NextRaw: 1, NextBad: 1, NextSide: 1, Floor: reading.NoTime}
}

func (c *counters) encode() []byte {
	dst, err := binary.Append(make([]byte, 0, 256), binary.BigEndian, c)
	if err != nil {
		panic("BUG: buffer: counters have a field of no fixed size: " + err.Error())
	}
	return dst
}

func decodeCounters(data []byte) (counters, error) {
	var c counters
	n, err := binary.Decode(data, binary.BigEndian, &c)
	if err != nil || n != len(data) {
		return counters{}, errFormat
	}
	return c, nil
}

// made is the column in which a point of kind k begins.
func (c *PointCounts) made(k PointKind) *int64 {
	return [...]*int64{
		Finalized:   &c.Finalized,
		Updated:     &c.Updated,
		LateReport:  &c.LateReports,
		LateReading: &c.LateReadings,
		Health:      &c.Health,
		Carried:     &c.Carried,
	}[k]
}
