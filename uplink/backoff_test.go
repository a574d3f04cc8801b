package uplink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	low, high := func() float64 { return 0 }, func() float64 { return 1 }
	b := newBackoff(time.Second, 10*time.Second)
	f := func(got, want time.Duration) {
		t.Helper()
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	b.random = high
	for _, want := range []time.Duration{2, 4, 8, 10, 10} {
		f(b.next(), want*time.Second)
	}
	b.random = low
	f(b.next(), time.Second/2)
	f(b.slow(), 5*time.Second)
	f(b.after(7*time.Second), 7*time.Second)
	f(b.after(24*time.Hour), MaxRetryAfter)
	f(b.after(0), time.Second/2)
	b.random = high
	f(b.slow(), 10*time.Second)
	f(b.after(7*time.Second), 17*time.Second) // asked again and again: spread as far as next
	f(b.after(24*time.Hour), MaxRetryAfter+MaxRetryAfter/10)
	f(b.after(-1), 10*time.Second)
	b.reset()
	f(b.after(7*time.Second), 7700*time.Millisecond)
	f(b.after(7*time.Second), 11*time.Second)
	b.reset()
	f(b.next(), 2*time.Second)

	same := newBackoff(time.Second, time.Second)
	same.random = high
	f(same.next(), time.Second)
	f(same.slow(), time.Second)
}

// A script is a transport that answers from a list and notes when it was asked.
type script struct {
	answers []func(*http.Request) (*http.Response, error)
	times   []time.Time
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
	s.times = append(s.times, time.Now())
	i := min(len(s.times), len(s.answers)) - 1
	return s.answers[i](r)
}

func says(status int, header ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

// runScript delivers one batch against the script inside a bubble, and returns the gaps between the requests.
func runScript(t *testing.T, cfg Config, s *script, during func(*Uplink)) (gaps []time.Duration) {
	m := newMemory(t, windows("s", 0, 10)...)
	cfg.URL, cfg.API, cfg.Database = "http://central.invalid", "v1", "db"
	u, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	u.poster.transport = s
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- u.Run(ctx) }()
	if during != nil {
		during(u)
	}
	m.empty()
	synctest.Wait()
	if s := u.Status(); s.State != "idle" || s.LastError != "" || s.RetryIn != 0 {
		t.Errorf("status after delivery: %+v", s)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for i := range s.times[1:] {
		gaps = append(gaps, s.times[i+1].Sub(s.times[i]))
	}
	return gaps
}

// Trial D5 with the waits that really come of it.
func TestWaits(t *testing.T) {
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	date := func(d time.Duration) []string {
		return []string{"Date", now.Format(http.TimeFormat), "Retry-After", now.Add(d).Format(http.TimeFormat)}
	}
	f := func(low, high time.Duration, status int, header ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []func(*http.Request) (*http.Response, error){says(status, header...), says(204)}}
			gaps := runScript(t, Config{RetryMin: time.Second, RetryMax: time.Minute}, s, nil)
			if len(gaps) != 1 || gaps[0] < low || gaps[0] > high {
				t.Errorf("%d %v: waited %v, want %v to %v", status, header, gaps, low, high)
			}
		})
	}
	for _, status := range []int{429, 503} {
		f(7*time.Second, 7700*time.Millisecond, status, "Retry-After", "7")
		f(7*time.Second, 7700*time.Millisecond, status, date(7*time.Second)...)
		f(MaxRetryAfter, MaxRetryAfter+MaxRetryAfter/10, status, "Retry-After", "86400")
		f(time.Second/2, 2*time.Second, status, date(-time.Hour)...)
		f(time.Second/2, 2*time.Second, status, "Retry-After", "-5")
		f(time.Second/2, 2*time.Second, status, "Retry-After", "soon")
		f(time.Second/2, 2*time.Second, status)
	}
	f(time.Second/2, 2*time.Second, 500)
	f(time.Second/2, 2*time.Second, 200)
	f(30*time.Second, time.Minute, 401)
	f(30*time.Second, time.Minute, 404)
	f(30*time.Second, time.Minute, 407)
	f(30*time.Second, time.Minute, 418)
}

// The waits grow, stay bounded, never become a hot loop, and the log stays short.
func TestWaitsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }
		answers := slices.Repeat([]func(*http.Request) (*http.Response, error){fail}, 60)
		s := &script{answers: append(answers, says(204))}
		var log logBuffer
		began := time.Now()
		gaps := runScript(t, Config{RetryMin: time.Second, RetryMax: time.Minute, Logger: log.logger()}, s, nil)
		if s.times[0].Sub(began) > startSpread*time.Second {
			t.Errorf("the first request came after %v", s.times[0].Sub(began))
		}
		for i, gap := range gaps {
			bound := min(time.Minute, time.Second<<min(i+1, 10))
			if gap < time.Second/2 || gap > bound {
				t.Errorf("wait %d is %v, want 500ms to %v", i, gap, bound)
			}
		}
		length := time.Since(began)
		text := log.String()
		if n := strings.Count(text, "uplink down"); n > 2+int(length/repeatAfter) || !strings.Contains(text, "no route to host") {
			t.Errorf("%d lines in %v:\n%s", n, length, text)
		}
		if strings.Count(text, "uplink up again") != 1 || !strings.Contains(text, "attempts=60") {
			t.Errorf("no recovery:\n%s", text)
		}
	})
}

// While waiting the status says for how long, and Reload ends the wait.
func TestReloadEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(*http.Request) (*http.Response, error){says(503, "Retry-After", "600"), says(204)}}
		gaps := runScript(t, Config{}, s, func(u *Uplink) {
			for u.Status().State != "waiting" {
				<-time.After(time.Second)
			}
			<-time.After(time.Minute)
			if in := u.Status().RetryIn; in < 530*time.Second || in > 660*time.Second {
				t.Errorf("retry in %v", in)
			}
			u.Reload()
		})
		if len(gaps) != 1 || gaps[0] > 70*time.Second {
			t.Errorf("waited %v", gaps)
		}
	})
}

// A token that changes ends the slow wait after a 401.
func TestNewTokenEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		token := func() (string, error) { return fmt.Sprint("token", time.Since(began) > 5*time.Minute), nil }
		s := &script{answers: []func(*http.Request) (*http.Response, error){says(401), says(204)}}
		gaps := runScript(t, Config{RetryMax: 10 * time.Hour, Token: token}, s, nil)
		if len(gaps) != 1 || gaps[0] < 4*time.Minute || gaps[0] > 6*time.Minute {
			t.Errorf("waited %v", gaps)
		}
	})
}
