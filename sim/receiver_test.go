package sim

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// post sends one write; gz packs it.
func post(t *testing.T, server *httptest.Server, path, body string, gz bool) (*http.Response, string, error) {
	t.Helper()
	var b bytes.Buffer
	if gz {
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, body); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		b.WriteString(body)
	}
	req, err := http.NewRequest(http.MethodPost, server.URL+path, &b)
	if err != nil {
		t.Fatal(err)
	}
	if gz {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp, string(text), nil
}

func startReceiver(t *testing.T, o ReceiverOptions) (*Receiver, *httptest.Server) {
	t.Helper()
	r := NewReceiver(o)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server
}

func TestReceiverStores(t *testing.T) {
	var told []string
	r, server := startReceiver(t, ReceiverOptions{Stored: func(line []byte, again bool) { told = append(told, fmt.Sprintf("%s %v", line, again)) }})
	for _, c := range []struct {
		path, body string
		gz         bool
		code       int
		answer     string
	}{
		{"/write?db=edge&precision=ns", "t,s=a max=1,count=1i 60000000000\n", false, 204, ""},
		{"/api/v2/write?org=o&bucket=b&precision=s", "t,s=b max=2 60\nt,s=c max=2 60", true, 204, ""},
		{"/write?precision=ms", "t,s=a max=3 60000\n", true, 204, ""},
		{"/write?precision=us", "t,s=c max=2 60000000\n", false, 204, ""},
		{"/write", "t,s=d max=1 1\nt,s=e max= 1\nt,s=f max=1 1\nt,s=g max=1\n", false, 400, "partial write: unable to parse 't,s=e max= 1'"},
		{"/write?precision=h", "t max=1 1", false, 400, "invalid precision"},
		{"/api/v3/write_lp", "t max=1 1", false, 404, "not found"},
	} {
		resp, text, err := post(t, server, c.path, c.body, c.gz)
		if err != nil || resp.StatusCode != c.code || !strings.Contains(text, c.answer) || resp.Header.Get("X-Influxdb-Version") == "" {
			t.Errorf("%s: got %v %q %v, want %d %q", c.path, resp, text, err, c.code, c.answer)
		}
	}
	var got []string
	for _, l := range r.Snapshot() {
		got = append(got, fmt.Sprint(keyOf(l), " ", fieldText(l.Fields)))
	}
	want := []string{
		"t,s=d at 1970-01-01T00:00:00.000000001Z max=1", "t,s=f at 1970-01-01T00:00:00.000000001Z max=1",
		"t,s=a at 1970-01-01T00:01:00Z count=1i,max=3", "t,s=b at 1970-01-01T00:01:00Z max=2", "t,s=c at 1970-01-01T00:01:00Z max=2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored: got %q, want %q", got, want)
	}
	if c, want := r.Counts(), (Counts{Requests: 6, Lines: 7, Resent: 1, Bad: 2}); c != want {
		t.Errorf("counts: got %+v, want %+v", c, want)
	}
	wantTold := []string{"t,s=a max=1,count=1i 60000000000 false", "t,s=b max=2 60 false", "t,s=c max=2 60 false", "t,s=a max=3 60000 true",
		"t,s=c max=2 60000000 true", "t,s=d max=1 1 false", "t,s=f max=1 1 false"}
	if !slices.Equal(told, wantTold) {
		t.Errorf("told: got %q, want %q", told, wantTold)
	}
}

func TestReceiverOutage(t *testing.T) {
	for _, hangUp := range []bool{false, true} {
		r, server := startReceiver(t, ReceiverOptions{HangUp: hangUp})
		r.SetDown(true)
		resp, _, err := post(t, server, "/write", "t max=1 1", false)
		if hangUp && err == nil || !hangUp && (err != nil || resp.StatusCode != http.StatusServiceUnavailable) {
			t.Errorf("hang up %v: got %v, %v", hangUp, resp, err)
		}
		r.SetDown(false)
		if resp, _, err = post(t, server, "/write", "t max=1 1", false); err != nil || resp.StatusCode != http.StatusNoContent {
			t.Errorf("after the outage: got %v, %v, want 204", resp, err)
		}
		if c := r.Counts(); c.Lines != 1 || c.Refused < 1 || c.Requests != c.Refused+1 {
			t.Errorf("hang up %v: counts %+v, want one line", hangUp, c)
		}
	}
}

func TestReceiverAnswersOthers(t *testing.T) {
	_, server := startReceiver(t, ReceiverOptions{})
	for path, want := range map[string]int{"/ping": 204, "/health": 204, "/write": 405, "/query": 404} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want {
			t.Errorf("GET %s: got %d, want %d", path, resp.StatusCode, want)
		}
	}
	if resp, _, err := post(t, server, "/write", "not gzip", false); err != nil || resp.StatusCode != 400 {
		t.Errorf("no line protocol: got %v, %v, want 400", resp, err)
	}
}
