package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
	"edgeagent/testbed"
)

// Refused points are listed with the server's words and sent again once it is mended, beside the running agent and without it.
func TestParkedAndRequeue(t *testing.T) {
	server := newPicky(t)
	b := newBox(t, server.URL)
	b.start()
	b.publish("good", 3600, "bad", 3600, "good", 1500)
	b.await("one point to be refused", func(r status.Report) bool { return r.Points.Parked == 1 && r.Points.Uploaded == 1 })
	var list []agent.ParkedPoint
	b.ask(&list, "parked")
	if len(list) != 1 || !strings.Contains(list[0].Line, "sensor=bad max=2.5,count=1i") || !strings.Contains(list[0].Reason, "field type conflict") {
		t.Fatalf("parked %+v", list)
	}
	b.says(exitDone, []string{"field type conflict", "1 points parked"}, "parked")
	b.says(exitUsage, []string{"--all"}, "requeue")
	b.says(exitUsage, []string{"--all"}, "requeue", "--all", "3")
	b.says(exitFailed, []string{"0 points queued again", "not parked: 77"}, "requeue", "77")

	server.mended.Store(true)
	var done agent.RequeueResult
	b.ask(&done, "requeue", fmt.Sprint(list[0].Seq))
	if done.Requeued != 1 || done.Parked != 0 {
		t.Errorf("requeued %+v", done)
	}
	b.await("it to be taken", func(r status.Report) bool { return r.Points.Uploaded == 2 && r.Points.Queued == 0 && r.Points.Balanced })

	server.mended.Store(false)
	b.publish("bad", 1400, "good", 1400, "good", 0)
	b.await("another one to be refused", func(r status.Report) bool { return r.Points.Parked == 1 })
	b.halt()
	b.says(exitDone, []string{"1 points queued again; now 1 queued, 0 parked"}, "requeue", "--all")
	var st agent.StoreStats
	b.ask(&st, "stats")
	if st.Points.Queued != 1 || !st.Balanced || st.Floor == "" {
		t.Errorf("stats %+v", st)
	}
}

// With two servers each has refused points of its own, shown and asked back by its name.
func TestParkedOfSeveralUplinks(t *testing.T) {
	picky, other := newPicky(t), newPicky(t)
	other.mended.Store(true)
	b := newBox(t, picky.URL)
	b.mirror(other.URL)
	b.start()
	b.publish("good", 3600, "bad", 3600, "good", 1500)
	b.await("one to be refused", func(r status.Report) bool {
		c, m := r.Uplinks["central"].Points, r.Uplinks["mirror"].Points
		return c.Parked == 1 && c.Uploaded == 1 && m.Uploaded == 2 && c.Balanced && m.Balanced
	})
	var list []agent.ParkedPoint
	b.ask(&list, "parked")
	if len(list) != 1 || list[0].Uplink != "central" {
		t.Errorf("parked %+v", list)
	}
	b.says(exitDone, []string{"central  ", "1 points parked"}, "parked")
	b.says(exitDone, []string{"0 points parked"}, "parked", "--uplink", "mirror")
	b.says(exitFailed, []string{"there is no uplink \"third\"; there is central, mirror"}, "parked", "--uplink", "third")
	b.says(exitFailed, []string{"0 points queued again", "not parked: 2"}, "requeue", "--uplink", "mirror", "2")
	b.says(exitDone, []string{"for central", "for mirror", "1 parked"}, "stats")
	picky.mended.Store(true)
	b.says(exitDone, []string{"1 points queued again"}, "requeue", "--uplink", "central", "--all")
	b.await("it to be taken", func(r status.Report) bool {
		c, m := r.Uplinks["central"].Points, r.Uplinks["mirror"].Points
		return c.Uploaded == 2 && c.Queued == 0 && m.Uploaded == 2 && c.Balanced && m.Balanced
	})
	b.halt()
	b.says(exitDone, []string{"sound"}, "check")
}

// Messages that a wrong path refused are read in again with the mended one, beside the running agent and without it.
func TestReadmitCommand(t *testing.T) {
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprint("running ", running), func(t *testing.T) {
			b := newBox(t, "http://127.0.0.1:1")
			b.configure("temp")
			b.start()
			b.publish("a", 3600, "a", 3500, "b", 3600)
			b.await("three to be rejected", func(r status.Report) bool { return r.Ledger.Rejected["no_value"] == 3 && r.MQTT.Unacked == 0 })
			b.says(exitDone, []string{"3 rejected messages looked at: 0 were accepted, 0 in part, 3 are still refused"}, "readmit")
			b.halt()
			b.configure("temperature")
			if running {
				b.start()
			}
			b.says(exitDone, []string{"3 would be accepted", "3 readings"}, "readmit", "--dry-run")
			var r agent.Readmitted
			b.ask(&r, "readmit")
			if r.Accepted != 3 || r.Columns["windowed"] != 3 || r.Columns["rejected_no_value"] != -3 || len(r.Columns) != 2 {
				t.Errorf("readmitted %+v", r)
			}
			b.says(exitDone, []string{"0 rejected messages looked at"}, "readmit")
			if !running {
				b.start()
			}
			b.await("the books", func(r status.Report) bool {
				return r.Ledger.Received == 3 && r.Ledger.Windowed == 3 && r.Ledger.Balanced && r.Windows.Open == 2
			})
			b.halt()
		})
	}
}

// Lines can be carried out by hand while the agent runs; the whole store only when it does not, and then another card goes on.
func TestExportAndImport(t *testing.T) {
	b := newBox(t, "http://127.0.0.1:1")
	b.start()
	b.publish("a", 3600, "a", 3500, "a", 60, "a", 3590)
	b.await("two points to wait", func(r status.Report) bool { return r.Points.Queued >= 1 && r.Ledger.Late == 1 })
	home := t.TempDir()
	lines, store := filepath.Join(home, "points.lp"), filepath.Join(home, "gw.store")
	b.says(exitDone, []string{" lines written"}, "export", lines)
	text, err := os.ReadFile(lines)
	if err != nil || !strings.HasPrefix(string(text), "temperature,gateway=gw,sensor=a max=") {
		t.Errorf("exported %q, %v", text, err)
	}
	b.says(exitDone, []string{"0 lines written"}, "export", "--late", "-")
	b.says(exitFailed, []string{"in use", "stop the agent first"}, "export", "--all", store)
	if _, err := os.Stat(store); err == nil {
		t.Error("a file is left of an export that failed")
	}
	b.halt()
	b.says(exitDone, []string{" records written"}, "export", "--all", store)
	var before, after agent.StoreStats
	b.ask(&before, "stats")
	b.says(exitFailed, []string{"not empty", "--merge-points"}, "import", store)

	other := *b
	other.dir, other.config = filepath.Join(home, "data"), filepath.Join(home, "edgeagent.toml")
	other.configure("temperature")
	var in agent.ImportResult
	other.ask(&in, "import", store)
	other.ask(&after, "stats")
	if in.From != "gw" || after.Points != before.Points || after.Floor != before.Floor || after.JournalRecords != before.JournalRecords {
		t.Errorf("imported %+v: %+v, before %+v", in, after, before)
	}
	other.start()
	other.await("the books of the old card", func(r status.Report) bool { return r.Ledger.Received == 4 && r.Ledger.Late == 1 && r.Ledger.Balanced })
	other.says(exitFailed, []string{"in use", "stop the agent first"}, "import", store)
	other.says(exitFailed, []string{"in use", "stop the agent first"}, "import", "--merge-points", store)
	other.halt()
	other.says(exitFailed, []string{"not an exported store"}, "import", "--merge-points", lines)
}

func TestRewindCommand(t *testing.T) {
	b := newBox(t, "http://127.0.0.1:1")
	text, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.config, append(text, "[watermark]\nmax_future = \"0s\"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	b.says(exitFailed, []string{"no store"}, "rewind", "--to", "2026-01-01T00:00:00Z")
	b.start()
	b.publish("a", 600, "poison", -86400*365, "a", 500)
	b.await("all to be late", func(r status.Report) bool { return r.Ledger.Late == 1 })
	now := time.Now().UTC().Format(time.RFC3339)
	b.says(exitFailed, []string{"stop the agent first"}, "rewind", "--to", now)
	b.halt()
	b.says(exitUsage, []string{"--to"}, "rewind")
	b.says(exitUsage, []string{"--to"}, "rewind", "--to", "yesterday")
	b.says(exitDone, []string{"nothing was changed", "readings taken back 1"}, "rewind", "--to", now, "--dry-run")
	var r agent.Rewound
	b.ask(&r, "rewind", "--to", now, "--force")
	if !r.Changed || r.Rewinds != 1 || r.TakenBack != 1 || r.MaxEventTime.After != r.To {
		t.Errorf("rewound %+v", r)
	}
	b.says(exitDone, []string{"nothing lies ahead of"}, "rewind", "--to", now)
	b.start()
	b.publish("a", 10)
	b.await("a reading to be windowed", func(r status.Report) bool {
		return r.Ledger.Windowed == 2 && r.Ledger.Rejected["future"] == 1 && r.Ledger.Balanced && r.Points.Balanced
	})
	b.halt()
}

// Every command shows an example, and fails in one line where there is no store.
func TestBufferHelpAndErrors(t *testing.T) {
	b := &box{t: t, dir: filepath.Join(t.TempDir(), "none"), broker: testbed.StartMosquitto(t, testbed.MosquittoOptions{}), server: "http://127.0.0.1:1"}
	b.config = filepath.Join(t.TempDir(), "edgeagent.toml")
	b.configure("temperature")
	for _, name := range []string{"stats", "parked", "requeue", "readmit", "export", "import", "rewind", "check", "compact", "salvage"} {
		code, out, _ := command(t, "buffer", name, "--help")
		if code != 0 || !strings.Contains(out, "edgeagent buffer "+name+" -c edgeagent.toml") {
			t.Errorf("%s --help: exit code %d, no example in\n%s", name, code, out)
		}
	}
	for _, args := range [][]string{{"stats"}, {"parked"}, {"requeue", "--all"}, {"readmit"}, {"export", "-"}, {"export", "--all", "-"}, {"rewind", "--to", "2026-01-01T00:00:00Z"}} {
		code, out, errs := command(t, append([]string{"buffer", args[0], "-c", b.config}, args[1:]...)...)
		if code != exitFailed || out != "" || !strings.HasPrefix(errs, "error: ") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("a folder was made")
	}
}
