package reading

import (
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"edgeagent/testbed"
)

// TestDatesAgainstOracle writes random instants in every form that is understood, by the time package, and reads them.
func TestDatesAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	zones := []*time.Location{time.UTC}
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Asia/Jakarta", "Australia/Lord_Howe"} {
		zone, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	format := timeFormat{kind: "auto", exponent: autoExponent}
	for range 20_000 {
		at := time.Unix(1577836800+rng.Int64N(40*365*86400), rng.Int64N(1e9))
		zone := zones[rng.IntN(len(zones))]
		layout := pick(rng, "2006-01-02", "2006/01/02", "2006.01.02") + pick(rng, "T", " ", "t") +
			pick(rng, "15:04:05", "15:04:05.999999999", "15:04:05.000", "15:04:05,000000", "15:04")
		if rng.IntN(5) == 0 {
			layout = "20060102T" + pick(rng, "150405", "150405.000", "1504")
		}
		offset := pick(rng, "", "Z07:00", "-07:00", "-0700", " -0700", " -07:00", "Z0700", "-07:00[Zone/Name]")
		text := at.In(zone).Format(layout + offset)
		want, err := time.ParseInLocation(layout+offset, text, zone)
		if err != nil {
			t.Fatalf("%q: %v: the test is wrong", text, err)
		}
		got, verdict := format.instant(gjson.Result{Type: gjson.String, Str: text}, zone, at.UnixNano())
		if verdict != timeGood || got != want.UnixNano() && (offset != "" || !sameWall(got, want, zone)) {
			t.Fatalf("%q in %v = %v, want %v", text, zone, time.Unix(0, got).In(zone), want)
		}
	}
}

// sameWall reports whether two instants look alike on a clock of the zone: an hour that is there twice.
func sameWall(ns int64, want time.Time, zone *time.Location) bool {
	const layout = "2006-01-02 15:04:05.999999999"
	return time.Unix(0, ns).In(zone).Format(layout) == want.In(zone).Format(layout)
}

// TestRepeatedAndMissingHour fixes what becomes of the hours around a change of clocks.
func TestRepeatedAndMissingHour(t *testing.T) {
	format := timeFormat{kind: "auto", exponent: autoExponent}
	for _, c := range []struct{ text, zone, arrival, want string }{
		{"2026-10-25 02:30:00", "Europe/Berlin", "2026-10-25T00:29:00Z", "2026-10-25T00:30:00Z"},
		{"2026-10-25 02:30:00", "Europe/Berlin", "2026-10-25T01:31:00Z", "2026-10-25T01:30:00Z"},
		{"2026-10-25 02:30:00", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T00:30:00Z"}, // as near: the earlier
		{"2026-10-25 02:30:00", "Europe/Berlin", "2026-11-04T08:00:00Z", "2026-10-25T01:30:00Z"},
		{"2026-10-25 01:59:59", "Europe/Berlin", "2026-11-04T08:00:00Z", "2026-10-24T23:59:59Z"},
		{"2026-10-25 03:00:00", "Europe/Berlin", "2026-10-24T08:00:00Z", "2026-10-25T02:00:00Z"},
		{"2026-03-29 02:00:00", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"}, // skipped: the offset before
		{"2026-03-29 02:59:59", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:59:59Z"},
		{"2026-11-01 01:30:00", "America/New_York", "2026-11-01T06:31:00Z", "2026-11-01T06:30:00Z"},
		{"2026-04-05 01:45:00", "Australia/Lord_Howe", "2026-04-04T15:16:00Z", "2026-04-04T15:15:00Z"}, // half an hour only
		{"2016-12-31T23:59:60Z", "UTC", "2017-01-01T00:00:00Z", "2017-01-01T00:00:00Z"},
		{"2017-01-01T05:44:60.5+05:45", "UTC", "2017-01-01T00:00:00Z", "2017-01-01T00:00:00.5Z"},
	} {
		zone, err := loadZone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		got, verdict := format.instant(gjson.Result{Type: gjson.String, Str: c.text}, zone, at(t, c.arrival))
		if verdict != timeGood || got != at(t, c.want) {
			t.Errorf("%s in %s, arrived %s = %v, want %s", c.text, c.zone, c.arrival, time.Unix(0, got).UTC(), c.want)
		}
	}
}

// TestNoDates has texts that look like dates.
func TestNoDates(t *testing.T) {
	for _, s := range []string{
		"", "2026", "2026-11-04", "2026-11-04T", "2026-11-04T8:01", "2026-11-04T08", "2026-11-04T08:61:00", "2026-11-04T08:01:61", "2026-11-04T24:00:00",
		"2026-1-4T08:01:00", "26-11-04T08:01:00", "2026-11/04T08:01:00", "2026-11-31T08:01:00", "2026-00-04T08:01:00", "2026-11-00T08:01:00",
		"2026-11-04T08:01:00.", "2026-11-04T08:01:00+", "2026-11-04T08:01:00+1", "2026-11-04T08:01:00+01:", "2026-11-04T08:01:00+01:60", "2026-11-04T08:01:00+24:00",
		"2026-11-04T08:01:00 ", "2026-11-04T08:01:00 x", "2026-11-04T08:01:00ZZ", "2026-11-04_08:01:00", " 2026-11-04T08:01:00", "2026-11-04T0801:00", "202611-04T08:01:00",
		"2026-11-04T08:01:00 UT", "2026-11-04T08:01:00 CET", "2026-11-04T08:01:00[UTC]", "2026-11-04T08:01:00Z[UTC", "Wed Nov  4 08:01:00 2026", "04.11.2026 08:01:00", "20261104", "20261104T08", "2026110T080100", "-2026-11-04T08:01:00",
	} {
		if w, ok := parseDate(s); ok {
			t.Errorf("%q = %+v, want none", s, w)
		}
	}
}
