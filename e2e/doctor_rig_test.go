package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// A diagnosis is what doctor says, by check.
type diagnosis struct {
	t    *testing.T
	code int
	all  []struct{ Check, Verdict, Text, Next string }
}

// diagnose runs doctor.
func diagnose(t *testing.T, w *gateway, listen string) diagnosis {
	t.Helper()
	out, errs, code := w.prog.output(t, "doctor", "-c", w.conf, "--json", "--listen", listen)
	d := diagnosis{t: t, code: code}
	var report struct {
		Verdict string
		Checks  []struct{ Check, Verdict, Text, Next string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || errs != "" {
		t.Fatalf("doctor: %v, stderr %q, output %s", err, errs, out)
	}
	d.all = report.Checks
	return d
}

// says fails the test unless there is a line of this check with this verdict and text.
func (d diagnosis) says(verdict, check, text string) {
	d.t.Helper()
	for _, l := range d.all {
		if l.Verdict == verdict && l.Check == check && strings.Contains(l.Text, text) && (verdict == "OK") == (l.Next == "") {
			return
		}
	}
	d.t.Errorf("no line %s %s with %q in %s", verdict, check, text, d)
}

// nothing fails the test if a check has failed that is not among but, and unless the exit code fits.
func (d diagnosis) nothing(but ...string) {
	d.t.Helper()
	failed := 0
	for _, l := range d.all {
		if l.Verdict != "FAIL" {
			continue
		}
		failed++
		if !strings.Contains(" "+strings.Join(but, " ")+" ", " "+l.Check+" ") {
			d.t.Errorf("%s failed: %s", l.Check, l.Text)
		}
	}
	if want := min(1, failed); d.code != want {
		d.t.Errorf("exit code %d, want %d: %s", d.code, want, d)
	}
}

func (d diagnosis) String() string {
	var b strings.Builder
	for _, l := range d.all {
		fmt.Fprintf(&b, "\n%s %s: %s -> %s", l.Verdict, l.Check, l.Text, l.Next)
	}
	return b.String()
}

// guardedBroker asks for a password; edge may read what the access rules say.
func guardedBroker(t *testing.T, rules string) *testbed.Broker {
	t.Helper()
	dir := t.TempDir()
	hashed, acl := filepath.Join(dir, "passwords"), filepath.Join(dir, "acl")
	if out, err := exec.Command(testbed.Need(t, "mosquitto_passwd"), "-b", "-c", hashed, "edge", "open sesame").CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v\n%s", err, out)
	}
	writeFile(t, acl, rules)
	for _, f := range []string{hashed, acl} {
		if err := os.Chmod(f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return newBroker(t, testbed.MosquittoOptions{Conf: []string{"allow_anonymous false", "password_file " + hashed, "acl_file " + acl}})
}

// secretFile makes a file with a secret and returns the line that names it.
func secretFile(t *testing.T, key, secret string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), key)
	writeFile(t, file, secret+"\n")
	return fmt.Sprintf("%s = %q\n", key, file)
}
