package status

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func ptr(x float64) *float64 { return &x }

// fewSensors differ in everything; b and c have said less than a.
func fewSensors() []Sensor {
	return []Sensor{
		{Name: "c", Last: "2026-03-01T14:02:00Z"},
		{Name: "a", Value: ptr(-3.25), Last: "2026-03-01T14:01:00Z", LagS: ptr(5), Open: 2, Late: 7, ClockOffsetS: ptr(-120)},
		{Name: "B/x", Value: ptr(20), Last: "2026-02-27T10:00:00Z", LagS: ptr(-1), Open: 3, Late: 9, ClockOffsetS: ptr(60)},
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"", "B/x a c"},
		{"sort=name&dir=down", "c a B/x"},
		{"sort=value&dir=down", "B/x a c"},
		{"sort=value", "c a B/x"}, // what is not known is below everything
		{"sort=time", "B/x a c"},
		{"sort=lag&dir=down", "a B/x c"},
		{"sort=open&dir=down", "B/x a c"},
		{"sort=late&dir=down", "B/x a c"},
		{"sort=late", "c a B/x"},
		{"sort=offset&dir=down", "B/x a c"},
		{"sort=nonsense", "B/x a c"},
		{"find=b", "B/x"},
		{"find=B%2FX", "B/x"},
		{"find=zz", ""},
		{"find=+a+", "a"},
	} {
		v, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range choose(tidySensors(fewSensors()), queryOf(v)) {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.query, got, tt.want)
		}
	}
}

// A heading asks for what is of most interest first, and then for the other way round.
func TestQueryBy(t *testing.T) {
	for _, tt := range []struct{ from, key, want string }{
		{"", "late", "?dir=down&sort=late#sensors"},
		{"sort=late&dir=down", "late", "?sort=late#sensors"},
		{"sort=late", "late", "?dir=down&sort=late#sensors"},
		{"sort=late", "name", "?sort=name#sensors"},
		{"", "name", "?dir=down&sort=name#sensors"},
		{"sort=time&find=a%26b&page=4", "time", "?dir=down&find=a%26b&sort=time#sensors"},
	} {
		v, err := url.ParseQuery(tt.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := queryOf(v).by(columnOf(tt.key)).link(); got != tt.want {
			t.Errorf("from %q by %s: %s, want %s", tt.from, tt.key, got, tt.want)
		}
	}
}

// What nobody should ask for is as if it had not been asked.
func TestQueryBounds(t *testing.T) {
	for _, text := range []string{"page=-1&limit=-9", "page=99999999999999999999", "page=x&limit=40000", "find=" + strings.Repeat("é", 300)} {
		v, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if q := queryOf(v); q.page != 0 || q.limit != 0 || len(q.find) > maxFind {
			t.Errorf("%s: %+v", text, q)
		}
	}
}

// sensorAnswer asks for the JSON of the sensors.
func sensorAnswer(t *testing.T, g *gateway, query string) sensorPage {
	t.Helper()
	w := get(Options{Source: g.Report, Details: g}, loopback, "GET", "/sensors"+query)
	var page sensorPage
	if err := json.Unmarshal(w.Body.Bytes(), &page); w.Code != 200 || err != nil {
		t.Fatalf("%s: %d, %v: %.200s", query, w.Code, err, w.Body)
	}
	return page
}

func TestSensorsJSON(t *testing.T) {
	g := dayGateway(120)
	if all := sensorAnswer(t, g, ""); all.Total != 120 || all.Matching != 120 || len(all.Sensors) != 120 {
		t.Errorf("%d, %d, %d sensors, want 120", all.Total, all.Matching, len(all.Sensors))
	}
	page := sensorAnswer(t, g, "?find=hall-3&sort=late&dir=down&limit=10&page=1")
	if page.Total != 120 || page.Matching != 17 || len(page.Sensors) != 7 {
		t.Errorf("second page: %d, %d, %d sensors, want 120, 17, 7", page.Total, page.Matching, len(page.Sensors))
	}
	if beyond := sensorAnswer(t, g, "?limit=32768&page=32768"); len(beyond.Sensors) != 0 {
		t.Errorf("%d sensors beyond the end", len(beyond.Sensors))
	}
	body := get(Options{Source: g.Report, Details: g}, loopback, "GET", "/sensors?find=shelf-00000").Body.String()
	if want := `{"total":120,"matching":1,"sensors":[{"sensor":"hall-0/shelf-00000","value":20,"last":"2026-03-01T14:03:00Z","lag_s":0.2,"open_windows":2,"late":0}]}` + "\n"; body != want {
		t.Errorf("%s, want %s", body, want)
	}
}

// Sensor ids and what the server said come from outside.
func TestHostileDetails(t *testing.T) {
	evil := "\x1b[2J<script>alert(1)</script>\u202e\"'&\n\x00"
	g := &gateway{report: dayReport(), sensors: []Sensor{{Name: evil, Last: evil, Value: ptr(math.NaN()), LagS: ptr(math.Inf(1)), Late: 3}},
		parked: []Parked{{Time: evil, Reason: evil, Line: evil}}, samples: []Sample{{At: evil, BehindS: math.NaN(), Known: true}, {At: evil, Known: true}}}
	for _, path := range []string{"/", "/table", "/sensors", "/parked", "/history", "/?find=%3Cscript%3Ealert(2)%3C/script%3E%22"} {
		w := get(Options{Source: g.Report, Details: g}, loopback, "GET", path)
		body := w.Body.String()
		if w.Code != 200 {
			t.Errorf("%s: %d: %s", path, w.Code, body)
		}
		for _, bad := range []string{"<script>alert", "\x1b", "\u202e", "\x00", "NaN", "Inf", "NaN"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
	}
}

// Details that do not come leave the rest of the page as it is.
func TestDetailsAway(t *testing.T) {
	o := Options{Source: answers(dayReport()), Details: awayDetails{}}
	if w := get(o, loopback, "GET", "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "120,056") {
		t.Errorf("page: %d", w.Code)
	}
	for _, path := range []string{"/sensors", "/history", "/parked", "/table"} {
		if w := get(o, loopback, "GET", path); w.Code != 503 || !strings.Contains(w.Body.String(), "the loop is away") {
			t.Errorf("%s: %d %s, want 503", path, w.Code, w.Body)
		}
	}
}

type awayDetails struct{}

func (awayDetails) Sensors(context.Context) ([]Sensor, error)     { return nil, errAway }
func (awayDetails) History(context.Context) ([]Sample, error)     { return nil, errAway }
func (awayDetails) Parked(context.Context, int) ([]Parked, error) { return nil, errAway }

// What is asked for often is got once; what takes long is kept the longer, and a failure is not kept.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, asked := newCache[int](), 0
		ask := func(context.Context) (int, error) {
			time.Sleep(100 * time.Millisecond) // of the bubble's clock
			asked++
			return asked, nil
		}
		for _, tt := range []struct{ after, want int }{{0, 1}, {1, 1}, {4, 2}, {1, 2}} { // s; kept for 50 times 0.1 s
			time.Sleep(time.Duration(tt.after) * time.Second)
			if v, err := c.get(t.Context(), time.Second, ask); v != tt.want || err != nil {
				t.Errorf("%d s later: %d, %v, want %d", tt.after, v, err, tt.want)
			}
		}
	})
	asked := 1
	ask := func(context.Context) (int, error) { asked++; return asked, nil }
	bad := newCache[int]()
	if _, err := bad.get(t.Context(), time.Hour, func(context.Context) (int, error) { return 0, errAway }); !errors.Is(err, errAway) {
		t.Errorf("%v, want errAway", err)
	}
	if v, err := bad.get(t.Context(), time.Hour, ask); v != 2 || err != nil {
		t.Errorf("after a failure: %d, %v, want 2", v, err)
	}
	bad.lock <- struct{}{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bad.get(ended, 0, ask); !errors.Is(err, context.Canceled) {
		t.Errorf("while another asks: %v, want that of the context", err)
	}
}

func TestMostLate(t *testing.T) {
	var names []string
	for _, s := range mostLate(tidySensors(fewSensors())) {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"B/x", "a"}) {
		t.Errorf("%v: c has none", names)
	}
}

func TestShortTime(t *testing.T) {
	const now = "2026-03-01T14:03:00Z"
	for _, tt := range []struct{ at, want string }{
		{"2026-03-01T14:02:00Z", "14:02:00, 1 min 0 s ago"},
		{"2026-03-01T00:00:00Z", "00:00:00, 14 h 3 min ago"},
		{"2026-02-28T23:59:59Z", "2026-02-28 23:59:59, 14 h 3 min ago"},
		{"2026-03-01T16:03:00+02:00", "14:03:00, 0.0 s ago"},
		{"2026-03-01T14:03:05Z", "14:03:05"}, // ahead of the clock
		{"", "–"},
		{"soon", "soon"},
	} {
		if got := shortTime(tt.at, now); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.at, got, tt.want)
		}
	}
}
