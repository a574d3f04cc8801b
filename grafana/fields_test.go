package grafana

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

const realConfig = `[gateway]
id = "real"
[mqtt]
brokers = [%q]
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
[buffer]
dir = %q
[uplink]
url = %q
database = "real"
health_interval = "1s"
[http]
listen = ""
`

// fields compares the fields that the simulated fleet tells with those of a real agent, name and type: what a dashboard
// asks for is there. docs/central.md must name every field that there is.
func fields(t *testing.T, influx *testbed.Influx) {
	influx.CreateDB("real")
	dir := t.TempDir()
	path := filepath.Join(dir, "edgeagent.toml")
	broker := fmt.Sprintf("tcp://127.0.0.1:%d", testbed.StartMosquitto(t, testbed.MosquittoOptions{}).Port)
	if err := os.WriteFile(path, []byte(fmt.Sprintf(realConfig, broker, dir, influx.URL())), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := testbed.Build(t)
	testbed.StartAgent(t, bin, path)
	real := map[string]string{}
	testbed.WaitFor(t, time.Minute, "a health line", func() bool {
		real = fieldTypes(influx, "real")
		return len(real) > 0
	})
	if kind, ok := real["behind_s"]; ok {
		t.Errorf("behind_s, of type %s, is there before the first reading", kind)
	}
	if out, err := exec.Command(bin, "simulate", "--broker", broker, "--sensors", "1", "--for", "2s").CombinedOutput(); err != nil {
		t.Fatalf("simulate: %v\n%s", err, out)
	}
	testbed.WaitFor(t, time.Minute, "a health line after a reading", func() bool {
		real = fieldTypes(influx, "real")
		return real["behind_s"] != ""
	})
	for name, kind := range fieldTypes(influx, "sensors") {
		if real[name] != kind {
			t.Errorf("the dashboards rest on %s of type %s, the agent tells %q", name, kind, real[name])
		}
	}
	text, err := os.ReadFile("../docs/central.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range real {
		if !strings.HasPrefix(name, "rejected_") && !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/central.md does not tell of %s", name)
		}
	}
}

func fieldTypes(influx *testbed.Influx, db string) map[string]string {
	types := map[string]string{}
	for _, s := range influx.Query(db, `SHOW FIELD KEYS FROM "edgeagent"`) {
		for _, row := range s.Values {
			types[fmt.Sprint(row[0])] = fmt.Sprint(row[1])
		}
	}
	return types
}
