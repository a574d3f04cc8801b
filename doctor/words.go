package doctor

import (
	"fmt"
	"time"
)

// span is a duration in at most two units: "12 s", "3 min 4 s", "2 h 5 min", "40 d 3 h". Unlike that of status it has no tenths: servers
// tell their time in whole seconds.
func span(d time.Duration) string {
	if d < 0 {
		return "-" + span(-d)
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
}
