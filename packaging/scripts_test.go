package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestShell: every script is one for a plain sh, and for shellcheck where that is installed.
func TestShell(t *testing.T) {
	for _, name := range []string{"firstboot", "debian/postinst", "debian/prerm", "debian/postrm", "openwrt/edgeagent.init"} {
		if out, err := exec.Command("sh", "-n", name).CombinedOutput(); err != nil {
			t.Errorf("sh -n %s: %v\n%s", name, err, out)
		}
		if check, err := exec.LookPath("shellcheck"); err == nil {
			if out, err := exec.Command(check, "-s", "sh", name).CombinedOutput(); err != nil {
				t.Errorf("shellcheck %s: %v\n%s", name, err, out)
			}
		}
	}
}

// procd stands in for OpenWrt's shell functions and prints what they are told.
const procd = `procd_open_instance() { echo open; }
procd_set_param() { echo "$@"; }
procd_close_instance() { echo close; }
procd_send_signal() { echo signal "$@"; }
`

func TestOpenWrt(t *testing.T) {
	init, err := os.ReadFile("openwrt/edgeagent.init")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "edgeagent")
	for _, tt := range []struct{ name, program, call, want string }{
		{"start", "#!/bin/sh\nexit 0\n", "start_service",
			"open\ncommand BIN run -c /etc/edgeagent/edgeagent.toml\nrespawn 3600 5 0\nstderr 1\nterm_timeout 60\nlimits nofile=4096 4096\n" +
				"no_new_privs 1\nfile /etc/edgeagent/edgeagent.toml\nclose\n"},
		{"wrong configuration", "#!/bin/sh\nexit 2\n", "start_service || echo refused", "refused\n"},
		{"reload", "#!/bin/sh\nexit 0\n", "reload_service", "signal edgeagent * HUP\n"},
	} {
		if err := os.WriteFile(bin, []byte(tt.program), 0o755); err != nil {
			t.Fatal(err)
		}
		script := procd + strings.Replace(string(init), "/usr/bin/edgeagent", bin, 1) + "\n" + tt.call + "\n"
		out, err := exec.Command("sh", "-c", script).CombinedOutput()
		if got := strings.ReplaceAll(string(out), bin, "BIN"); err != nil || got != tt.want {
			t.Errorf("%s: %v: %q, want %q", tt.name, err, got, tt.want)
		}
	}
}

// TestDockerfile: what it copies from the checkout is there and not ignored, its build commands work, and the image holds
// what the program needs and runs as nobody in particular.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	made := map[string]bool{"/etc/ssl/certs/ca-certificates.crt": true} // the builder's image has it
	var last []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		switch f[0] {
		case "FROM":
			last = nil
		case "RUN":
			command := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(line), "RUN "), "/out/", out+"/")
			if !long(t) {
				command = strings.Replace(command, " -trimpath", "", 1) // else nothing that other tests compile can be used
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = ".."
			cmd.Env = append(os.Environ(), "VERSION=v1.2.3", "BUILD_DATE=2026-11-29T00:00:00Z")
			if printed, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("RUN %s: %v\n%s", command, err, printed)
			}
		case "COPY":
			checkCopy(t, f[1:], out, made)
		}
		last = append(last, strings.TrimSpace(line))
	}
	stage := strings.Join(last, "\n")
	for _, want := range []string{"FROM scratch\n", "USER 65532:65532\n", "VOLUME /var/lib/edgeagent\n", "--chown=65532:65532 /out/data /var/lib/edgeagent\n",
		"/etc/ssl/certs/ca-certificates.crt\n", "ENTRYPOINT [\"edgeagent\"]\nCMD [\"run\"]"} {
		if !strings.Contains(stage, want) {
			t.Errorf("the image has no %q:\n%s", want, stage)
		}
	}
	version, err := exec.Command(filepath.Join(out, "edgeagent"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(version), "edgeagent v1.2.3 (2026-11-29, ") {
		t.Errorf("the program in the image says %q, %v", version, err)
	}
}

// checkCopy looks for what a COPY takes: from the checkout, or from what the build has made.
func checkCopy(t *testing.T, args []string, out string, made map[string]bool) {
	t.Helper()
	from := false
	for _, arg := range args[:len(args)-1] {
		switch {
		case arg == "--from=build":
			from = true
		case strings.HasPrefix(arg, "--"):
		case from && made[arg]:
		case from:
			if _, err := os.Stat(strings.Replace(arg, "/out/", out+"/", 1)); err != nil {
				t.Errorf("COPY %s: the build does not make it: %v", arg, err)
			}
		default:
			if _, err := os.Stat(filepath.Join("..", arg)); err != nil {
				t.Errorf("COPY %s: %v", arg, err)
			}
		}
	}
}
