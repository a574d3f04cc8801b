package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/reading"
)

type tryCmd struct {
	configFlag
	Topic  string        `placeholder:"T" help:"Lines are bare payloads that came on this topic."`
	Listen time.Duration `placeholder:"D" help:"Take what the broker brings for so long, such as 30s, beside the agent."`
	JSON   bool          `name:"json" help:"Print one JSON object a message."`
	Files  []string      `arg:"" optional:"" help:"Messages as replay reads them; - is standard input."`
}

func (c tryCmd) Help() string {
	return `Shows what each source makes of messages: sensor, value in Celsius, time and window, or why there is no reading.
With --listen it looks on at the broker: in a session of its own, which leaves that of the agent alone.

Example: echo '{"temperature": 21.5}' | edgeagent try -c edgeagent.toml --topic sensors/kitchen/temperature
         edgeagent try --listen 30s`
}

func (c tryCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.Listen != 0 && (c.Listen < 0 || c.Topic != "" || len(c.Files) > 0) {
		return usageError{errors.New("--listen takes a time above 0, and neither --topic nor files beside it")}
	}
	if err := checkTopic(c.Topic); err != nil {
		return err
	}
	decoder, err := reading.Compile(cfg.Sources, cfg.Watermark.NotBefore)
	if err != nil {
		return err
	}
	t := newTrial(cfg, decoder, s.out, c.JSON)
	if c.Listen > 0 {
		return c.listen(ctx, s, cfg, t)
	}
	if len(c.Files) == 0 {
		c.Files = []string{"-"}
	}
	for _, name := range c.Files {
		if err := c.file(ctx, s, t, name); err != nil {
			return err
		}
	}
	return nil
}

// checkTopic refuses a filter where the topic of messages belongs: no source would be asked what the user means.
func checkTopic(topic string) error {
	if strings.ContainsAny(topic, "+#") {
		return usageError{fmt.Errorf("--topic %q: a message has a topic of its own, without + and #", topic)}
	}
	return nil
}

// file tries the messages of one file.
func (c tryCmd) file(ctx context.Context, s streams, t *trial, name string) error {
	in, err := openInput(s, "messages", name)
	if err != nil {
		return err
	}
	defer in.Close()
	rec, err := agent.NewRecording(name, in, c.Topic)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		m, err := rec.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.Arrival == reading.NoTime {
			m.Arrival = time.Now().UnixNano()
		}
		if err := t.message(m, len(m.Payload)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// listen tries what comes from the broker, and sums up.
func (c tryCmd) listen(ctx context.Context, s streams, cfg *configs.Config, t *trial) error {
	var filters []string
	for _, f := range t.decoder.Filters() {
		filters = append(filters, f.Topic)
	}
	t.maxFuture = int64(cfg.Watermark.MaxFuture)
	var failed error
	err := listenFor(ctx, c.Listen, cfg.MQTT, filters, s.err, func(d mqtt.Delivery) {
		if err := t.message(messageOf(d), d.Size); err != nil {
			failed = err
		}
	})
	out := s.out
	if c.JSON {
		out = s.err
	}
	return errors.Join(err, failed, t.sums.print(out))
}

// listenFor calls take for every message of the filters, for so long or until ctx ends; an interrupt is no error.
func listenFor(ctx context.Context, d time.Duration, m configs.MQTT, filters []string, warnings io.Writer, take func(mqtt.Delivery)) error {
	if len(m.Brokers) == 0 {
		return usageError{errors.New("no broker: mqtt.brokers is missing in the configuration; write brokers = [\"tcp://HOST:1883\"] below [mqtt]")}
	}
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	log := newLogger(configs.Log{Level: "error"}, warnings, nil)
	return unreached(agent.Observe(ctx, m, filters, log, take))
}

func messageOf(d mqtt.Delivery) reading.Message {
	return reading.Message{Topic: d.Topic, Payload: d.Payload, Retained: d.Retained, Arrival: d.Arrival.UnixNano()}
}
