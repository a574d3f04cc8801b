package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

func TestControl(t *testing.T) {
	fields := command(t, nil, "dpkg-deb", "--field", deb(t))
	for _, want := range []string{"Package: edgeagent\n", "Version: " + debVersion + "\n", "Architecture: " + debArch(t) + "\n", "Depends: passwd\n"} {
		if !strings.Contains(fields, want) {
			t.Errorf("control has no %q:\n%s", want, fields)
		}
	}
	info := t.TempDir()
	command(t, nil, "dpkg-deb", "--control", deb(t), info)
	conffiles, err := os.ReadFile(filepath.Join(info, "conffiles"))
	if err != nil || string(conffiles) != "/etc/edgeagent/edgeagent.toml\n" {
		t.Errorf("conffiles: %q, %v", conffiles, err)
	}
}

// TestFiles compares what is in the package with a list: the modes, and that nobody but root owns anything.
func TestFiles(t *testing.T) {
	all := files(t, deb(t))
	want := map[string]int64{
		"usr/bin/edgeagent":                                   0o755,
		"usr/lib/edgeagent/firstboot":                         0o755,
		"etc/edgeagent/edgeagent.toml":                        0o644,
		"lib/systemd/system/edgeagent.service":                0o644,
		"lib/systemd/system/edgeagent-firstboot.service":      0o644,
		"usr/share/man/man1/edgeagent.1.gz":                   0o644,
		"usr/share/bash-completion/completions/edgeagent":     0o644,
		"usr/share/zsh/vendor-completions/_edgeagent":         0o644,
		"usr/share/fish/vendor_completions.d/edgeagent.fish":  0o644,
		"usr/share/doc/edgeagent/copyright":                   0o644,
		"usr/share/doc/edgeagent/THIRD_PARTY_NOTICES.txt.gz":  0o644,
		"usr/share/doc/edgeagent/guide.md":                    0o644,
		"usr/share/doc/edgeagent/troubleshooting.md":          0o644,
		"usr/share/doc/edgeagent/prometheus/alerts.yml":       0o644,
		"usr/share/doc/edgeagent/fleet.md":                    0o644,
		"usr/share/doc/edgeagent/grafana/fleet-influxql.json": 0o644,
		"usr/share/doc/edgeagent/grafana/fleet-flux.json":     0o644,
		"usr/share/doc/edgeagent/examples/mosquitto.conf":     0o644,
		"usr/share/doc/edgeagent/examples/edgeagent.init":     0o644,
	}
	for path, mode := range want {
		if f, ok := all[path]; !ok || f.mode() != mode || len(f.content) == 0 {
			t.Errorf("%s: there %v, mode %o, want %o, %d bytes", path, ok, f.mode(), mode, len(f.content))
		}
	}
	for path, f := range all {
		if f.Uid != 0 || f.Gid != 0 || f.mode()&0o022 != 0 {
			t.Errorf("%s belongs to %d:%d, mode %o", path, f.Uid, f.Gid, f.mode())
		}
		if !f.ModTime.Equal(time.Unix(testEpoch, 0)) {
			t.Errorf("%s is of %v, not of the commit", path, f.ModTime)
		}
		if _, ok := want[path]; !ok && f.Typeflag == tar.TypeReg && !strings.HasPrefix(path, "usr/share/doc/edgeagent/") {
			t.Errorf("%s is not on the list", path)
		}
	}
}

func (f file) mode() int64 {
	if f.Header == nil {
		return 0
	}
	return f.Mode & 0o7777
}

// TestPackagedConfig: every gateway must have an id of its own, so the package's configuration names none.
func TestPackagedConfig(t *testing.T) {
	text := string(files(t, deb(t))["etc/edgeagent/edgeagent.toml"].content)
	example, err := os.ReadFile("../configs/edgeagent.toml")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(string(example), "\nid = \"gw-07\"\n", "\n# id = \"gw-07\"\n", 1); text != want || want == string(example) {
		t.Errorf("packaged configuration:\n%s", text)
	}
	path := filepath.Join(t.TempDir(), "edgeagent.toml")
	if err := os.WriteFile(path, []byte(strings.Replace(text, "# id = ", "id = ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, nil, testbed.Build(t), "check", "-c", path)
}

// TestNotices: the licence of every module in the binary, as the binary itself tells them, is there.
func TestNotices(t *testing.T) {
	all := files(t, deb(t))
	bin, err := buildinfo.Read(bytes.NewReader(all["usr/bin/edgeagent"].content))
	if err != nil {
		t.Fatal(err)
	}
	text := unzip(t, all["usr/share/doc/edgeagent/THIRD_PARTY_NOTICES.txt.gz"].content)
	list := strings.Split(strings.Split(text, "\n\n")[1], "\n")
	want := []string{"  the Go standard library"}
	for _, m := range bin.Deps {
		want = append(want, "  "+m.Path+" "+m.Version)
	}
	slices.Sort(want[1:])
	if !slices.Equal(list, want) {
		t.Errorf("notices are of\n%s\nthe binary has\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range want {
		if _, after, ok := strings.Cut(text, "\n"+strings.TrimSpace(name)+"\n\n--- "); !ok || len(after) < 200 {
			t.Errorf("no licence of %s", name)
		}
	}
	command(t, nil, "go", "run", "./scripts/notices", "-check")
}

func unzip(t *testing.T, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManual: every command that --help lists has its section, and roff has nothing to complain of.
func TestManual(t *testing.T) {
	page := unzip(t, files(t, deb(t))["usr/share/man/man1/edgeagent.1.gz"].content)
	help := command(t, nil, testbed.Build(t), "--help")
	_, list, ok := strings.Cut(help, "Commands:\n")
	if !ok {
		t.Fatalf("no commands in\n%s", help)
	}
	n := 0
	for line := range strings.Lines(list) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), "  ")
		if !ok || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") {
			continue
		}
		name, _, _ = strings.Cut(name, " [")
		name, _, _ = strings.Cut(name, " <")
		if n++; !strings.Contains(page, "\n.SS edgeagent "+strings.ReplaceAll(name, "-", `\-`)) {
			t.Errorf("no section for %q", name)
		}
	}
	if n < 10 {
		t.Errorf("%d commands found in\n%s", n, list)
	}
	path := filepath.Join(t.TempDir(), "edgeagent.1")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if man, err := exec.LookPath("man"); err == nil { // a minimal Debian has none
		cmd := exec.Command(man, "--warnings", "-l", path)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat")
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		if err := cmd.Run(); err != nil || complaints.Len() > 0 {
			t.Errorf("man: %v: %s", err, complaints.String())
		}
	}
}
