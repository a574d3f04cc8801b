package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Files with secrets that others can read or change are told of; what systemd and packages make is not.
func TestFileWarnings(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	const read, change = "every user of this machine can read the secret", "other users of this machine can change the secret"
	keys := []struct{ key, text string }{
		{"mqtt.password_file", "[mqtt]\nbrokers = [\"ssl://h\"]\nusername = \"u\"\npassword_file = %q\n"},
		{"mqtt.tls.key_file", "[mqtt]\nbrokers = [\"ssl://h\"]\n[mqtt.tls]\ncert_file = \"/none\"\nkey_file = %q\n"},
		{"uplink.password_file", "[uplink]\nurl = \"https://h\"\ndatabase = \"d\"\nusername = \"u\"\npassword_file = %q\n"},
		{"uplink.token_file", "[uplink]\nurl = \"https://h\"\ndatabase = \"d\"\ntoken_file = %q\n"},
		{"uplink.tls.key_file", "[uplink]\nurl = \"https://h\"\ndatabase = \"d\"\n[uplink.tls]\ncert_file = \"/none\"\nkey_file = %q\n"},
		{"uplink.token_file", "[[uplink]]\nname = \"a\"\nurl = \"https://h\"\ndatabase = \"d\"\n[[uplink]]\nname = \"b\"\nurl = \"https://i\"\ndatabase = \"d\"\ntoken_file = %q\n"},
		{"http.token_file", "[http]\ntoken_file = %q\n"},
	}
	file := filepath.Join(t.TempDir(), "secret")
	for _, k := range keys {
		c := mustParse(t, base+fmt.Sprintf(k.text, file))
		_ = os.Remove(file)
		if got := c.FileWarnings(); got != nil {
			t.Errorf("%s: of a file that is not there: %q", k.key, got)
		}
		if err := os.WriteFile(file, []byte("tell-nobody"), 0o600); err != nil {
			t.Fatal(err)
		}
		for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o440: "", 0o640: "", 0o644: read, 0o604: read, 0o660: change, 0o602: change, 0o777: read} {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			got := c.FileWarnings()
			if want == "" && got != nil || want != "" && (len(got) != 1 || !strings.Contains(got[0], ": "+k.key+": "+want) || !strings.Contains(got[0], fmt.Sprintf("%04o", mode)) || strings.Contains(got[0], "tell-nobody")) {
				t.Errorf("%s, mode %04o: %q, want %q", k.key, mode, got, want)
			}
		}
	}
}
