package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"edgeagent/buffer"
)

// Bounds of one look at the store: no transaction stays open while an answer is written.
const (
	answerPoints = 1000
	answerBytes  = 1 << 20
)

func storeStats(store *buffer.Store) StoreStats {
	c := store.Counts()
	st := StoreStats{Stats: store.Stats(), Floor: instant(store.Floor()), Points: c, Balanced: true}
	books := store.Books()
	for _, b := range books {
		st.Balanced = st.Balanced && b.Points.Balanced()
		if len(books) > 1 {
			st.Uplinks = append(st.Uplinks, UplinkStats{b.Name, b.Points})
		}
	}
	return st
}

// eachParked calls fn with every parked point, oldest first; one that several servers refused comes for each.
func eachParked(ctx context.Context, store *buffer.Store, fn func(buffer.Parked) error) error {
	for after := (*buffer.Parked)(nil); ; {
		list, err := store.ParkedAfter(after, answerPoints)
		if err != nil {
			return fmt.Errorf("read parked points: %w", err)
		}
		if len(list) == 0 {
			return ctx.Err()
		}
		for _, p := range list {
			if err := errors.Join(ctx.Err(), fn(p)); err != nil {
				return err
			}
		}
		after = &list[len(list)-1]
	}
}

// writeParked writes a JSON list, one point a line, of one uplink or, for "", of all.
func writeParked(ctx context.Context, store *buffer.Store, of string, out io.Writer) error {
	if err := knows(store, of); err != nil {
		return err
	}
	sep := "[\n"
	err := eachParked(ctx, store, func(p buffer.Parked) error {
		if of != "" && p.Uplink != "" && p.Uplink != of {
			return nil
		}
		at := time.Unix(0, p.Time).UTC().Format(time.RFC3339)
		text, err := json.Marshal(ParkedPoint{Seq: p.Seq, Uplink: p.Uplink, Time: at, Reason: p.Reason, Line: string(p.Line)})
		if err != nil {
			return fmt.Errorf("encode point %d: %w", p.Seq, err)
		}
		_, err = fmt.Fprintf(out, "%s%s", sep, text)
		sep = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if sep == "[\n" {
		end = "[]\n"
	}
	_, err = io.WriteString(out, end)
	return err
}

// writeLines writes the queued points and then the parked ones as line protocol, with times in ns. Whoever gets them may offer them to a
// server, so the floor is raised first, as for the uplink.
func writeLines(ctx context.Context, store *buffer.Store, out io.Writer) error {
	write := func(line []byte) error {
		if len(line) == 0 {
			return nil // of a point that could not be encoded
		}
		_, err := out.Write(append(line, '\n'))
		return err
	}
	for after := uint64(0); ; {
		points, err := store.Peek(after, answerPoints, answerBytes)
		if err != nil {
			return err
		}
		if len(points) == 0 {
			break
		}
		if err := store.Offered(points); err != nil && !errors.Is(err, buffer.ErrReadOnly) && !errors.Is(err, buffer.ErrFull) {
			return err // where the floor cannot be written the points are worth more
		}
		for _, p := range points {
			if err := errors.Join(ctx.Err(), write(p.Line)); err != nil {
				return err
			}
		}
		after = points[len(points)-1].Seq
	}
	last := uint64(0)
	return eachParked(ctx, store, func(p buffer.Parked) error {
		again := p.Seq == last // the same point, refused by another server
		last = p.Seq
		if again {
			return nil
		}
		return write(p.Line)
	})
}
