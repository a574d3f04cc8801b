package agent

import (
	"context"
	"fmt"
	"math"
	"time"

	"edgeagent/status"
	"edgeagent/watermark"
)

// details answers what people ask of a running agent beyond its report.
type details struct{ a *Agent }

// Sensors copies the sensors out between two steps of the run loop.
func (d details) Sensors(ctx context.Context) ([]status.Sensor, error) {
	var rows []sensorRow
	err := d.a.do(ctx, func() error { rows = d.a.engine.sensorRows(); return nil })
	return sensorTable(rows), err
}

// History copies the samples out between two steps of the run loop.
func (d details) History(ctx context.Context) (list []status.Sample, err error) {
	err = d.a.do(ctx, func() error { list = d.a.history.samples(d.a.clock.Now(), d.a.up()); return nil })
	return list, err
}

// Parked reads the store beside the run loop.
func (d details) Parked(_ context.Context, limit int) ([]status.Parked, error) {
	points, err := d.a.store.NewestParked(limit)
	if err != nil {
		return nil, fmt.Errorf("read parked points: %w", err)
	}
	list := make([]status.Parked, len(points))
	for i, p := range points {
		list[i] = status.Parked{Seq: p.Seq, Uplink: p.Uplink, Time: rfc3339(time.Unix(0, p.Time)), Reason: p.Reason, Line: string(p.Line)}
	}
	return list, nil
}

// sample takes a sample for the charts if it is time.
func (a *Agent) sample(up time.Duration) {
	if !a.history.due(up) {
		return
	}
	var p point
	if m, w := a.engine.furthest(); m != watermark.None {
		now := a.clock.Now().UnixNano()
		p.behind, p.wBehind, p.flags = float32(float64(now-m)/1e9), float32(float64(now-w)/1e9), knownTime
	}
	p.queued = uint32(min(a.store.Stats().Outbox, math.MaxUint32))
	if !a.client.State().Connected {
		p.flags |= brokerAway
	}
	for _, l := range a.links {
		if s := l.uplink.Status().State; s != "up" && s != "idle" {
			p.flags |= uplinkDown
		}
	}
	a.history.note(p, up)
}
