package sim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

// maxWrite bounds the body of one write, unpacked, in bytes.
const maxWrite = 32 << 20

// ReceiverOptions say how a Receiver behaves. The zero value is a server that answers as it should.
type ReceiverOptions struct {
	// Stored is told each line as it is stored, times as they came, and whether its point was there already. It is called
	// after the write is visible in Snapshot and before the answer, by the goroutine of the request; several requests may
	// call it at once. It must not keep the bytes.
	Stored func(line []byte, again bool)
	// HangUp makes an outage cut connections without an answer; else, and where HTTP/2 does not allow it, it answers 503.
	HangUp bool
}

// Counts are what a Receiver has seen.
type Counts struct {
	Requests int64 // writes, those during an outage included
	Refused  int64 // writes answered 503 or cut off in an outage
	Lines    int64 // stored
	Resent   int64 // of these, with all fields as stored before: the same line once more
	Bad      int64 // lines that could not be read
}

// A Receiver is a small InfluxDB: it takes POST /write (v1) and /api/v2/write, plain or gzip, and keeps the fields of every
// point in memory, later ones over earlier ones. It answers 204, or 400 with the reason when lines could not be read (the
// others are stored, as a partial write). It takes any database, bucket and token. Safe for concurrent use.
type Receiver struct {
	o ReceiverOptions

	mu     sync.Mutex // guards all below
	down   bool
	counts Counts
	points map[key]Line
}

// NewReceiver is an empty server that is up.
func NewReceiver(o ReceiverOptions) *Receiver {
	return &Receiver{o: o, points: map[key]Line{}}
}

// SetDown begins or ends an outage. A request that has begun is not disturbed.
func (r *Receiver) SetDown(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// Counts is a copy of the counters.
func (r *Receiver) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Snapshot copies out all points, by time and name. The caller must not change the maps in them.
func (r *Receiver) Snapshot() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := make([]Line, 0, len(r.points))
	for _, k := range sortedKeys(r.points) {
		lines = append(lines, r.points[k])
	}
	return lines
}

// ServeHTTP answers writes, and GET or HEAD /ping and /health.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	write := req.URL.Path == "/write" || req.URL.Path == "/api/v2/write"
	if r.begin(write) {
		r.refuse(w)
		return
	}
	w.Header().Set("X-Influxdb-Version", "sim")
	switch {
	case req.URL.Path == "/ping" || req.URL.Path == "/health":
		w.WriteHeader(http.StatusNoContent)
	case !write:
		answer(w, http.StatusNotFound, "not found")
	case req.Method != http.MethodPost:
		answer(w, http.StatusMethodNotAllowed, "only POST is allowed")
	default:
		r.write(w, req)
	}
}

// begin counts a request and reports whether there is an outage.
func (r *Receiver) begin(write bool) (down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if write {
		r.counts.Requests++
		if r.down {
			r.counts.Refused++
		}
	}
	return r.down
}

// refuse is what an outage looks like.
func (r *Receiver) refuse(w http.ResponseWriter) {
	if r.o.HangUp {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
			return
		}
	}
	answer(w, http.StatusServiceUnavailable, "service unavailable")
}

func (r *Receiver) write(w http.ResponseWriter, req *http.Request) {
	precision, ok := precisionOf(req.URL.Query().Get("precision"))
	if !ok {
		answer(w, http.StatusBadRequest, "invalid precision")
		return
	}
	body, err := readBody(req)
	if err != nil {
		answer(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := r.storeAll(body, precision); err != nil {
		answer(w, http.StatusBadRequest, "partial write: "+err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// precisionOf knows the names of both interfaces; "" is ns.
func precisionOf(name string) (lineprotocol.Precision, bool) {
	switch name {
	case "", "n", "ns":
		return lineprotocol.Nanosecond, true
	case "u", "us":
		return lineprotocol.Microsecond, true
	case "ms":
		return lineprotocol.Millisecond, true
	case "s":
		return lineprotocol.Second, true
	}
	return 0, false
}

// readBody unpacks a body, up to maxWrite.
func readBody(req *http.Request) ([]byte, error) {
	in := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("read gzip body: %w", err)
		}
		in = z
	}
	body, err := io.ReadAll(io.LimitReader(in, maxWrite+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxWrite {
		return nil, errors.New("body too large")
	}
	return body, nil
}

// storeAll stores every line that can be read; the error tells of the others. A newline inside a quoted field is not
// supported.
func (r *Receiver) storeAll(body []byte, precision lineprotocol.Precision) error {
	var faults []string
	for raw := range bytes.Lines(body) {
		raw = bytes.TrimRight(raw, "\r\n")
		if blank(raw) {
			continue
		}
		l, err := ParseLine(raw, precision)
		if err != nil {
			faults = append(faults, fmt.Sprintf("unable to parse '%s': %v", raw, err))
			r.countBad()
			continue
		}
		again := r.store(l)
		if r.o.Stored != nil {
			r.o.Stored(raw, again)
		}
	}
	if faults != nil {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

func (r *Receiver) countBad() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Bad++
}

// store keeps one line and reports whether its point was there already.
func (r *Receiver) store(l Line) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Lines++
	if old, ok := r.points[keyOf(l)]; ok && maps.Equal(old.Fields, l.Fields) {
		r.counts.Resent++
	}
	return store(r.points, l)
}

// answer writes an error as InfluxDB does, which is also how the uplink knows it from a portal's.
func answer(w http.ResponseWriter, code int, message string) {
	w.Header().Set("X-Influxdb-Version", "sim")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message}) // the client is gone if not
}
