package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
)

// What is done by hand to the store of a stopped agent leaves the file of the former version: whether the way back is needed shows when the agent
// has run.
func TestByHandKeepsTheFormerFile(t *testing.T) {
	text := "[gateway]\nid = \"gw\"\n[[source]]\ntopic = \"s/{sensor}\"\n[uplink]\nurl = \"http://127.0.0.1:1\"\ndatabase = \"d\"\n"
	cfg, err := configs.Parse("t.toml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil)
	r.live("a", 0, 1)
	r.live("a", 1000, 2)
	r.note()
	r.close()
	other := newRig(t, nil)
	other.close()
	var exported bytes.Buffer
	if _, err := ExportStore(optionsFor(other.dir, "gw"), &exported); err != nil {
		t.Fatal(err)
	}
	ask := func(req Request) func(Options) error {
		return func(o Options) error { return ControlStopped(t.Context(), o, req, io.Discard) }
	}
	for _, c := range []struct {
		name string
		do   func(Options) error
	}{
		{"requeue", ask(Request{Action: ActionRequeue, All: true})},
		{"readmit", ask(Request{Action: ActionReadmit})},
		{"stats", ask(Request{Action: ActionStats})},
		{"advise", ask(Request{Action: ActionAdvise, Loss: 0.01})},
		{"import", func(o Options) error {
			_, err := ImportStore(o, bytes.NewReader(exported.Bytes()), true)
			return err
		}},
		{"rewind", func(o Options) error {
			_, err := Rewind(o, RewindRequest{To: time.Unix(0, t0)})
			return err
		}},
		{"compact", func(o Options) error {
			_, _, err := buffer.Compact(o.StoreByHand())
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg.Buffer.Dir = t.TempDir()
			if err := os.CopyFS(cfg.Buffer.Dir, os.DirFS(r.dir)); err != nil {
				t.Fatal(err)
			}
			former := filepath.Join(cfg.Buffer.Dir, "edgeagent.db.schema-1")
			if err := os.WriteFile(former, []byte("of the former version"), 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{Version: "v", Config: cfg, BuildDate: testBuild, Logger: slog.New(slog.DiscardHandler)}
			for range 2 { // the first follows an orderly stop, the second what the first has left
				if err := c.do(o); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(former); err != nil {
				t.Errorf("the former file is gone: %v", err)
			}
		})
	}
}

// A dry run changes nothing: it closes no window of a former configuration either.
func TestReadmitDryRunOnly(t *testing.T) {
	text := "[gateway]\nid = \"other\"\n[[source]]\ntopic = \"s/{sensor}\"\n[window]\nsize = \"1h\"\n[uplink]\nurl = \"http://127.0.0.1:1\"\ndatabase = \"d\"\n"
	cfg, err := configs.Parse("t.toml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil)
	r.live("a", 10, 1)
	r.batch.Rejected = []buffer.Raw{{Topic: "s/a", Payload: []byte("21.5"), Arrival: t0, Reason: "decode"}, {Topic: "s/a", Payload: []byte("?"), Arrival: t0, Reason: "value"}}
	r.note()
	r.batch.Rejected = nil
	r.close()
	before, err := os.ReadFile(buffer.Path(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Buffer.Dir = r.dir
	o := Options{Version: "v", Config: cfg, BuildDate: testBuild, Logger: slog.New(slog.DiscardHandler)}
	var out bytes.Buffer
	if err := ControlStopped(t.Context(), o, Request{Action: ActionReadmit, DryRun: true}, &out); err != nil {
		t.Fatal(err)
	}
	var sum Readmitted
	if err := json.Unmarshal(out.Bytes(), &sum); err != nil || sum.Messages != 2 || sum.Accepted != 1 || sum.Refused != 1 || !sum.DryRun {
		t.Errorf("%s, %v; want 2 messages, one that could be read", out.String(), err)
	}
	after, err := os.ReadFile(buffer.Path(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a dry run has changed the store")
	}
}

func TestNoStoreByHand(t *testing.T) {
	for name, do := range map[string]func(Options) error{
		"export": func(o Options) error { _, err := ExportStore(o, io.Discard); return err },
		"rewind": func(o Options) error {
			_, err := Rewind(o, RewindRequest{To: time.Unix(0, t0), DryRun: true})
			return err
		},
		"readmit": func(o Options) error {
			return ControlStopped(t.Context(), o, Request{Action: ActionReadmit, DryRun: true}, io.Discard)
		},
	} {
		dir := t.TempDir()
		if err, want := do(optionsFor(dir, "gw")), "there is no store in "+dir+"; is buffer.dir right?"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
