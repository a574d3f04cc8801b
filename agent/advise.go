package agent

import (
	"context"
	"errors"
	"io"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// ActionAdvise answers with Advice.
const ActionAdvise = "advise"

// advise has the run loop say what the lags call for.
func (a *Agent) advise(ctx context.Context, loss float64) (advice Advice, err error) {
	if err := goodLoss(loss); err != nil {
		return advice, err
	}
	err = a.do(ctx, func() error { advice = a.engine.advise(loss); return nil })
	return advice, err
}

func goodLoss(loss float64) error {
	if !(loss > 0 && loss < 1) {
		return errors.New("the share that may be late must be above 0 and below 1")
	}
	return nil
}

// adviseStopped says what the lags of a store call for that no agent has open, and changes nothing.
func adviseStopped(o Options, req Request, out io.Writer) error {
	if err := goodLoss(req.Loss); err != nil {
		return err
	}
	decoder, err := reading.Compile(o.Config.Sources, o.Config.Watermark.NotBefore)
	if err != nil {
		return err
	}
	store, err := buffer.OpenReadOnly(o.StoreByHand())
	if err != nil {
		return err
	}
	e, err := setupOf(o.Config, decoder, o.BuildDate).engine()
	if err == nil {
		err = e.restoreForAdvice(store)
	}
	if err == nil {
		err = writeJSON(out, e.advise(req.Loss))
	}
	return errors.Join(err, store.Close())
}

// restoreForAdvice takes in the lags alone, with the sensors that they are of.
func (e *Engine) restoreForAdvice(store *buffer.Store) error {
	err := store.Lags(func(rec buffer.Lag) {
		if _, ok := recordOf(rec.Sensor); !ok && e.sensors[rec.Sensor] == nil {
			e.sensors[rec.Sensor] = &sensor{name: rec.Sensor}
		}
	})
	return errors.Join(err, e.restoreLags(store))
}
