package uplink

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Every request is told with its time and its outcome, one that got no answer too.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
			return func(r *http.Request) (*http.Response, error) {
				time.Sleep(3 * time.Second) // of the bubble's clock
				return answer(r)
			}
		}
		gone := func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }
		s := &script{answers: []func(*http.Request) (*http.Response, error){slow(says(503)), gone, says(500), slow(says(204))}}
		var seen []string
		observe := func(took time.Duration, outcome string) { seen = append(seen, fmt.Sprint(took, " ", outcome)) }
		runScript(t, Config{RetryMin: time.Second, RetryMax: time.Minute, Observe: observe}, s, nil)
		if want := []string{"3s busy", "0s down", "0s down", "3s settled"}; !slices.Equal(seen, want) {
			t.Errorf("%q, want %q", seen, want)
		}
	})
}

// Every outcome has a name of its own.
func TestOutcomeNames(t *testing.T) {
	names := Outcomes()
	if len(names) != int(down)+1 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) || down.String() != "down" || settled.String() != "settled" {
		t.Errorf("%q", names)
	}
}
