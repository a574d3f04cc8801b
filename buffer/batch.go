package buffer

import "edgeagent/reading"

// A Batch is all that one commit makes durable, in one transaction. The agent builds it; Commit only reads it, but for the
// sequence numbers that it writes into Points. After an error the same batch may be committed again.
type Batch struct {
	State     []byte   // the agent's state (ledger, stream watermark, …), opaque here; nil leaves it
	Journal   []Entry  // remembered readings in arrival order; they become one journal record
	Marks     []Mark   // watermarks per sensor that changed (scope = "sensor")
	DropMarks []string // sensors forgotten: their marks are deleted
	Late      []LateCount
	Side      []SideReading // late readings to keep, in arrival order
	Trace     Trace
	Held      []byte // readings held back as future, opaque here; nil leaves it, empty deletes it
	Aliases   []byte // decoding's alias tables, opaque here; nil leaves them, empty deletes them
	Packets   []Packet
	Inputs    []Input
	Points    []Point // in output order
	Rejected  []Raw
	Lags      []Lag // that have changed
	Settle    []Settlement

	ClearPackets   bool   // the broker's session is new: forget every packet known before this batch
	ForgetPackets  uint64 // packet records up to this one are forgotten; 0 none
	ForgetJournal  uint64 // journal records up to this one hold nothing that is remembered; 0 none
	CompactJournal uint64 // journal records up to this one are rewritten as one, with what Keep keeps; 0 none
	Keep           func(Entry) bool

	Requeue    []uint64 // parked points that go back to the outbox, by Seq
	RequeueAll bool     // all of them do
	RequeueFor string   // of these, those that are parked for this uplink; "" all
	Requeued   Requeued // what became of them; set by Commit
	Readmitted []Readmission

	InFlight []InFlight // points that are not evicted, and not superseded for that uplink
}

// InFlight are the points on their way to one uplink: its server may have them, or not.
type InFlight struct {
	Uplink string // "" is the first
	All    bool   // the uplink is choosing some at this moment: any may be
	Spans  []Span
}

// An Entry is one journal item: a reading that is remembered, or a bare tick.
type Entry struct {
	Series reading.Series // of a bare tick in scope "sensor": the sensor
	Time   int64          // event time, ns
	Value  float64
	Kind   EntryKind
	Tick   bool // M passed a multiple of update_interval with this entry
}

// EntryKind is the ledger column of an entry.
type EntryKind uint8

const (
	Windowed EntryKind = iota
	Late
	BareTick // no reading: only Tick counts
)

// A Mark is the watermark of one sensor, ns; watermark.None where there is none yet.
type Mark struct {
	Sensor string
	M, W   int64
	Gone   int64 // its windows that end here or before are gone, whatever W says; watermark.None mostly, and then it takes no room
}

// A LateCount is the late counter of one series.
type LateCount struct {
	Series   reading.Series
	Interval int64 // start of the open interval, ns; meaningful while Count > 0
	Count    int64 // late readings counted in it
	Reported int64 // of these, how many an early report (--close) already carries
	MaxNs    int64 // largest M - t among them
	Total    int64 // sum of the counts of earlier intervals since the store began
}

// A Packet is a QoS 1 message taken on the present session: its identifier and a hash of topic and payload.
type Packet struct {
	ID   uint16
	Hash uint64
}

// An Input is how far a replayed file is committed.
type Input struct {
	Key   string // name and hash of its first 4 KiB
	Lines int64
}

// A PointKind is the column of the points identity in which a point begins.
type PointKind uint8

const (
	Finalized PointKind = iota
	Updated
	LateReport
	LateReading
	Health
	Carried
	NumPointKinds
)

// A Point is one encoded line, the same for every uplink.
type Point struct {
	Seq      uint64 // its place in the outbox, from 1; set by Commit
	Kind     PointKind
	Line     []byte         // line protocol with its timestamp in ns, without a newline
	End      int64          // end of its window or interval, ns: what the floor must reach before it is offered; 0 for health
	Start    int64          // with Series: the identity of a window that may still be updated
	Series   reading.Series // "" if it never will be
	Replaces uint64         // an older point of the same identity, superseded for uplinks that have not taken it and for which it is not in flight; 0 none
	Refused  string         // why no line could be made of it: it is parked at once with this reason; "" for a good point
}

// A Settlement ends a stretch of the outbox for one uplink: its points are stored at the server, but for those parked. A point leaves the
// outbox when no uplink waits for it any more.
type Settlement struct {
	Uplink  string   // "" is the first
	After   uint64   // the stretch begins behind this number
	Through uint64   // and ends with this one
	Parked  []Parked // ascending by Seq
}

// Parked is a point that a server refused, with its reason.
type Parked struct {
	Seq    uint64
	Uplink string // filled in when listed: whose server
	Reason string // the server's own words, cut to 512 bytes
	Time   int64  // when, ns
	Line   []byte // filled in when listed; Commit takes the line from the outbox

	id uint16 // of the uplink
}

// Raw is a rejected message, kept to be read in again after the configuration is mended.
type Raw struct {
	Topic    string
	Payload  []byte
	Retained bool
	Arrival  int64
	Reason   string    // the first, for people
	Refused  []Refused // what of it the ledger counts as rejected
	Taken    []uint64  // marks of its readings that were not refused, opaque here: they are not judged again
}

// Refused is how many records or readings of a message count as rejected for one reason.
type Refused struct {
	Reason reading.Reason
	N      int64
}

// PointCounts is one side and the other of the points identity, which holds for each uplink:
// Finalized+Updated+LateReports+LateReadings+Health+Carried = Uploaded+Queued+Parked+Evicted+Superseded.
type PointCounts struct {
	Finalized    int64 `json:"finalized"`
	Updated      int64 `json:"updated"`
	LateReports  int64 `json:"late_reports"`
	LateReadings int64 `json:"late_readings"`
	Health       int64 `json:"health"`
	Carried      int64 `json:"carried"`
	Uploaded     int64 `json:"uploaded"`
	Queued       int64 `json:"queued"`
	Parked       int64 `json:"parked"`
	Evicted      int64 `json:"evicted"`
	Superseded   int64 `json:"superseded"`
}

// Made is the sum of the points that came to be.
func (c PointCounts) Made() int64 {
	return c.Finalized + c.Updated + c.LateReports + c.LateReadings + c.Health + c.Carried
}

// Balanced reports whether every point made is in exactly one column of what became of it.
func (c PointCounts) Balanced() bool {
	return c.Made() == c.Uploaded+c.Queued+c.Parked+c.Evicted+c.Superseded
}
