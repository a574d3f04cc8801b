package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of the value of a key that takes a file, what may be the secret itself is told by its length alone.
func TestWhatOfAFileNameIsShown(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("token", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		shown bool
	}{
		{"", true},
		{"/etc/edgeagent/secrets/token", true},
		{"/run/token", true},
		{"./secrets/token", true},
		{"../token", true},
		{"~/token", true},
		{"token", true}, // it is there
		{"hunter2", false},
		{"hunter2 with blanks", false},
		{"tok/en", false}, // random text has slashes too
		{"/token", true},
		{"dGhpcyBpcyBh/IHRva2Vu+IG9mIHNvcnRz==", false},
		{"/GhpcyBpcyBh/IHRva2Vu+IG9mIHNvcnRz==", false},
		{"apiv3_x9-Zk", false},
		{"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw/x\n-----END PRIVATE KEY-----", false},
	} {
		if got := ShowsFile(c.name); got != c.shown {
			t.Errorf("%q is shown: %v, want %v", c.name, got, c.shown)
		}
		if got := FileName(c.name); !c.shown && c.name != "" && strings.Contains(got, c.name) || c.shown && got != c.name {
			t.Errorf("%q is told as %q", c.name, got)
		}
		_, err := os.ReadFile(c.name)
		if err != nil && strings.Contains(FileError(err).Error(), c.name) != c.shown {
			t.Errorf("%q: error %v", c.name, FileError(err))
		}
	}
}

// A secret typed where the name of its file belongs is in nothing that check prints, whichever key it is and whatever its type.
func TestSecretInPlaceOfItsFile(t *testing.T) {
	const planted = "hunter2plain"
	head := "[gateway]\nid = \"gw\"\n[[source]]\ntopic = \"s/{sensor}\"\n"
	url := "[uplink]\nurl = \"https://h\"\ndatabase = \"d\"\n"
	for _, c := range []struct{ text, key string }{
		{head + url + "username = \"u\"\npassword_file = \"" + planted + "\"\n", "uplink.password_file"},
		{head + url + "token_file = \"" + planted + "\"\n", "uplink.token_file"},
		{head + url + "[uplink.tls]\ncert_file = \"/etc/c\"\nkey_file = \"" + planted + "\"\n", "uplink.tls.key_file"},
		{head + url + "[mqtt]\nbrokers = [\"tcp://h\"]\nusername = \"u\"\npassword_file = \"" + planted + "\"\n", "mqtt.password_file"},
		{head + url + "[mqtt]\nbrokers = [\"ssl://h\"]\n[mqtt.tls]\ncert_file = \"/etc/c\"\nkey_file = \"" + planted + "\"\n", "mqtt.tls.key_file"},
		{head + url + "[http]\ntoken_file = \"" + planted + "\"\n", "http.token_file"},
	} {
		cfg, err := Parse("t.toml", []byte(c.text), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		var shown bytes.Buffer
		if err := cfg.Render(&shown); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(append(cfg.Warnings(), cfg.FileWarnings()...), "\n")
		if !strings.Contains(said, c.key+": there is no such file; write the path") {
			t.Errorf("%s: warnings %q", c.key, said)
		}
		if strings.Contains(shown.String()+said, planted) {
			t.Errorf("%s: the secret is shown: %s\n%s", c.key, shown.String(), said)
		}
		number := strings.Replace(c.text, "\""+planted+"\"", "1234567890", 1)
		if _, err := Parse("t.toml", []byte(number), nil); err == nil || strings.Contains(err.Error(), "1234567890") {
			t.Errorf("%s: a number: %v", c.key, err)
		}
	}
}

// A file that is right is shown as ever.
func TestFileIsShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	cfg, err := Parse("t.toml", []byte("[gateway]\nid = \"gw\"\n[[source]]\ntopic = \"s/{sensor}\"\n[uplink]\nurl = \"https://h\"\napi = \"v1\"\ndatabase = \"d\"\ntoken_file = \""+path+"\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := cfg.Render(&shown); err != nil || !strings.Contains(shown.String(), "token_file = \""+path+"\"") {
		t.Errorf("%v, %s", err, shown.String())
	}
}
