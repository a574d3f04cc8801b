package testbed

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func post(t *testing.T, url, contentType, body string, want int) string {
	t.Helper()
	resp, err := http.Post(url, contentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Fatalf("POST %s: %s %s %v, want %d", url, resp.Status, text, err, want)
	}
	return string(text)
}

func TestInflux(t *testing.T) {
	i := StartInfluxd(t, InfluxOptions{HTTP: []string{"max-body-size = 1000"}})
	i.CreateDB(`edge "1"`)
	db := "edge+%221%22"
	if got := i.Points(`edge "1"`, "temperature"); got != nil {
		t.Errorf("points of an empty database: %v", got)
	}
	post(t, i.URL()+"/write?precision=ns&db="+db, "", "temperature,gateway=g,sensor=b max=30,count=2i 1700000100000000001\n"+
		"temperature,gateway=g max=-0.5,count=9007199254740993i,final=true,note=\"a b\" 1700000400000000000\n", http.StatusNoContent)
	post(t, i.URL()+"/api/v2/write?org=o&precision=ns&bucket="+db, "", "temperature,gateway=g,sensor=b max=31 1700000100000000001\n"+
		"temperature,gateway=g,sensor=b count=1i -1\n", http.StatusNoContent)
	want := []Point{
		{map[string]string{"gateway": "g"}, 1700000400000000000,
			map[string]any{"max": -0.5, "count": int64(9007199254740993), "final": true, "note": "a b"}},
		{map[string]string{"gateway": "g", "sensor": "b"}, -1, map[string]any{"count": int64(1)}},
		{map[string]string{"gateway": "g", "sensor": "b"}, 1700000100000000001, map[string]any{"max": 31.0, "count": int64(2)}},
	}
	check := func(when string) {
		t.Helper()
		if got := i.Points(`edge "1"`, "temperature"); !reflect.DeepEqual(got, want) {
			t.Errorf("points %s:\n%v\nwant\n%v", when, got, want)
		}
	}
	check("as written")
	i.Restart()
	check("after a stop")
	i.Kill()
	i.Restart()
	check("after a kill")
	post(t, i.URL()+"/write?db="+db, "", strings.Repeat("#", 1001), http.StatusRequestEntityTooLarge)
}

func TestInfluxFlux(t *testing.T) {
	i := StartInfluxd(t, InfluxOptions{Flux: true})
	i.CreateDB(`edge "1"`)
	post(t, i.URL()+"/api/v2/write?org=o&precision=ns&bucket=edge+%221%22", "", "temperature,gateway=g,sensor=b max=31 1700000100000000001\n"+
		"temperature,gateway=g max=-0.5 1700000400000000000\n", http.StatusNoContent)
	flux := `from(bucket: "edge \"1\"") |> range(start: 2023-01-01T00:00:00Z) |> filter(fn: (r) => r._field == "max") |> sum()`
	if answer := post(t, i.URL()+"/api/v2/query", "application/vnd.flux", flux, http.StatusOK); !strings.Contains(answer, ",g,-0.5\r\n") || !strings.Contains(answer, ",g,b,31\r\n") {
		t.Errorf("Flux answers %q", answer)
	}
}

func TestInfluxRefusesQuery(t *testing.T) {
	i := StartInfluxd(t, InfluxOptions{})
	for _, tt := range []struct{ statement, want string }{
		{"SELECT FROM", "error parsing query"},
		{"SELECT * FROM m", "database not found"},
	} {
		f := &fakeTB{T: t}
		f.run(func(t TB) {
			other := &Influx{t: t, Port: i.Port, client: i.client}
			other.Query("none", tt.statement)
		})
		if !strings.Contains(f.verdict, tt.want) {
			t.Errorf("Query(%q) ends with %q, want %q in it", tt.statement, f.verdict, tt.want)
		}
	}
}
