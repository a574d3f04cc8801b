package reading

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"edgeagent/testbed"
)

func TestUnixNanos(t *testing.T) {
	const auto = autoExponent
	for _, c := range []struct {
		in       string
		exponent int
		want     int64
		verdict  verdict
	}{
		{"1700000110", auto, 1700000110e9, timeGood}, {"1700000110000", auto, 1700000110e9, timeGood},
		{"1700000110000000", auto, 1700000110e9, timeGood}, {"1700000110000000001", auto, 1700000110000000001, timeGood},
		{"1700000110.5", auto, 17000001105e8, timeGood}, {"1.70000011e9", auto, 1700000110e9, timeGood}, {"1793779270.0", auto, 1793779270e9, timeGood},
		{"17000001100", auto, 0, timeFar}, {"1e400", auto, 0, timeFar}, {"-1e400", auto, 0, timeBad}, {"1e99999999999999999999", auto, 0, timeFar},
		{"-5", auto, -5e9, timeGood}, {"0", auto, 0, timeGood}, {"0e5", auto, 0, timeGood}, {"0.000", auto, 0, timeGood},
		{"99999999999", auto, 0, timeFar}, {"100000000000", auto, 1e8 * 1e9, timeGood},
		{"99999999999999", auto, 0, timeFar}, {"100000000000000", auto, 1e8 * 1e9, timeGood},
		{"99999999999999999", auto, 0, timeFar}, {"100000000000000000", auto, 1e17, timeGood},
		{"9223372036854775807", 0, 9223372036854775807, timeGood}, {"9223372036854775808", 0, 0, timeFar},
		{"1700000110.1234567899", 9, 1700000110123456789, timeGood}, {"-1.0000000001", 9, -1000000001, timeGood}, {"-0.0000000001", 9, -1, timeGood},
		{"0.0000000019", 9, 1, timeGood}, {"1700000110123.4567891", 6, 1700000110123456789, timeGood}, {"12e-1", 9, 1200000000, timeGood}, {"1700000110000", 9, 0, timeFar},
		{"", auto, 0, timeBad}, {"soon", auto, 0, timeBad}, {"1,5", auto, 0, timeBad}, {"0x10", auto, 0, timeBad}, {"1 2", auto, 0, timeBad},
	} {
		got, verdict := unixNanos(c.in, c.exponent)
		if got != c.want || verdict != c.verdict {
			t.Errorf("unixNanos(%q, %d) = %d, %d; want %d, %d", c.in, c.exponent, got, verdict, c.want, c.verdict)
		}
	}
}

// TestUnixNanosExact compares with rational arithmetic.
func TestUnixNanosExact(t *testing.T) {
	rng := testbed.Random(t)
	for range 2000 {
		text := randomDecimal(rng)
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("bad text %q", text)
		}
		r.Mul(r, big.NewRat(1e6, 1))
		want := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: a floor for positive denominators
		got, verdict := unixNanos(text, 6)
		if !want.IsInt64() {
			if verdict == timeGood {
				t.Errorf("%s = %d, want out of range", text, got)
			}
			continue
		}
		if verdict != timeGood || got != want.Int64() {
			t.Errorf("%s = %d (%d), want %d", text, got, verdict, want)
		}
	}
}

func randomDecimal(rng *rand.Rand) string {
	b := []byte{"-123456789"[rng.IntN(10)]}
	for range 1 + rng.IntN(14) {
		b = append(b, byte('0'+rng.IntN(10)))
	}
	if rng.IntN(2) == 0 {
		b = append(b, '.')
		for range 1 + rng.IntN(12) {
			b = append(b, byte('0'+rng.IntN(10)))
		}
	}
	if rng.IntN(3) == 0 {
		b = append(b, 'e', "+-"[rng.IntN(2)], byte('0'+rng.IntN(8)))
	}
	return string(b)
}

func TestDates(t *testing.T) {
	for _, c := range []struct{ in, format, zone, want string }{
		{"2026-11-04T08:01:10Z", "", "", "2026-11-04T08:01:10Z"},
		{"2026-11-04t08:01:10.775023242+00:00", "", "", "2026-11-04T08:01:10.775023242Z"},
		{"2026-11-04 09:01:10+0100", "", "", "2026-11-04T08:01:10Z"},
		{"2026-11-04 09:01:10+01", "", "", "2026-11-04T08:01:10Z"},
		{"2026-11-03T20:01:10-12:00", "", "", "2026-11-04T08:01:10Z"},
		{"2026-11-04T08:01", "", "", "2026-11-04T08:01:00Z"},
		{"2026-11-04 08:01:10 UTC", "", "Asia/Jakarta", "2026-11-04T08:01:10Z"}, {"2026-11-04T08:01:10.5UTC", "", "Asia/Jakarta", "2026-11-04T08:01:10.5Z"},
		{"2026-11-04 08:01:10 GMT", "", "", "2026-11-04T08:01:10Z"}, {"2026-11-04 08:01:10 UTC+1", "", "", "arrival"}, {"2026-11-04 08:01:10 CET", "", "", "arrival"},
		{"2026-11-04T09:01:10+01:00[Europe/Berlin]", "", "", "2026-11-04T08:01:10Z"}, {"2026-11-04T08:01:10Z[UTC][u-ca=iso8601]", "", "", "2026-11-04T08:01:10Z"},
		{"2026-11-04T08:01:10[Europe/Berlin]", "", "", "arrival"}, {"2026-11-04T08:01:10Z[UTC]x", "", "", "arrival"},
		{"2026-06-30 23:59:60", "2006-01-02 15:04:05", "", "2026-07-01T00:00:00Z"}, {"2026-06-30 23:59:61", "2006-01-02 15:04:05", "", "arrival"},
		{"2026-06-30T23:59:60Z", "", "", "2026-07-01T00:00:00Z"},
		{"2026-11-04T08:01:10.1234567891Z", "", "", "2026-11-04T08:01:10.123456789Z"},
		{"2026-11-04 08:01:10,5", "", "Asia/Jakarta", "2026-11-04T01:01:10.5Z"},
		{"2026-10-25T02:30:00", "", "Europe/Berlin", "2026-10-25T01:30:00Z"}, // twice: the nearer to arrival
		{"2026-03-29T02:30:00", "", "Europe/Berlin", "2026-03-29T01:30:00Z"}, // skipped: offset from before
		{"2026-07-01T12:00:00", "", "Europe/Berlin", "2026-07-01T10:00:00Z"},
		{"2026.11.04 09:01:10", "2006.01.02 15:04:05", "Europe/Berlin", "2026-11-04T08:01:10Z"},
		{"04/11/2026 09:01:10 +0100", "02/01/2006 15:04:05 -0700", "Asia/Jakarta", "2026-11-04T08:01:10Z"},
		{"1793779270", "unix", "", "2026-11-04T08:01:10Z"},
		{"1793779270123", "unix_ms", "", "2026-11-04T08:01:10.123Z"},
		{"1793779270123456", "unix_us", "", "2026-11-04T08:01:10.123456Z"},
		{"2026-11-04T08:01:10Z", "rfc3339", "", "2026-11-04T08:01:10Z"},
		{"2026-11-04T08:01:10", "rfc3339", "", "arrival"},
		{"2026-11-04T08:01:10Z", "unix", "", "arrival"},
		{"2026-02-29T08:01:10Z", "", "", "arrival"}, {"2026-13-04T08:01:10Z", "", "", "arrival"}, {"2026-11-04T24:00:00Z", "", "", "arrival"},
		{"2026-11-04", "", "", "arrival"}, {"2026-11-04T08:01:10Zx", "", "", "arrival"}, {"2026-11-04T08:01:10.Z", "", "", "arrival"},
		{"soon", "", "", "arrival"}, {"", "", "", "arrival"}, {"null", "", "", "arrival"}, {"0", "", "", "arrival"}, {"188", "", "", "arrival"},
		{"1970-01-01T00:00:32", "", "", "arrival"}, {"2019-12-31T23:59:59.999999999Z", "", "", "arrival"}, {"2020-01-01T00:00:00Z", "", "", "2020-01-01T00:00:00Z"},
		{"9999-01-01T00:00:00Z", "", "", "future"}, {"17000001100", "", "", "future"}, {"1600-01-01T00:00:00Z", "", "", "arrival"},
	} {
		readings, reasons := one(t, Rule{Value: "v", Time: "t", TimeFormat: c.format, Zone: c.zone}, `{"v":1,"t":"`+c.in+`"}`)
		switch {
		case c.want == "future":
			if len(reasons) != 1 || reasons[0] != Future {
				t.Errorf("%s: %v %v, want future", c.in, readings, reasons)
			}
		case len(readings) != 1:
			t.Errorf("%s: refused %v", c.in, reasons)
		case c.want == "arrival":
			if !readings[0].ArrivalTimed || readings[0].Time != at(t, "2026-11-04T08:01:12Z") {
				t.Errorf("%s: %+v, want arrival", c.in, readings[0])
			}
		case readings[0].ArrivalTimed || readings[0].Time != at(t, c.want):
			t.Errorf("%s: %+v, want %s", c.in, readings[0], c.want)
		}
	}
}

// TestArrival says when the arrival time may stand in.
func TestArrival(t *testing.T) {
	batch := Rule{Each: "[*]", Value: "v", Time: "t"}
	for _, c := range []struct {
		what, in string
		rule     Rule
		readings int
		reasons  []Reason
	}{
		{"own bad times of several", `[{"v":1,"t":5},{"v":2,"t":1793779270},{"v":3}]`, batch, 1, []Reason{Time, Time}},
		{"one record", `[{"v":1,"t":5}]`, batch, 1, nil},
		{"root time", `{"t":5,"r":[{"v":1},{"v":2}]}`, Rule{Each: "r[*]", Value: "v", Time: "$.t"}, 2, nil},
		{"root time as second choice", `{"t":5,"r":[{"v":1},{"v":2,"t":6}]}`, Rule{Each: "r[*]", Value: "v", Time: "t|$.t"}, 1, []Reason{Time}},
		{"captured key of several", `{"1":{"v":1},"2":{"v":2}}`, Rule{Each: "{ts}", Value: "v", Sensor: "x", Time: "{ts}"}, 0, []Reason{Time, Time}},
		{"required", `{"v":1,"t":5}`, Rule{Value: "v", Time: "t", TimeRequired: true}, 0, []Reason{Time}},
		{"wrong type", `{"v":1,"t":{}}`, Rule{Value: "v", Time: "t"}, 0, []Reason{Decode}},
	} {
		readings, reasons := one(t, c.rule, c.in)
		if len(readings) != c.readings || len(reasons) != len(c.reasons) {
			t.Errorf("%s: %+v %v, want %d %v", c.what, readings, reasons, c.readings, c.reasons)
			continue
		}
		for i := range reasons {
			if reasons[i] != c.reasons[i] {
				t.Errorf("%s: %v, want %v", c.what, reasons, c.reasons)
			}
		}
	}
	d := compileOne(t, Rule{Topic: "t/{s}", Value: "v", NotBefore: NoTime})
	readings, reasons := outcome(d, Message{Topic: "t/s", Payload: []byte(`{"v":1}`), Arrival: NoTime})
	if len(readings) != 0 || len(reasons) != 1 || reasons[0] != Time {
		t.Errorf("unknown arrival: %v %v, want time", readings, reasons)
	}
}
