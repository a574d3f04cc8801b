package status

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"testing"
)

// A reader that unpacks gets less, and the same.
func TestPacked(t *testing.T) {
	g := dayGateway(120)
	o := Options{Source: g.Report, Details: g}
	plain := get(o, loopback, "GET", "/sensors")
	for accept, want := range map[string]string{"gzip, deflate, br": "gzip", "br;q=1.0, gzip;q=0.8": "gzip", "": "", "br": "", "gzip;q=0": ""} {
		w := get(o, loopback, "GET", "/sensors", "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: packed as %q, want %q", accept, got, want)
			continue
		}
		if w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("%q: length %s of %d bytes", accept, w.Header().Get("Content-Length"), w.Body.Len())
		}
		if want == "" {
			continue
		}
		if w.Body.Len() > plain.Body.Len()/3 {
			t.Errorf("%d bytes packed of %d", w.Body.Len(), plain.Body.Len())
		}
		r, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, plain.Body.Bytes()) {
			t.Errorf("%q: unpacked differs: %v", accept, err)
		}
	}
	if w := get(o, loopback, "GET", "/healthz", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("three bytes were packed")
	}
}
