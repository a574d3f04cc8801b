package uplink

import "net/http"

// An outcome is what an answer means for the lines that were sent.
type outcome uint8

const (
	settled  outcome = iota // stored
	refused                 // at least one line will not be taken
	tooLarge                // the body is too long
	denied                  // an operator must act: token, permission, database or bucket
	blocked                 // an operator must act: an answer that nobody foresaw
	portal                  // not the answer of an InfluxDB
	busy                    // the server asks for time
	down                    // no answer, or the server is ill
)

// Outcomes are the names of all outcomes, in the order in which they are written above.
func Outcomes() []string {
	return []string{"settled", "refused", "too_large", "denied", "blocked", "portal", "busy", "down"}
}

func (o outcome) String() string { return Outcomes()[o] }

// outcomeOf is the one place where an answer becomes an outcome. Everything but settled keeps the lines.
//
//	answer                                             outcome
//	204                                                settled, unless it has no header of InfluxDB and is a page:
//	                                                   HTML, with a body, or with a Location; portal too if it came
//	                                                   before all of the body was sent (poster.send)
//	200 with X-Influxdb-Version or X-Influxdb-Build    settled, if it came whole, is no page and holds no error
//	201 with an error of InfluxDB that names lines     refused: older clusters answer a partial write so
//	any other 2xx, 3xx (never followed), 1xx           portal: back-off
//	400, 422 from InfluxDB (its header, or a JSON      refused: bisect, park the refused lines with the server's
//	  error body)                                      reason once it has taken another line; if it takes none, keep
//	                                                   all and retry slowly
//	400, 422 from anything else                        portal: back-off
//	401, 403, 404                                      denied: retry slowly, re-read token and password
//	413                                                tooLarge: halve and remember; a single line is refused
//	429, 503                                           busy: Retry-After, else back-off
//	407 and any other 4xx                              blocked: retry slowly
//	500 that speaks of retention                       refused; but not "retention policy not found", and no page
//	any other 5xx and beyond                           down: back-off
//	no answer: network, TLS, timeout                   down: back-off; a timeout also makes the next body smaller
//
// A partial write (v1: 400, v2: 400 or 422, v3: 400) has stored the rest already; sending that again writes the same
// points over themselves. The number of dropped lines that servers tell is not used: some tell 0 for a refused line.
func outcomeOf(a *answer) outcome {
	switch code := a.status; {
	case code == http.StatusNoContent && (a.influx || !a.page):
		return settled
	case code == http.StatusOK && a.influx && !a.page && !a.json && !a.cut:
		return settled
	case code == http.StatusCreated && a.json && a.named:
		return refused
	case code < 400:
		return portal
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		if a.influx || a.json && !a.page {
			return refused
		}
		return portal
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound:
		return denied
	case code == http.StatusRequestEntityTooLarge:
		return tooLarge
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		return busy
	case code < 500:
		return blocked
	case code == http.StatusInternalServerError && a.aboutRetention() && !a.page:
		return refused
	}
	return down
}
