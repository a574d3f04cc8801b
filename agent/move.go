package agent

import (
	"errors"
	"fmt"
	"io"
	"time"

	"edgeagent/buffer"
)

// ExportStore writes the whole store of a stopped agent to w, for ImportStore on another card or machine. It changes nothing. While
// an agent runs it is an error: what that takes in after the export would be in nobody's store. It reports how many records
// were written.
func ExportStore(o Options, w io.Writer) (records int64, err error) {
	store, err := lookInto(o)
	if err != nil {
		return 0, err
	}
	records, err = store.Export(w, buffer.ExportHeader{Gateway: o.Config.Gateway.ID, Version: o.Version,
		Time: o.Clock.orMachine().Now().UTC().Format(time.RFC3339)})
	return records, errors.Join(err, store.Close())
}

// ImportResult is what an import brought into the store.
type ImportResult struct {
	From    string `json:"from"` // the gateway whose store it was
	Time    string `json:"time"` // of the export, RFC 3339
	Records int64  `json:"records"`
	Queued  int64  `json:"queued"`  // points
	Parked  int64  `json:"parked"`  // points; of several uplinks the sum
	Evicted int64  `json:"evicted"` // points for which there was no room; of several uplinks the most that one lost
	Before  int64  `json:"before"`  // points that an earlier import of the same file had brought in
	Floor   string `json:"floor"`   // F as it is now, RFC 3339; "" if none
	Ahead   bool   `json:"ahead"`   // the folder's own floor was higher: what ends at or before it counts as late
}

// ImportStore reads what ExportStore wrote: all of it into an empty store, which then goes on exactly as the old one would have, every
// count included; or, with pointsOnly, the queued and parked points into a store that has begun, where they count as carried.
func ImportStore(o Options, r io.Reader, pointsOnly bool) (*ImportResult, error) {
	var in *buffer.Imported
	var err error
	if pointsOnly {
		in, err = buffer.ImportPoints(o.StoreByHand(), r)
	} else {
		in, err = buffer.Import(o.StoreByHand(), r, begun)
	}
	if errors.Is(err, buffer.ErrNotEmpty) {
		return nil, fmt.Errorf("%w: move %s away to start from the file, or add --merge-points to take its points alone", err, buffer.Path(o.Config.Buffer.Dir))
	}
	if err != nil {
		return nil, err
	}
	return &ImportResult{From: in.Gateway, Time: in.Time, Records: in.Records, Queued: in.Queued, Parked: in.Parked,
		Evicted: in.Evicted, Before: in.Before, Floor: instant(in.Floor), Ahead: in.Ahead}, nil
}

// begun reports whether a stored state has seen a message; one that cannot be read may have.
func begun(text []byte) bool {
	st, err := decodeState(text)
	return err != nil || st.Ledger != (Ledger{}) || st.Ignored > 0 || st.Elsewhere.Count > 0
}
