package buffer

import (
	"fmt"
	"testing"
	"time"

	"edgeagent/reading"
)

// BenchmarkBytesPerDay measures what the store writes in a day with sensors that send a reading each 10 s, by commit interval: an hour of event time is
// run and counted as a 24th. Points are made every five minutes and settled with the next commit.
func BenchmarkBytesPerDay(b *testing.B) {
	for _, sensors := range []int{10, 100, 1000} {
		for _, interval := range []time.Duration{5 * time.Second, 30 * time.Second} {
			b.Run(fmt.Sprintf("sensors=%d/interval=%v", sensors, interval), func(b *testing.B) {
				var bytes, commits int64
				for b.Loop() {
					bytes, commits = hour(b, sensors, interval)
				}
				b.ReportMetric(float64(bytes*24)/1e6, "MB/day")
				b.ReportMetric(float64(commits*24), "commits/day")
				b.ReportMetric(float64(bytes)/float64(commits), "B/commit")
			})
		}
	}
}

// hour runs the second of two hours, in which readings are forgotten as they come, and reports the bytes and commits of it.
func hour(b *testing.B, sensors int, interval time.Duration) (bytes, commits int64) {
	o := options(b.TempDir())
	o.MaxSize, o.FloorStep = 256<<20, 5*minute
	s := open(b, o)
	const step = 10 * time.Second
	var sent uint64
	var records []time.Duration // when each record was made
	forgotten := 0
	for now := time.Duration(0); now < 2*time.Hour; now += interval {
		if now == time.Hour {
			bytes, commits = written(b), s.Stats().Commits
		}
		batch := &Batch{State: fmt.Appendf(nil, "%01200d", now), Journal: hourly(sensors, now, interval, step)}
		for i := range batch.Journal {
			batch.Packets = append(batch.Packets, Packet{uint16(i), uint64(now)})
		}
		records = append(records, now)
		for forgotten < len(records) && records[forgotten] < now-25*time.Minute {
			forgotten++
		}
		batch.ForgetJournal, batch.ForgetPackets = uint64(forgotten), uint64(max(len(records)-20, 0))
		if sent > 0 {
			batch.Settle, sent = []Settlement{{Through: sent}}, 0
		}
		if now%(5*time.Minute) == 0 {
			for i := range sensors {
				batch.Points = append(batch.Points, Point{Line: fmt.Appendf(nil, "temperature,gateway=gw-07,sensor=hall/sensor-%03d max=21.5,count=30i %d", i, now), End: int64(now)})
			}
		}
		commit(b, s, batch)
		if n := len(batch.Points); n > 0 {
			sent = batch.Points[n-1].Seq
			peek(b, s, sent-1)
		}
	}
	return written(b) - bytes, s.Stats().Commits - commits
}

// hourly are the readings that arrive within one interval: each sensor sends at a second of its own.
func hourly(sensors int, now, interval, step time.Duration) (list []Entry) {
	for i := range sensors {
		phase := time.Duration(i) * step / time.Duration(sensors)
		for at := now; at < now+interval; at += time.Second {
			if at%step == phase.Truncate(time.Second) {
				list = append(list, Entry{Series: reading.Series(fmt.Sprintf("hall/sensor-%03d", i)), Time: int64(at), Value: 20 + float64(i%100)/10})
			}
		}
	}
	return list
}
