package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
)

// A RewindRequest asks for event time to be set back, after a clock that was far ahead has moved it.
type RewindRequest struct {
	To     time.Time // no M stays above it
	Force  bool      // the floor is lowered too: windows that may be at the server are taken up again
	DryRun bool
}

// Rewound is what a rewind comes to. Instants are RFC 3339, "" for none.
type Rewound struct {
	To      string `json:"to"`
	Changed bool   `json:"changed"` // something lay ahead of To
	Forced  bool   `json:"forced"`
	DryRun  bool   `json:"dry_run"`

	MaxEventTime Moved `json:"max_event_time"` // with scope = "sensor" of the sensor that was furthest
	Watermark    Moved `json:"watermark"`
	Floor        Moved `json:"floor"`
	Sensors      int64 `json:"sensors"` // marks of sensors set back

	Windows   []string `json:"windows"`    // starts of windows that may be at the server and are open again but for the floor, at most 100
	More      int64    `json:"more"`       // further ones
	LateUntil string   `json:"late_until"` // what ends at or before it stays late, because the floor is kept
	TakenBack int64    `json:"taken_back"` // readings of windows ahead of To and the clock: they count as rejected, future
	Parked    int64    `json:"parked"`     // queued points of such windows
	Rewinds   int64    `json:"rewinds"`    // of this store
}

// Moved is an instant before and after.
type Moved struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// maxShown bounds the windows that Rewound lists.
const maxShown = 100

// Rewind sets the event time of a store that no agent has open back to r.To.
func Rewind(o Options, r RewindRequest) (*Rewound, error) {
	store, err := openToRewind(o, r)
	if err != nil {
		return nil, err
	}
	sum, err := rewind(store, o, r)
	return sum, errors.Join(err, store.Close())
}

func openToRewind(o Options, r RewindRequest) (*buffer.Store, error) {
	if r.DryRun {
		return lookInto(o)
	}
	return openExisting(o)
}

func rewind(store *buffer.Store, o Options, r RewindRequest) (*Rewound, error) {
	snap, err := store.Load()
	if err != nil {
		return nil, err
	}
	if snap.State == nil {
		return nil, errors.New("the store is empty: there is nothing to set back")
	}
	st, err := decodeState(snap.State)
	if err != nil {
		return nil, err
	}
	p := &rewinding{st: &st, to: r.To.UnixNano(), force: r.Force, floor: store.Floor(), wasW: make(map[string]int64)}
	p.horizon = max(p.to, o.Clock.orMachine().Now().UnixNano())
	p.sum = Rewound{To: instant(p.to), Forced: r.Force, DryRun: r.DryRun, Windows: []string{}}
	if err := o.overtakes(store, r); err != nil {
		return nil, err
	}
	if err := p.plan(store, snap, int64(o.Config.Watermark.Delay)); err != nil || !p.sum.Changed || r.DryRun {
		return &p.sum, err
	}
	if p.change.State, err = encodeState(st); err != nil {
		return nil, err
	}
	_, err = store.Rewind(&p.change)
	return &p.sum, err
}

// overtakes refuses to open windows again while older points of theirs may wait that go out after the new ones: then the older ones
// would be what the server holds in the end.
func (o Options) overtakes(store *buffer.Store, r RewindRequest) error {
	newest := slices.ContainsFunc(o.Config.Uplinks, func(u configs.Uplink) bool { return u.Order == "newest" })
	if n := store.Stats().Outbox; r.Force && newest && n > 0 {
		return fmt.Errorf("%d points wait, and with order = \"newest\" they could go out after those of the windows that are opened again; write order = \"oldest\" until they are uploaded", n)
	}
	return nil
}

func encodeState(st state) ([]byte, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return text, nil
}
