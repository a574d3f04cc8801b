package discover

import (
	"slices"
	"strings"

	"edgeagent/reading"
)

// Bounds of a Survey.
const (
	maxTopics  = 20_000
	maxSamples = 4       // messages kept of a topic: the first and the latest
	maxPayload = 8 << 10 // a longer one is counted, not kept
)

// A Survey is what was seen on a broker.
type Survey struct {
	topics   map[string]*topic
	Messages int64 // all that were added
	Untold   int64 // those whose topic came after the bound of 20,000 topics was reached
}

// A topic is what was seen on one topic.
type topic struct {
	name     string
	messages int64
	samples  []reading.Message
}

// NewSurvey is an empty Survey.
func NewSurvey() *Survey { return &Survey{topics: map[string]*topic{}} }

// Add notes a message. Its payload is not kept after the Survey, but must not change before.
func (s *Survey) Add(m reading.Message) {
	s.Messages++
	t := s.topics[m.Topic]
	if t == nil {
		if len(s.topics) == maxTopics {
			s.Untold++
			return
		}
		t = &topic{name: m.Topic}
		s.topics[m.Topic] = t
	}
	t.messages++
	if len(m.Payload) > maxPayload {
		return
	}
	if len(t.samples) == maxSamples {
		t.samples = slices.Delete(t.samples, 1, 2)
	}
	t.samples = append(t.samples, m)
}

// sorted are the topics by name.
func (s *Survey) sorted() []*topic {
	var all []*topic
	for _, t := range s.topics {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *topic) int { return strings.Compare(a.name, b.name) })
	return all
}
