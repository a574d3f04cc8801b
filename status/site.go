package status

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// How long an answer serves others who ask for the same.
const (
	keepReport  = time.Second // for the live page; other readers get one of their own
	keepHistory = 10 * time.Second
	keepSensors = 2 * time.Second
	keepParked  = 5 * time.Second
)

// parkedShown is how many refused points are shown; the command lists all.
const parkedShown = 20

// A site is what the addresses of a server answer from.
type site struct {
	source  Source
	details Details // nil: the report alone
	logger  *slog.Logger
	clients chan struct{} // one value for each reader of the live page

	reports   *cache[Report]
	histories *cache[[]Sample]
	sensors   *cache[[]Sensor]
	parked    *cache[[]Parked]
}

func newSite(source Source, details Details, logger *slog.Logger) *site {
	return &site{
		source: source, details: details, logger: logger, clients: make(chan struct{}, maxLive),
		reports: newCache[Report](), histories: newCache[[]Sample](), sensors: newCache[[]Sensor](), parked: newCache[[]Parked](),
	}
}

// ask gets a tidy report in bounded time.
func (s *site) ask(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	r, err := s.source(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("the agent does not answer: %w", err)
	}
	return r.tidy(), nil
}

// A scene is all that the page shows.
type scene struct {
	report  Report
	detail  bool // whether there is more than the report
	samples []Sample
	sensors []Sensor
	parked  []Parked
}

// scene gets what the page shows. Details that do not come are left out: the report says what is wrong.
func (s *site) scene(ctx context.Context, fresh bool) (scene, error) {
	report, err := s.reportOf(ctx, fresh)
	if err != nil || s.details == nil {
		return scene{report: report}, err
	}
	sc := scene{report: report, detail: true}
	sc.samples, _ = s.history(ctx)
	sc.sensors, _ = s.sensorList(ctx)
	if report.Points.Parked > 0 {
		sc.parked, _ = s.parkedList(ctx)
	}
	return sc, nil
}

func (s *site) reportOf(ctx context.Context, fresh bool) (Report, error) {
	if fresh {
		return s.ask(ctx)
	}
	return s.reports.get(ctx, keepReport, s.ask)
}

func (s *site) history(ctx context.Context) ([]Sample, error) {
	return detail(ctx, s.histories, keepHistory, s.details.History, tidyHistory)
}

func (s *site) sensorList(ctx context.Context) ([]Sensor, error) {
	return detail(ctx, s.sensors, keepSensors, s.details.Sensors, tidySensors)
}

func (s *site) parkedList(ctx context.Context) ([]Parked, error) {
	list := func(ctx context.Context) ([]Parked, error) { return s.details.Parked(ctx, parkedShown) }
	return detail(ctx, s.parked, keepParked, list, tidyParked)
}

// detail gets one of the details in bounded time and makes it safe to show.
func detail[T any](ctx context.Context, c *cache[T], keep time.Duration, ask func(context.Context) (T, error), tidy func(T) T) (T, error) {
	return c.get(ctx, keep, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
		defer cancel()
		v, err := ask(ctx)
		if err != nil {
			return v, fmt.Errorf("the agent does not answer: %w", err)
		}
		return tidy(v), nil
	})
}
