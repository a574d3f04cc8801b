package buffer

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"
)

const (
	fileName   = "edgeagent.db"
	floorName  = "floor"
	cleanName  = "clean"
	pageSize   = 4096 // on every machine: a Pi 5 has pages of 16 KiB, and a card may move between machines
	minMaxSize = 1 << 20

	// schema is the version of the layout. Version 2 brought a position per uplink, the side output and the lags.
	schema = 2
)

// Path is where the store of a data folder is.
func Path(dir string) string { return filepath.Join(dir, fileName) }

// Options tell Open where the store is and how large it may grow.
type Options struct {
	Dir          string           // made if absent; holds edgeagent.db, floor and the files moved aside
	MaxSize      int64            // cap of the file in bytes; 0 is 256 MiB, at least 1 MiB, at most 1 GiB where int has 32 bits
	MaxPoints    int              // cap of queued points; 0: by size alone
	SideOutput   bool             // late readings are kept: a sixteenth of MaxSize is theirs, taken from the share of points
	Uplinks      []string         // names of the uplinks, the first first; none: as the store has them, and one in a new store
	Retain       time.Duration    // how long readings are kept for tracing, counted while agents run; in at most 1/8 of MaxSize that points leave free. 0 keeps none
	RejectedRing int64            // bytes of rejected messages kept, at most 1/16 of MaxSize; 0 keeps none
	FloorStep    int64            // how far the floor is raised beyond need, ns: the window size. 0: not at all, one write per raise
	LockTimeout  time.Duration    // how long Open waits for another process to let go; 0 is 5 s
	NoSync       bool             // no fsync: for tests and for stores that are thrown away; a power cut may damage the file
	Logger       *slog.Logger     // gets a line when a file or record is found damaged; nil discards
	ByHand       bool             // opened by a command and not by the agent: the file of a former version stays
	Check        CheckFunc        // checks the file after an unclean stop, in a process of its own: see ChildCheck. nil: not at all
	Now          func() time.Time // dates files moved aside and points parked as they are made; nil is time.Now

	readOnly bool     // nothing on disk is changed
	compact  bool     // rewrite the file whether it pays or not
	rescue   *os.File // a file moved aside, to carry over from

	migrations map[uint64]migration // for tests; nil is migrations()
}

func (o Options) withDefaults() Options {
	if o.MaxSize == 0 {
		o.MaxSize = 256 << 20
	}
	o.MaxSize = max(o.MaxSize, minMaxSize)
	if math.MaxInt == math.MaxInt32 {
		o.MaxSize = min(o.MaxSize, 1<<30) // what bbolt maps at once must fit beside everything else
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// limits are the shares of MaxSize in bytes as counted by cost. What they leave is head-room for the watermarks and
// late counters, for pages that are half empty, and for the pages that a commit writes before it frees the old ones.
type limits struct {
	journal, outbox, parked, rejected, quarantine int64
	side                                          int64 // late readings kept
	lateOut                                       int64 // of outbox: late readings queued
	trace                                         int64 // of outbox, as far as points leave it: readings kept for tracing
	retain                                        int64 // for how long, ns
	sideOn                                        bool  // their share is theirs, used or not
	points                                        int64 // cap of queued points
	pages                                         int64 // pages that the file may hold before bbolt refuses to grow it
}

func (o Options) limits() limits {
	l := limits{
		journal:    o.MaxSize / 2,
		outbox:     o.MaxSize / 4,
		parked:     o.MaxSize / 16,
		rejected:   min(o.RejectedRing, o.MaxSize/16),
		quarantine: o.MaxSize / 64,
		side:       o.MaxSize / 16,
		lateOut:    o.MaxSize / 16,
		trace:      o.MaxSize / 8,
		retain:     int64(o.Retain),
		sideOn:     o.SideOutput,
		points:     int64(o.MaxPoints),
		pages:      (o.MaxSize-o.allocSize())/pageSize - 1,
	}
	if l.points <= 0 {
		l.points = math.MaxInt64
	}
	return l
}

// allocSize is by how much bbolt grows the file beyond need. Its default of 16 MiB would be all of a small store.
func (o Options) allocSize() int64 {
	return min(max(o.MaxSize/64, 64<<10), 4<<20)
}
