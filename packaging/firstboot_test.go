package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// A box is a root folder with files by path.
type box map[string]string

const asks = "[gateway]\nid = \"${GATEWAY_ID}\"\n"

const (
	toml   = "etc/edgeagent/edgeagent.toml"
	env    = "etc/edgeagent/edgeagent.env"
	token  = "etc/edgeagent/secrets/token"
	card   = "boot/firmware/edgeagent.env"
	oldPi  = "boot/edgeagent.env"
	serial = "sys/firmware/devicetree/base/serial-number"
	wired  = "sys/class/net/eth0/address"
	radio  = "sys/class/net/wlan0/address"
)

func (b box) write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range b {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// content is what a file holds, "" if it is not there.
func content(root, name string) string {
	text, _ := os.ReadFile(filepath.Join(root, name))
	return string(text)
}

func firstboot(root string) (string, error) {
	out, err := exec.Command("./firstboot", root).CombinedOutput()
	return string(out), err
}

// boxes are first boots, by what is special about the box.
var boxes = map[string]struct {
	box       box
	id, token string // want; no id is no file
	says      string // for what goes wrong
}{
	"card":               {box{toml: asks, card: "GATEWAY_ID=gw-07\nTOKEN=s3cret==\n"}, "gw-07", "s3cret==", ""},
	"older Raspberry Pi": {box{toml: asks, oldPi: "GATEWAY_ID=gw-07\n"}, "gw-07", "", ""},
	"Windows editor":     {box{toml: asks, card: "\xef\xbb\xbfGATEWAY_ID=\"gw-07\" \r\nTOKEN='a b'\r\n"}, "gw-07", "a b", ""},
	"last line counts":   {box{toml: asks, card: "#GATEWAY_ID=no\nGATEWAY_ID=one\nGATEWAY_ID=two"}, "two", "", ""},
	"serial number":      {box{toml: asks, serial: "00000000ABCD1234\x00", wired: "b8:27:eb:00:00:01\n"}, "gw-abcd1234", "", ""},
	"serial and token":   {box{toml: asks, serial: "0001\x00", card: "TOKEN=x\n"}, "gw-1", "x", ""},
	"no serial":          {box{toml: asks, serial: "0000000000000000\x00", wired: "b8:27:EB:00:00:01\n", radio: "00:11:22:33:44:55\n"}, "gw-b827eb000001", "", ""},
	"radio alone":        {box{toml: asks, wired: "00:00:00:00:00:00\n", radio: "00:11:22:33:44:55\n"}, "gw-001122334455", "", ""},
	"nothing to go by":   {box{toml: asks}, "", "", "no id"},
	"bad id":             {box{toml: asks, card: "GATEWAY_ID=gw 07\n"}, "", "", "may hold letters"},
	"too long":           {box{toml: asks, card: "GATEWAY_ID=" + strings.Repeat("x", 65)}, "", "", "longer than 64"},
	"not asked":          {box{toml: "# id = \"${GATEWAY_ID}\"\nid = \"gw-1\"\n", card: "GATEWAY_ID=gw-07\nTOKEN=x\n"}, "", "", ""},
	"no configuration":   {box{card: "GATEWAY_ID=gw-07\n"}, "", "", "there is no"},
	"there already":      {box{toml: asks, env: "GATEWAY_ID=gw-01\n", card: "GATEWAY_ID=gw-07\nTOKEN=x\n"}, "gw-01", "", ""},
	"token already":      {box{toml: asks, token: "old\n", card: "GATEWAY_ID=gw-07\nTOKEN=new\n"}, "gw-07", "old", ""},
}

func TestFirstboot(t *testing.T) {
	for name, tt := range boxes {
		t.Run(name, func(t *testing.T) {
			root := tt.box.write(t)
			out, err := firstboot(root)
			if (err != nil) != (tt.says != "") || !strings.Contains(out, tt.says) {
				t.Errorf("%v: %q, want %q", err, out, tt.says)
			}
			want := ""
			if tt.id != "" {
				want = "GATEWAY_ID=" + tt.id + "\n"
			}
			if got := content(root, env); got != want {
				t.Errorf("%s holds %q, want %q", env, got, want)
			}
			if got := strings.TrimSuffix(content(root, token), "\n"); got != tt.token {
				t.Errorf("token %q, want %q", got, tt.token)
			}
			if tt.token != "" && tt.id != "" && strings.Contains(content(root, card), "TOKEN") {
				t.Errorf("the card still holds the token: %q", content(root, card))
			}
			if strings.Contains(out, "s3cret") {
				t.Errorf("the token is told: %q", out)
			}
			for _, name := range []string{env, token} {
				if info, err := os.Stat(filepath.Join(root, name)); err == nil && tt.box[name] == "" && info.Mode().Perm() != 0o640 {
					t.Errorf("%s has mode %o", name, info.Mode().Perm())
				}
			}
			first := content(root, env)
			if _, err := firstboot(root); err != nil && tt.says == "" || content(root, env) != first {
				t.Errorf("a second run: %v, %q", err, content(root, env))
			}
		})
	}
}

// TestFirstbootConfig: what the script writes is what the commands read.
func TestFirstbootConfig(t *testing.T) {
	root := box{toml: asks + "[mqtt]\nbrokers = [\"tcp://127.0.0.1:1883\"]\n[[source]]\ntopic = \"a/{s}\"\n[uplink]\nurl = \"http://127.0.0.1:8086\"\n" +
		"database = \"d\"\n", card: "GATEWAY_ID=gw-07\n"}.write(t)
	check := func() (string, error) {
		return run(nil, testbed.Build(t), "check", "-c", filepath.Join(root, toml))
	}
	if out, err := check(); err == nil || !strings.Contains(out, "GATEWAY_ID is not set") {
		t.Errorf("before: %v: %s", err, out)
	}
	if out, err := firstboot(root); err != nil || !strings.Contains(out, "this box is gw-07") {
		t.Fatalf("firstboot: %v: %s", err, out)
	}
	if out, err := check(); err != nil || !strings.Contains(out, "id = \"gw-07\"") {
		t.Errorf("after: %v: %s", err, out)
	}
}
