package uplink

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Status is what an uplink is doing.
type Status struct {
	// State is "idle" (nothing is queued), "up" (delivering), "down" (the server cannot be reached, is ill, or is no
	// InfluxDB), "waiting" (the server asked for time) or "blocked" (an operator must act).
	State       string
	Since       time.Time     // when State began
	LastSuccess time.Time     // when the server last stored a line; zero if never in this process
	LastError   string        // why it is down, waiting or blocked; "" otherwise
	RetryIn     time.Duration // until the next attempt; 0 if it is not waiting for one
}

// The states of an uplink, as Status tells them.
const (
	StateIdle    = "idle"
	StateUp      = "up"
	StateDown    = "down"
	StateWaiting = "waiting"
	StateBlocked = "blocked"
)

// Bounds of logging.
const (
	repeatAfter = 5 * time.Minute  // a trouble that lasts is told again after so long, then after twice as long, and so on
	repeatMost  = 6 * time.Hour    // up to this
	changeAfter = 30 * time.Second // a trouble that changes, or comes back, is not told more often; if it does so over and over, ever less
	changeMost  = time.Hour        // down to this
)

// A board holds the state for people: it answers for it and logs its changes, and no more than that.
type board struct {
	log   *slog.Logger
	where string
	now   func() time.Time

	mu       sync.Mutex    // guards what follows
	s        Status        // but RetryIn
	retryAt  time.Time     // when the next attempt comes; zero if none is waited for
	began    time.Time     // when the present trouble began; zero if there is none
	attempts int64         // failed in the present trouble
	kind     int           // of the present trouble: outcome and status
	told     time.Time     // when a trouble was last logged
	open     bool          // the present trouble was logged, so its end will be
	held     int64         // attempts that were not logged since
	repeat   time.Duration // until the present trouble is told again
	change   time.Duration // until another may be told
	parks    parks
}

func newBoard(log *slog.Logger, where string, now func() time.Time) board {
	return board{log: log, where: where, now: now, s: Status{State: StateIdle, Since: now()}, repeat: repeatAfter, change: changeAfter}
}

// status copies the state.
func (b *board) status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.s
	if !b.retryAt.IsZero() {
		s.RetryIn = max(0, b.retryAt.Sub(b.now()))
	}
	return s
}

// idle is told when nothing is queued. Being idle after being up is no change that anyone waits for, so Since stays.
func (b *board) idle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retryAt = time.Time{}
	if b.s.State == StateUp {
		b.s.State = StateIdle
	}
}

// up is told when the server took a line.
func (b *board) up() {
	now := b.now()
	b.mu.Lock()
	first, again := b.s.LastSuccess.IsZero(), b.open
	after, attempts := now.Sub(b.began).Round(time.Second), b.attempts
	if first || !b.began.IsZero() {
		b.s.Since = now
	}
	b.s.State, b.s.LastSuccess, b.s.LastError = StateUp, now, ""
	b.retryAt, b.began = time.Time{}, time.Time{}
	b.open, b.attempts, b.held, b.repeat = false, 0, 0, repeatAfter
	b.mu.Unlock()
	switch {
	case again:
		b.log.Info("uplink up again", "to", b.where, "after", after, "attempts", attempts)
	case first:
		b.log.Info("uplink up", "to", b.where)
	}
}

// trouble is told when an attempt failed and the next one comes in d.
func (b *board) trouble(a answer, d time.Duration) {
	state, cause := describe(a)
	level := slog.LevelWarn
	if state == StateBlocked {
		level = slog.LevelError
	}
	if began, held, attempts, ok := b.note(state, cause, int(a.outcome)<<16|a.status, d); ok {
		b.log.Log(context.Background(), level, "uplink "+state, "cause", cause, "to", b.where, "since", began.UTC().Format(time.RFC3339),
			"retry_in", d.Round(time.Millisecond), "attempts", attempts, "held_back", held)
	}
}

// note takes a failed attempt into the state. It reports whether it should be logged, and what with.
func (b *board) note(state, cause string, kind int, d time.Duration) (began time.Time, held, attempts int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.began.IsZero() {
		b.began = now
	}
	if b.s.State != state {
		b.s.State, b.s.Since = state, now
	}
	b.s.LastError, b.retryAt = cause, now.Add(d)
	b.attempts++
	changed := kind != b.kind || !b.open
	b.kind = kind
	age := now.Sub(b.told)
	if !b.told.IsZero() && (age < b.change || !changed && age < b.repeat) {
		b.held++
		return b.began, 0, 0, false
	}
	b.pace(changed, age)
	held = b.held
	b.told, b.open, b.held = now, true, 0
	return b.began, held, b.attempts, true
}

// pace says when the next line may come, after one that comes age after the one before. The caller holds b.mu.
func (b *board) pace(changed bool, age time.Duration) {
	switch {
	case b.told.IsZero():
	case !changed:
		b.repeat = min(2*b.repeat, repeatMost)
	case age < 4*b.change:
		b.change = min(2*b.change, changeMost)
	default:
		b.change = changeAfter
	}
}

// describe gives the state that a leads to, and its cause in words.
func describe(a answer) (state, cause string) {
	state, cause = StateDown, a.reason
	if a.status != 0 {
		cause = strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)))
		if a.reason != "" {
			cause += ": " + a.reason
		}
	}
	switch a.outcome {
	case denied:
		return StateBlocked, cause + "; check the token, its permissions, and that what it writes into exists"
	case blocked:
		if a.status == http.StatusUnsupportedMediaType {
			cause += "; if something on the way cannot do gzip, set gzip = false"
		}
		return StateBlocked, cause
	case busy:
		return StateWaiting, cause
	case portal:
		return state, "not the answer of an InfluxDB, a portal or proxy is suspected: " + cut(cause, 160)
	}
	return state, cause
}
