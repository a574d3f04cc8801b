package configs

import (
	"math"
	"strconv"
	"strings"
)

// number is any number that is finite.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

func showNumber(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// factor is a number that is not 0; 0 in the Config means that none is given.
type factor struct{ to *float64 }

func (f factor) set(v any) string {
	n, ok := number(v)
	if !ok || n == 0 {
		return "must be a finite number other than 0 " + got(v)
	}
	*f.to = n
	return ""
}

func (f factor) show() string {
	if *f.to == 0 {
		return `""`
	}
	return showNumber(*f.to)
}

// limit is a number that may be absent: nil.
type limit struct{ to **float64 }

func (l limit) set(v any) string {
	n, ok := number(v)
	if !ok {
		return "must be a finite number " + got(v)
	}
	*l.to = &n
	return ""
}

func (l limit) show() string {
	if *l.to == nil {
		return `""`
	}
	return showNumber(**l.to)
}
