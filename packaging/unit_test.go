package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// settings are the lines NAME=value of a unit, in order.
func settings(t *testing.T, path string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			all[name] = append(all[name], value)
		}
	}
	return all
}

// TestUnit holds what has been learned the hard way about the unit.
func TestUnit(t *testing.T) {
	unit := settings(t, "edgeagent.service")
	for name, want := range map[string]string{"Type": "notify", "Restart": "always", "ProtectSystem": "strict", "StateDirectory": "edgeagent",
		"User": "edgeagent", "StartLimitIntervalSec": "0", "CapabilityBoundingSet": "", "NoNewPrivileges": "yes"} {
		if got := unit[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, why := range map[string]string{
		"ProtectClock":             "adjtimex would fail, and a wrong clock be trusted",
		"ProcSubset":               "/proc/meminfo would be hidden, and the memory not limited",
		"RestartPreventExitStatus": "Go exits with 2 after a panic and after the watchdog's signal",
	} {
		if got, ok := unit[name]; ok {
			t.Errorf("%s=%s: %s", name, got, why)
		}
	}
	filters := unit["SystemCallFilter"]
	if n := len(filters); n == 0 || filters[n-1] != "adjtimex" {
		t.Errorf("system call filters are %q: adjtimex must come after @privileged, which holds it", filters)
	}
	if _, err := strconv.Atoi(strings.TrimSuffix(unit["WatchdogSec"][0], "min")); err != nil {
		t.Errorf("WatchdogSec is %q", unit["WatchdogSec"])
	}
}

// TestUnitPrograms: the units start nothing that a small Debian may not have; /bin/kill is such a thing, in the package procps.
func TestUnitPrograms(t *testing.T) {
	n := 0
	for _, name := range []string{"edgeagent.service", "edgeagent-firstboot.service"} {
		for key, values := range settings(t, name) {
			if !strings.HasPrefix(key, "Exec") {
				continue
			}
			for _, value := range values {
				n++
				program, _, _ := strings.Cut(strings.TrimLeft(value, "-@:+!"), " ")
				if !slices.Contains([]string{"/usr/bin/edgeagent", "/usr/lib/edgeagent/firstboot", "/bin/sh"}, program) {
					t.Errorf("%s: %s=%s", name, key, value)
				}
			}
		}
	}
	if n < 3 {
		t.Errorf("%d programs found", n)
	}
}

// steps are the settings that systemd knows from version 254 on.
var steps = regexp.MustCompile(`(?m)^Restart(Steps|MaxDelaySec)=.*\n`)

// systemdVersion is that of this machine.
func systemdVersion(t *testing.T, analyze string) int {
	t.Helper()
	out, err := exec.Command(analyze, "--version").Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 {
		t.Fatalf("systemd-analyze --version: %v: %s", err, out)
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestVerify: systemd itself finds nothing to say about the units.
func TestVerify(t *testing.T) {
	analyze := testbed.Need(t, "systemd-analyze")
	dir := t.TempDir()
	for _, name := range []string{"edgeagent.service", "edgeagent-firstboot.service"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The programs and the page are not installed here.
		text = regexp.MustCompile(`(?m)^(ExecStart=)\S+|^Documentation=.*`).ReplaceAll(text, []byte("${1}/bin/true"))
		text = []byte(strings.ReplaceAll(string(text), "\n/bin/true\n", "\n"))
		if systemdVersion(t, analyze) < 254 {
			text = steps.ReplaceAll(text, nil)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, "verify", "--recursive-errors=no", "--man=no", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Errorf("verify %s: %v\n%s", name, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, filepath.Join(dir, name)) {
				t.Errorf("verify %s: %s", name, line)
			}
		}
	}
}

// mostExposed is the score, in tenths, that the service must not exceed; systemd calls 20 and below OK.
const mostExposed = 18

func TestSecurity(t *testing.T) {
	analyze := testbed.Need(t, "systemd-analyze")
	out, err := exec.Command(analyze, "security", "--offline=true", "--threshold="+strconv.Itoa(mostExposed), "edgeagent.service").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "Overall exposure level") })
	if err != nil || i < 0 {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	t.Log(lines[i])
}
