package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Bounds of the live page.
const (
	maxLive   = 8               // readers at once; the next gets 503 and asks again later
	liveEvery = 2 * time.Second // how often a reader gets what has changed
	livePause = 10 * time.Second
	liveLong  = time.Hour // then the reader has to connect anew, so that no forgotten one stays for ever
)

// events sends the parts of the page that change, as server-sent events: the data of each is a JSON object of HTML by the
// id of the part. It ends when the reader is gone or does not take what is sent for ten seconds, and when the agent stops.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead { // or the answer would never end
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	select {
	case s.clients <- struct{}{}:
		defer func() { <-s.clients }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, fmt.Sprintf("%d readers look on already; load the page again for newer figures", maxLive), http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), liveLong)
	defer cancel()
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // that of the request, which is over, would end the answer too
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	_ = s.stream(ctx, w, c) // the reader is gone
}

// stream sends until ctx is done or the reader does not take any more.
func (s *site) stream(ctx context.Context, w http.ResponseWriter, c *http.ResponseController) error {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	sent := make(map[string][]byte)
	for {
		_ = c.SetWriteDeadline(time.Now().Add(livePause)) // where it cannot be set the server's own holds
		if _, err := w.Write(s.event(ctx, sent)); err != nil {
			return err
		}
		if err := c.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// event is the next event: what has changed since it was sent, which it notes in sent. An agent that does not answer is one
// too; the reader shows it.
func (s *site) event(ctx context.Context, sent map[string][]byte) []byte {
	sc, err := s.scene(ctx, false)
	if err != nil {
		return fmt.Appendf(nil, "event: trouble\ndata: %s\n\n", clean(err.Error(), maxError))
	}
	changed := make(map[string]string)
	for _, f := range fragments(sc) {
		if !bytes.Equal(sent[f.id], f.html) {
			sent[f.id] = f.html
			changed[f.id] = string(f.html)
		}
	}
	var b bytes.Buffer
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it goes into a script's hands, not into a page
	_ = e.Encode(changed)  // text by text can always be encoded
	b.WriteString("\n")
	return b.Bytes()
}
