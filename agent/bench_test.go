package agent

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

// BenchmarkEngine takes readings of 1,000 sensors from payload to window: decode, judge, fold, journal, and what a commit asks
// of the engine; not the store's transaction. One operation is one reading.
func BenchmarkEngine(b *testing.B) {
	for _, perSensor := range []bool{false, true} {
		b.Run(map[bool]string{false: "stream", true: "sensor"}[perSensor], func(b *testing.B) {
			const sensors = 1000
			decoder, err := reading.Compile([]reading.Rule{{Topic: "sensors/{sensor}/temperature", Value: "temperature", Time: "ts", TimeFormat: "unix_ms"}}, 0)
			if err != nil {
				b.Fatal(err)
			}
			setup := setupFor(sim.Params{Size: 5 * time.Minute, Delay: 10 * time.Minute, PerSensor: perSensor, Retained: []string{"drop_untimed"}})
			setup.Sources = []string{"all"}
			setup.Rules.MaxSensors, setup.Rules.SensorExpiry, setup.Rules.MaxFuture = 10_000, 720*hour, 2*minute
			e, err := setup.engine()
			if err != nil {
				b.Fatal(err)
			}
			topics := make([]string, sensors)
			for i := range topics {
				topics[i] = fmt.Sprintf("sensors/device-%04d/temperature", i)
			}
			var res reading.Result
			var batch buffer.Batch
			payload := make([]byte, 0, 64)
			t := t0
			feed := func(i int) {
				t += int64(10*time.Millisecond) / 2 // each sensor every 5 s
				payload = strconv.AppendInt(append(payload[:0], `{"ts":`...), t/1e6, 10)
				payload = append(payload, `,"temperature":20.5}`...)
				payload[len(payload)-4] += byte(i % 7)
				decoder.Decode(reading.Message{Topic: topics[i%sensors], Payload: payload, Arrival: t}, &res)
				e.Message(Input{Result: &res, Now: Moment{Wall: t, Trusted: true}, Live: true, Arrival: t + int64(i%3000)*1e6})
				if i%1000 == 999 {
					if err := e.Fill(&batch); err != nil {
						b.Fatal(err)
					}
					e.Committed(&batch)
				}
			}
			for i := range 400_000 { // beyond the delay, so that windows come and go
				feed(i)
			}
			if l := e.Ledger(); l.Windowed != l.Received || l.Received != 400_000 {
				b.Fatalf("ledger %+v", l)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				feed(i)
				i++
			}
		})
	}
}

// BenchmarkLags counts how late a reading came; one operation is one reading, of 1,000 sensors in turn.
func BenchmarkLags(b *testing.B) {
	l := newLags(Rules{Size: 5 * minute}, []string{"all"})
	sensors := make([]sensor, 1000)
	r := reading.Reading{Time: t0}
	l.arrival = t0
	i := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		i++
		r.Time += 10 * 1e6
		l.arrival = r.Time + i*7919%(20*second)
		l.note(&r, &sensors[i%1000], r.Time+i*104729%hour, true)
	}
}
