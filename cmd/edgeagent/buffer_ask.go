package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/status"
)

// storeOptions are those of an agent whose store is worked on while it does not run.
func storeOptions(cfg *configs.Config, s streams) agent.Options {
	v, date := built()
	return agent.Options{Config: cfg, Version: v, BuildDate: date, Logger: newLogger(cfg.Log, s.err, nil), Check: storeCheck(), LockTimeout: lockWait}
}

// askStore has a request carried out by the running agent, or, where none runs, on its store.
func askStore(ctx context.Context, cfg *configs.Config, s streams, req agent.Request, out io.Writer) error {
	err := status.Do(ctx, agent.SocketPath(cfg.Buffer.Dir), req, out)
	if !errors.Is(err, status.ErrNoAgent) {
		return err
	}
	return unanswered(agent.ControlStopped(ctx, storeOptions(cfg, s), req, out))
}

// askRunning has a request carried out by the running agent and decodes its answer. The error is status.ErrNoAgent where none runs.
func askRunning(ctx context.Context, cfg *configs.Config, req agent.Request, answer any) error {
	var text bytes.Buffer
	if err := status.Do(ctx, agent.SocketPath(cfg.Buffer.Dir), req, &text); err != nil {
		return err
	}
	return decodeAnswer(text.Bytes(), answer)
}

// askForAnswer asks, prints the answer as it is if asJSON is set, and decodes it. Part of an answer is printed even when an error follows.
func askForAnswer(ctx context.Context, cfg *configs.Config, s streams, req agent.Request, asJSON bool, answer any) error {
	var text bytes.Buffer
	err := askStore(ctx, cfg, s, req, &text)
	if text.Len() > 0 && asJSON {
		_, _ = s.out.Write(text.Bytes())
	}
	if err != nil {
		return err
	}
	return decodeAnswer(text.Bytes(), answer)
}

func decodeAnswer(text []byte, answer any) error {
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// printJSON prints an answer made here.
func printJSON(s streams, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_, err = fmt.Fprintf(s.out, "%s\n", text)
	return err
}

// writeOut has fn write to standard output, for "-", or to a file that is there only when it is whole and on disk.
func writeOut(s streams, name string, fn func(io.Writer) error) (err error) {
	if name == "-" {
		return fn(s.out)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; name a file in it", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".tmp-*")
	if err != nil {
		return fmt.Errorf("make the file: %w", notThere(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = fn(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// A lineCounter counts what goes through it.
type lineCounter struct {
	w     io.Writer
	lines int64
}

func (c *lineCounter) Write(b []byte) (int, error) {
	c.lines += int64(bytes.Count(b, []byte{'\n'}))
	return c.w.Write(b)
}
