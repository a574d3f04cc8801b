package uplink

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A rewriting is another way to write the same line.
type rewriting struct {
	name string
	line func(string) string
}

var rewritings = []rewriting{
	{"as sent", func(l string) string { return l }},
	{"seconds", func(l string) string { return strings.TrimSuffix(l, "000000000") }},
	{"sensor first", func(l string) string {
		parts := strings.FieldsFunc(l, func(r rune) bool { return r == ',' || r == ' ' }) // measurement, gateway, sensor, …
		head := strings.Join([]string{parts[0], parts[1], parts[2]}, ",")
		return strings.Replace(l, head, strings.Join([]string{parts[0], parts[2], parts[1]}, ","), 1)
	}},
}

// packed is how many bytes lines take with z.
func packed(z *gzip.Writer, lines []string) int {
	var buf bytes.Buffer
	z.Reset(&buf)
	for _, l := range lines {
		_, _ = z.Write([]byte(l + "\n"))
	}
	_ = z.Close()
	return buf.Len()
}

// BenchmarkBytesPerPoint measures what links are charged for: bodies of batches of several sizes, at levels of gzip and
// in other ways to write a line. One figure is the mean over a day of the backlog.
func BenchmarkBytesPerPoint(b *testing.B) {
	const day = backlogSensors * 288
	for _, batch := range []int{200, 5000} {
		for _, w := range rewritings {
			for _, level := range []int{0, 1, gzipLevel, 9} {
				b.Run(fmt.Sprintf("batch=%d/%s/gzip=%d", batch, w.name, level), func(b *testing.B) {
					var lines []string
					for seq := uint64(1); seq <= day; seq++ {
						lines = append(lines, w.line(string(backlogLine(nil, seq))))
					}
					var total int
					z, err := gzip.NewWriterLevel(io.Discard, level)
					if err != nil {
						b.Fatal(err)
					}
					for b.Loop() {
						total = 0
						for i := 0; i < day; i += batch {
							total += packed(z, lines[i:min(day, i+batch)])
						}
					}
					b.ReportMetric(float64(total)/day, "bytes/point")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/day, "ns/point")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
