package status

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// SensorText writes sensors as a table of 80 columns, a name that is too long on a line of its own. now is the gateway's
// time, RFC 3339. It is one write; the error is w's.
func SensorText(w io.Writer, list []Sensor, now string) error {
	var b bytes.Buffer
	const nameWidth = 24
	fmt.Fprintf(&b, "%-*s %10s %12s %8s %5s %6s %8s\n", nameWidth, "sensor", "value", "last", "lag", "open", "late", "offset")
	for _, s := range list {
		name := s.Name
		if columns(name) > nameWidth {
			for _, line := range wrap(name, textWidth) {
				fmt.Fprintln(&b, line)
			}
			name = ""
		}
		name += strings.Repeat(" ", nameWidth-columns(name))
		fmt.Fprintf(&b, "%s %10s %12s %8s %5d %6d %8s\n", name, degrees(s.Value), agoShort(s.Last, now), short(s.LagS), s.Open, s.Late, short(s.ClockOffsetS))
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write sensors: %w", err)
	}
	return nil
}

// short is a number of seconds in one unit, "-" if it is not known.
func short(s *float64) string {
	if s == nil {
		return "-"
	}
	switch a := math.Abs(*s); {
	case a < 0.05:
		return "0.0 s"
	case a < 100:
		return fmt.Sprintf("%.1f s", *s)
	case a < 6000:
		return fmt.Sprintf("%.0f min", *s/60)
	case a < 48*3600:
		return fmt.Sprintf("%.0f h", *s/3600)
	}
	return fmt.Sprintf("%.0f d", *s/86400)
}

// agoShort is how long before now an instant was.
func agoShort(at, now string) string {
	d, ok := difference(at, now)
	if !ok {
		return "-"
	}
	if math.Abs(d) > 36500*86400 {
		return "long ago"
	}
	return short(&d) + either(d < 0, "", " ago")
}
