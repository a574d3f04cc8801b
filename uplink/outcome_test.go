package uplink

import (
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// respond makes the answer to a response.
func respond(status int, header map[string]string, body string) answer {
	h := http.Header{}
	for k, v := range header {
		h.Set(k, v)
	}
	return readAnswer(&http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, strings.Clone)
}

var influxHeader = map[string]string{"X-Influxdb-Version": "1.8.10"}

// Every code, with a body that is not InfluxDB's, with an error of InfluxDB, and with its header.
func TestOutcomeOfEveryCode(t *testing.T) {
	f := func(status int, bare, json, header outcome) {
		t.Helper()
		got := []outcome{
			respond(status, nil, "<html>hello</html>").outcome,
			respond(status, nil, `{"error":"something"}`).outcome,
			respond(status, influxHeader, "").outcome,
		}
		if want := []outcome{bare, json, header}; !reflect.DeepEqual(got, want) {
			t.Errorf("%d: got %v, want %v (html, json, header)", status, got, want)
		}
	}
	special := map[int][3]outcome{
		200: {portal, portal, settled},
		204: {portal, settled, settled}, // a page by that code is a portal's
		400: {portal, refused, refused},
		401: {denied, denied, denied},
		403: {denied, denied, denied},
		404: {denied, denied, denied},
		413: {tooLarge, tooLarge, tooLarge},
		422: {portal, refused, refused},
		429: {busy, busy, busy},
		503: {busy, busy, busy},
	}
	for status := 100; status < 700; status++ {
		want, ok := special[status]
		if !ok {
			want = [3]outcome{portal, portal, portal}
			if status >= 400 {
				want = [3]outcome{blocked, blocked, blocked}
			}
			if status >= 500 {
				want = [3]outcome{down, down, down}
			}
		}
		f(status, want[0], want[1], want[2])
	}
}

// Errors as the versions of InfluxDB document and send them.
func TestOutcomeOfDocumentedErrors(t *testing.T) {
	f := func(status int, body string, want outcome, reason string, hints ...int) {
		t.Helper()
		a := respond(status, nil, body)
		if a.outcome != want || a.reason != reason || !reflect.DeepEqual(a.hints, hints) {
			t.Errorf("%d %s\ngot  %v %q %v\nwant %v %q %v", status, body, a.outcome, a.reason, a.hints, want, reason, hints)
		}
	}
	// v1
	f(400, `{"error":"partial write: field type conflict: input field \"max\" on measurement \"t\" is type float, already exists as type integer dropped=1"}`+"\n",
		refused, `partial write: field type conflict: input field "max" on measurement "t" is type float, already exists as type integer dropped=1`)
	f(400, `{"error":"partial write: unable to parse 't,sensor=a max=': missing field value dropped=0"}`,
		refused, `partial write: unable to parse 't,sensor=a max=': missing field value dropped=0`)
	f(400, `{"error":"partial write: points beyond retention policy dropped=24"}`, refused, "partial write: points beyond retention policy dropped=24")
	f(404, `{"error":"database not found: \"db\""}`, denied, `database not found: "db"`)
	f(401, `{"error":"authorization failed"}`, denied, "authorization failed")
	f(413, `{"error":"Request Entity Too Large"}`, tooLarge, "Request Entity Too Large")
	f(500, `{"error":"timeout"}`, down, "timeout")
	f(500, `{"error":"retention policy not found: week"}`, down, "retention policy not found: week")
	// v2
	f(500, `{"code":"internal error","message":"unexpected error writing points to database: partial write: points beyond retention policy dropped=1"}`,
		refused, "unexpected error writing points to database: partial write: points beyond retention policy dropped=1")
	f(500, "points are outside the Retention period\n", refused, "points are outside the Retention period")
	f(422, `{"code":"unprocessable entity","message":"failure writing points to database: partial write: points beyond retention policy dropped=1"}`,
		refused, "failure writing points to database: partial write: points beyond retention policy dropped=1")
	f(400, `{"code":"invalid","message":"unable to parse points","line":2}`, refused, "unable to parse points", 1)
	f(400, `{"code":"invalid","line":2,"message":"failed to parse line protocol:\n  errors encountered on line(s):\n  error parsing line 2 (1-based): Invalid measurement was provided\n  error parsing line 4 (1-based): Unable to parse timestamp value '123461000000000000000000000000'"}`,
		refused, "failed to parse line protocol: errors encountered on line(s): error parsing line 2 (1-based): Invalid measurement was provided error parsing line 4 (1-based): Unable to parse timestamp value '123461000000000000000000000000'", 1, 3)
	f(422, `{"code":"unprocessable entity","message":"failure writing points to database: partial write: field type conflict: input field \"max\" on measurement \"temperature\" is type integer, already exists as type float dropped=11"}`,
		refused, `failure writing points to database: partial write: field type conflict: input field "max" on measurement "temperature" is type integer, already exists as type float dropped=11`)
	f(201, `{"code":"invalid","line":2,"message":"errors encountered on line(s): line 2: field type conflict"}`,
		refused, "errors encountered on line(s): line 2: field type conflict", 1) // older clusters: the rest is stored
	f(201, `{"code":"invalid","message":"something"}`, portal, "something")
	f(413, `{"code":"request too large","message":"max request size (10485760 bytes) exceeded"}`, tooLarge, "max request size (10485760 bytes) exceeded")
	f(413, `{"code":"request too large","message":"unable to read data: points batch is too large"}`, tooLarge, "unable to read data: points batch is too large")
	f(403, `{"code":"forbidden","message":"insufficient permissions for write"}`, denied, "insufficient permissions for write")
	f(429, `{"code":"too many requests","message":"org 1 has exceeded limited_write plan limit"}`, busy, "org 1 has exceeded limited_write plan limit")
	f(500, `{"code":"internal error","message":"An internal error has occurred"}`, down, "An internal error has occurred")
	f(400, `{"code":"invalid","message":"partial write error (1 accepted): 2/3 points rejected; first error: at line 3:13: expected tag key"}`,
		refused, "partial write error (1 accepted): 2/3 points rejected; first error: at line 3:13: expected tag key", 2)
	f(401, `{"code":"unauthorized","message":"unauthorized access"}`, denied, "unauthorized access")
	f(404, `{"code":"not found","message":"bucket \"b\" not found"}`, denied, `bucket "b" not found`)
	f(503, `{"code":"unavailable","message":"Service unavailable"}`, busy, "Service unavailable")
	// v3
	f(400, `{"error":"partial write of line protocol occurred","data":[{"original_line":"t max=hi","line_number":4,"error_message":"No fields"},`+
		`{"original_line":"t","line_number":2,"error_message":"other"}]}`, refused, "partial write of line protocol occurred: No fields", 1, 3)
	f(400, `{"data":{"original_line":"t","line_number":2,"error_message":"No fields"},"error":"parsing failed for write_lp endpoint"}`,
		refused, "parsing failed for write_lp endpoint: No fields", 1)
	f(400, `{"error":"line protocol parsing error","data":{"original_line":"cpu,host=a val= 123","line_number":1,"error_message":"No fields were provided"}}`,
		refused, "line protocol parsing error: No fields were provided", 0)
	f(400, `{"error":"partial write of line protocol occurred","data":[{"original_line":"home,room=Sunroom temp=hi 1735549200","line_number":2,`+
		`"error_message":"invalid column type for column 'temp', expected iox::column_type::field::float, got iox::column_type::field::string"}]}`,
		refused, "partial write of line protocol occurred: invalid column type for column 'temp', expected iox::column_type::field::float, got iox::column_type::field::string", 1)
	f(400, `{"error":"partial write of line protocol occurred","data":[{"line_number":3,"error_message":"as in line 9"}]}`,
		refused, "partial write of line protocol occurred: as in line 9", 2)
	f(400, `{"error":"partial write of line protocol occurred","data":null}`, refused, "partial write of line protocol occurred")
	f(400, `{"error":"partial write of line protocol occurred","data":[]}`, refused, "partial write of line protocol occurred")
	f(422, `{"error":"Update to schema would exceed number of tables limit of 4000 tables"}`, refused, "Update to schema would exceed number of tables limit of 4000 tables")
	f(401, `{"error": "the request was not authenticated"}`, denied, "the request was not authenticated")
	f(404, `The following Database does not exist: db`, denied, "The following Database does not exist: db")
	f(421, `{"error":"this node is query only"}`, blocked, "this node is query only")
	// cut or odd
	f(400, `{"error":"partial write of line protocol occurred","data":[{"line_number":2,"error_message":"a"},{"original_li`,
		refused, "partial write of line protocol occurred: a", 1)
	f(400, `{"code":"invalid","message":"line 7 and then the connec`, refused, `{"code":"invalid","message":"line 7 and then the connec`, 6)
	f(400, `{"error":{"code":5}}`, portal, `{"error":{"code":5}}`)
	f(400, `["error"]`, portal, `["error"]`)
	f(400, `{"data":[7],"error":"x"}`, portal, `{"data":[7],"error":"x"}`)
	f(400, "<html>\n<h1>Bad\x00Request</h1>\xff", portal, "<html> <h1>Bad Request</h1>�")
	f(400, "", portal, "")
}

func TestAnswerIsBounded(t *testing.T) {
	a := respond(400, nil, `{"error":"`+strings.Repeat("ü", maxBody)+`"}`)
	if a.outcome != refused || len(a.reason) > maxReason || len(a.reason) < maxReason-1 || !strings.HasSuffix(a.reason, "ü") {
		t.Errorf("got %v, %d bytes ending in %q", a.outcome, len(a.reason), a.reason[len(a.reason)-3:])
	}
	a = respond(400, nil, `{"error":"`+strings.Repeat("line 3, line 4, ", 500)+strings.Repeat("x", maxBody)+`"}`)
	if len(a.hints) != 2 {
		t.Errorf("got %d hints, want 2", len(a.hints))
	}
}

// Trial D5: how long the server asks us to wait, whatever our own clock says.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC) // far from ours
	f := func(value string, date bool, want time.Duration) {
		t.Helper()
		h := http.Header{"Retry-After": {value}}
		if date {
			h.Set("Date", now.Format(http.TimeFormat))
		}
		if got := retryAfter(h); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	f("7", false, 7*time.Second)
	f(" 7 ", true, 7*time.Second)
	f("86400", true, 24*time.Hour)
	f("0", true, 0)
	f("-5", true, 0)
	f("soon", true, 0)
	f("", true, 0)
	f("1e3", true, 0)
	f("2.5", true, 2500*time.Millisecond)
	f("0.05", false, 50*time.Millisecond)
	f("-2.5", true, 0)
	f("2.", true, 0)
	f("2.5.1", true, 0)
	f("99999999999999999999", true, math.MaxUint32*time.Second)
	f(now.Add(7*time.Second).Format(http.TimeFormat), true, 7*time.Second)
	f(now.Add(7*time.Second).Format(time.RFC850), true, 7*time.Second)
	f(now.Add(-time.Minute).Format(http.TimeFormat), true, 0)
	f(now.Add(7*time.Second).Format(time.RFC1123Z), true, 0) // a zone of its own: no HTTP date
	f(now.Add(7*time.Second).Format(time.RFC3339), true, 0)
	f("Mon, 99 Foo 2031 03:02:01 GMT", true, 0)
	f("Sun, 04 May 9999 03:02:01 GMT", true, time.Date(9999, 5, 4, 3, 2, 1, 0, time.UTC).Sub(now)) // is clamped later
	f("+7", true, 0)
	f("7.5", true, 7500*time.Millisecond)
	f("0x7", true, 0)
	f("4294967296", true, math.MaxUint32*time.Second)
	f("-99999999999999999999", true, 0)
	f("7, 8", true, 0)
	f(now.Add(7*time.Second).Format(http.TimeFormat), false, 0)
}
