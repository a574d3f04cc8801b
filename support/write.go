package support

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/doctor"
	"edgeagent/logs"
	"edgeagent/status"
)

// Options say whom the file is about.
type Options struct {
	File    string          // of the configuration
	Config  *configs.Config // nil if it cannot be used
	Fault   error           // why not
	Version string          // of this program, as edgeagent version prints it
	Doctor  doctor.Report
	Now     time.Time
}

// Write writes the file. What cannot be had is said in its place; only an error of w is returned.
func Write(ctx context.Context, w io.Writer, o Options) error {
	raw, _ := os.ReadFile(o.File)
	secrets := SecretsIn(string(raw))
	if o.Config != nil {
		secrets = append(secrets, SecretsOf(o.Config)...)
	}
	hide := NewRedactor(secrets...)
	var b bytes.Buffer
	fmt.Fprintf(&b, "edgeagent support file of %s\n%s\nPasswords and tokens are shown as %s. Topics, names of sensors and addresses are not hidden. Look this over before you send it.\n",
		o.Now.UTC().Format(time.RFC3339), o.Version, hidden)
	for _, s := range []struct {
		title string
		fill  func(context.Context, io.Writer, Options) error
	}{
		{"doctor", writeDoctor},
		{"machine", writeMachine},
		{"configuration", writeConfig},
		{"status", writeStatus},
		{"store", writeStore},
		{"data folder", writeFolder},
		{"log", writeLog},
	} {
		fmt.Fprintf(&b, "\n===== %s =====\n", s.title)
		if err := s.fill(ctx, &b, o); err != nil {
			fmt.Fprintf(&b, "not to be had: %v\n", err)
		}
	}
	if _, err := io.WriteString(w, hide.Hide(b.String())); err != nil {
		return err // of w, which its owner knows to name
	}
	return nil
}

func writeDoctor(_ context.Context, w io.Writer, o Options) error { return o.Doctor.Text(w) }

// writeConfig writes the configuration with its defaults, or, where it cannot be used, the text of its file.
func writeConfig(_ context.Context, w io.Writer, o Options) error {
	fmt.Fprintf(w, "# %s\n", o.File)
	if o.Config != nil {
		return o.Config.Render(w)
	}
	text, err := os.ReadFile(o.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# it cannot be used: %v\n", strings.ReplaceAll(fmt.Sprint(o.Fault), "\n", "\n# "))
	_, err = io.WriteString(w, hideRaw(string(text)))
	return err
}

func writeStatus(ctx context.Context, w io.Writer, o Options) error {
	if o.Config == nil {
		return errNoConfig
	}
	r, err := status.Ask(ctx, agent.SocketPath(o.Config.Buffer.Dir))
	if err != nil {
		return err
	}
	r.Text(w)
	return nil
}

func writeStore(ctx context.Context, w io.Writer, o Options) error {
	if o.Config == nil {
		return errNoConfig
	}
	req := agent.Request{Action: agent.ActionStats}
	err := status.Do(ctx, agent.SocketPath(o.Config.Buffer.Dir), req, w)
	if err == nil {
		return nil
	}
	return agent.ControlStopped(ctx, agent.Options{Config: o.Config, Logger: quiet(), LockTimeout: time.Second}, req, w)
}

// writeFolder lists what lies in the data folder.
func writeFolder(_ context.Context, w io.Writer, o Options) error {
	if o.Config == nil {
		return errNoConfig
	}
	entries, err := os.ReadDir(o.Config.Buffer.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(w, "%s %12d %s %s\n", info.Mode(), info.Size(), info.ModTime().UTC().Format(time.RFC3339), logs.Clean(e.Name(), 200))
		}
	}
	return nil
}
