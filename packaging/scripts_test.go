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
