package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/configs"
)

// asRoot ends the test unless it may give files away.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("needs root")
	}
	t.Skip("needs root")
}

// give makes a file with owner, group and mode.
func give(t *testing.T, file string, uid, gid int, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// What root sees is right, and the agent's user could not use, is told: files of the store, and secrets.
func TestBarred(t *testing.T) {
	asRoot(t)
	for _, c := range []struct {
		name     string
		dir      int // owner and group of the data folder
		uid, gid int
		mode     os.FileMode
		write    bool // barred from writing
		read     bool // barred from reading
	}{
		{"the agent's own", 4711, 4711, 4711, 0o600, false, false},
		{"made read-only", 4711, 4711, 4711, 0o444, true, false},
		{"left by root", 4711, 0, 0, 0o600, true, true},
		{"left by root, for all to read", 4711, 0, 0, 0o644, true, false},
		{"of the agent's group", 4711, 0, 4711, 0o640, true, false},
		{"of its group, for its owner only", 4711, 0, 4711, 0o600, true, true},
		{"of another group, which the user may be in", 4711, 0, 4712, 0o660, false, false},
		{"an agent that is root", 0, 4711, 4711, 0o400, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chown(dir, c.dir, c.dir); err != nil {
				t.Fatal(err)
			}
			secret := filepath.Join(t.TempDir(), "token")
			give(t, secret, c.uid, c.gid, c.mode)
			for _, name := range []string{"edgeagent.db", "floor"} {
				file := filepath.Join(dir, name)
				give(t, file, c.uid, c.gid, c.mode)
				got := judgeBarred(dir, seeBarred(dir))
				if c.write {
					expect(t, name, got, "FAIL store: …may not write "+file)
				} else {
					expect(t, name, got)
				}
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			conf := &configs.Config{}
			conf.Buffer.Dir, conf.HTTP.TokenFile = dir, secret
			got := judgeSecrets(seeSecrets(conf))
			if c.read != (got[0].Verdict == Fail) {
				t.Errorf("%+v, want a failure: %v", got, c.read)
			}
			if c.read && !strings.Contains(got[0].Next, "chown --reference="+dir+" "+secret) {
				t.Errorf("the next step is %q", got[0].Next)
			}
		})
	}
	expect(t, "no folder", judgeBarred("/no/such", seeBarred("/no/such")))
}
