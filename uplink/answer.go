package uplink

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is taken from an answer.
const (
	maxBody   = 16 << 10 // bytes of body that are read for its message
	maxDrain  = 64 << 10 // bytes read beyond them so that the connection can be used again
	maxReason = 512      // bytes of a reason
	maxHints  = 100      // line numbers
)

// An answer is what the server said to one request, or why it said nothing.
type answer struct {
	outcome outcome
	status  int           // 0 if there was no answer
	influx  bool          // it has a header that InfluxDB sets
	json    bool          // its body is an InfluxDB error in JSON
	page    bool          // it is meant for a browser: HTML, or a 204 with a body or a place to go to
	cut     bool          // its body ended too early
	reason  string        // for people: the server's words, or the error of the network; at most maxReason bytes
	named   bool          // the server names lines by number
	hints   []int         // indexes of the lines that the server names, ascending; may be wrong
	after   time.Duration // Retry-After, 0 if there is none that makes sense
	timeout bool          // it took too long
	peer    string        // address of who answered, without the port; "" if not known
}

// readAnswer takes what is of use from res and closes its body; clean takes secrets out of a text. It ends with the
// request's context, but for a 101: its body is the connection, which does not.
func readAnswer(res *http.Response, clean func(string) string) answer {
	defer res.Body.Close()
	a := answer{
		status: res.StatusCode,
		influx: res.Header.Get("X-Influxdb-Version") != "" || res.Header.Get("X-Influxdb-Build") != "",
		page:   isPage(res),
		after:  retryAfter(res.Header),
	}
	if a.status != http.StatusSwitchingProtocols {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxBody)) // what came before an error is as good
		a.cut = err != nil
		if said := res.Header.Get("X-Influxdb-Error"); len(body) == 0 {
			body = []byte(said) // v1 says it twice
		}
		_, _ = io.CopyN(io.Discard, res.Body, maxDrain)
		a.readBody(body, clean)
	}
	a.outcome = outcomeOf(&a)
	return a
}

// isPage reports whether the header alone tells that this is for a browser.
func isPage(res *http.Response) bool {
	if strings.Contains(strings.ToLower(res.Header.Get("Content-Type")), "html") {
		return true
	}
	length := res.Header.Get("Content-Length")
	return res.StatusCode == http.StatusNoContent && (length != "" && length != "0" || res.Header.Get("Location") != "")
}

// aboutRetention reports whether the server speaks of points older than it keeps, which old versions do in a 500.
func (a *answer) aboutRetention() bool {
	text := strings.ToLower(a.reason)
	return strings.Contains(text, "retention") && !strings.Contains(text, "not found")
}

// tooOld reports whether a refusal is for nothing but the age of lines, and not for their being in the future. One whose words
// are too many to be kept does not say it for sure.
func (a *answer) tooOld() bool {
	return a.outcome == refused && a.aboutRetention() && len(a.reason) < maxReason-utf8.UTFMax && !strings.Contains(strings.ToLower(a.reason), "upper")
}

// errorStart is how the errors of all InfluxDB versions begin, for a body that was cut.
var errorStart = regexp.MustCompile(`^\s*\{\s*"(error|code|message)"\s*:\s*"`)

// readBody reads {"error":…} (v1, v3) or {"code":…,"message":…} (v2), with the line numbers that v2 and v3 add. A body
// that ends too early gives what it holds.
func (a *answer) readBody(body []byte, clean func(string) string) {
	e := parseError(body)
	a.json = e.text != "" || errorStart.Match(body) || a.status == http.StatusOK && bytes.Contains(body, []byte(`"error"`)) // as of a query
	a.page = a.page || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	text := e.text
	if text == "" {
		text = string(body)
	}
	if e.detail != "" {
		text += ": " + e.detail
	}
	a.reason = cut(clean(oneLine(text)), maxReason)
	if !e.list {
		e.lines = append(e.lines, numbersIn(text)...)
	}
	a.named, a.hints = len(e.lines) > 0, hintsOf(e.lines)
}

// numbered finds line numbers in the text of v2.
var numbered = regexp.MustCompile(`\bline (\d{1,7})\b`)

// numbersIn gives the line numbers in a text.
func numbersIn(text string) (lines []int) {
	for _, m := range numbered.FindAllStringSubmatch(text, maxHints) {
		n, _ := strconv.Atoi(m[1])
		lines = append(lines, n)
	}
	return lines
}

// hintsOf makes indexes of line numbers, which count from 1.
func hintsOf(lines []int) []int {
	var hints []int
	for _, n := range lines {
		if n > 0 && len(hints) < maxHints {
			hints = append(hints, n-1)
		}
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// oneLine makes text of anything: valid UTF-8, no control characters, single blanks.
func oneLine(s string) string {
	blanks := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), blanks), " ")
}

// cut shortens s to at most n bytes, at a boundary of characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fraction is a number of seconds with a part of one.
var fraction = regexp.MustCompile(`^\d{1,9}\.\d{1,9}$`)

// retryAfter reads seconds, where some servers write a part of one, or a date as judged against the answer's own Date: the
// gateway's clock may be wrong. It is 0 if the header is absent, in the past or makes no sense; the caller clamps it.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if fraction.MatchString(v) {
		d, _ := time.ParseDuration(v + "s")
		return max(0, d)
	}
	n, err := strconv.ParseUint(v, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(n) * time.Second // the largest uint32 if it is out of range
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}
