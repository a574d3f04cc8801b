package configs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Duration is a span of time in ns, never negative and at most MaxDuration. In the file it is text with a unit, such
// as "5m", "1h30m" or "0s".
type Duration time.Duration

// MaxDuration is ten years, far from what int64 nanoseconds can hold, so that sums of a few of them cannot overflow.
const MaxDuration = Duration(10 * 365 * 24 * time.Hour)

// UnmarshalText reads "5m", "720h", "250ms" and the like. It refuses a negative or missing unit and what is over
// MaxDuration; d is unchanged then.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	switch {
	case err != nil:
		return fmt.Errorf(`not a duration such as "30s", "5m" or "72h"`)
	case v < 0:
		return fmt.Errorf("below zero")
	case Duration(v) > MaxDuration:
		return fmt.Errorf("over ten years (%s)", MaxDuration)
	}
	*d = Duration(v)
	return nil
}

// MarshalText gives what String gives.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is d without the parts that are zero: "5m", "720h", "1h30m", "0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Std is d as the standard library has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// A Size is a number of bytes, never negative and at most MaxSize. In the file it is a plain number, or text with a
// unit: "64KiB", "256MiB", "1GiB", "512B".
type Size int64

// MaxSize is 1 TiB.
const MaxSize = Size(1 << 40)

// The units of sizes, largest first.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

var sizeUnits = []struct {
	name  string
	bytes Size
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}, {"", 1}}

// UnmarshalText reads a whole number with one of the units B, KiB, MiB, GiB, or without for bytes. It refuses anything
// else, decimal units (MB) among it, and what is over MaxSize; s is unchanged then.
func (s *Size) UnmarshalText(text []byte) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(string(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil {
			break
		}
		if n > math.MaxInt64/uint64(u.bytes) || Size(n)*u.bytes > MaxSize {
			return fmt.Errorf("over %s", MaxSize)
		}
		*s = Size(n) * u.bytes
		return nil
	}
	return fmt.Errorf(`not a size such as "64KiB", "256MiB" or "1GiB"`)
}

// MarshalText gives what String gives.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is s in the largest unit that divides it: "256MiB", "1500B", "0B".
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return "0B"
}
