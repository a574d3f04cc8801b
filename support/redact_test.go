package support

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestHideKnown(t *testing.T) {
	const secret = `s3cr/t+"ö value`
	r := NewRedactor(secret, "", "ab", "s3cr") // one that another begins with, and two that are too short
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		hex.EncodeToString([]byte(secret)), strings.Trim(fmt.Sprintf("%q", secret), `"`)} {
		if got := r.Hide("before <" + form + "> after"); got != "before <***> after" {
			t.Errorf("%s: got %s", form, got)
		}
	}
	if got := r.Hide("about ab"); got != "about ab" {
		t.Errorf("a short secret was looked for: %s", got)
	}
}

// What has the look of a secret is hidden though nobody knows it; what only names one stays.
func TestHideUnknown(t *testing.T) {
	r := NewRedactor()
	for _, c := range []struct{ text, want string }{
		{"mqtt://user:pass@host:1883/x", "mqtt://***@host:1883/x"},
		{"http://token@host", "http://***@host"},
		{"http://h/write?db=d&token=abcdef&x=1", "http://h/write?db=d&token=***&x=1"},
		{"http://h/query?u=w&password=abc", "http://h/query?u=w&password=***"},
		{"Authorization: Bearer abcdef.ghi-jkl", "Authorization: Bearer ***"},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***"},
		{`password = "open sesame"`, `password = ***`},
		{`{"password": "open sesame"}`, `{"password": ***}`},
		{`token = 'x y'`, `token = ***`},
		{`password = "open \"sesame\" now" # x`, `password = *** # x`},
		{"password = \"open sesame\nurl = 1", "password = ***\nurl = 1"}, // as far as its line: the quote never ends
		{"password = \"\"\"\nopen\n sesame\"\"\"\nurl = 1", "password = ***\nurl = 1"},
		{"password = '''open\nsesame'''", "password = ***"},
		{"they hold a secret:\nhost vm", "they hold a secret:\nhost vm"}, // the next line is another matter
		{`password = "${SECRET}"`, `password = "${SECRET}"`},
		{`password = ""`, `password = ""`},
		{`password_file = "/etc/edgeagent/password"`, `password_file = "/etc/edgeagent/password"`},
		{`token_file = "/run/token"`, `token_file = "/run/token"`},
		{"status page  url=http://127.0.0.1:9273/ token=false", "status page  url=http://127.0.0.1:9273/ token=false"},
		{"check the token, its permissions", "check the token, its permissions"},
		// sentences stay
		{"read token or password: read secret: open /run/token: no such file", "read token or password: read secret: open /run/token: no such file"},
		{"read token or password: open /run/token: permission denied", "read token or password: open /run/token: permission denied"},
		{"secrets: uplink.token_file: /run/token is not there", "secrets: uplink.token_file: /run/token is not there"},
		{"the token is wrong, or the token cannot write", "the token is wrong, or the token cannot write"},
		{"the server wants basic authentication", "the server wants basic authentication"},
		{`WWW-Authenticate: Bearer realm="x"`, `WWW-Authenticate: Bearer realm="x"`},
		{"token expired. Bad credentials: invalid", "token expired. Bad credentials: invalid"},
		{"the broker rejects user name or password: check mqtt.username", "the broker rejects user name or password: check mqtt.username"},
		// and secrets go, though they are made of letters
		{"unauthorized access: token hunterhunter", "unauthorized access: token ***"},
		{"password: sesame", "password: ***"},
		{"password:open", "password:***"},
		{"password=open", "password=***"},
		{"token: opened", "token: ***"},
		{"token readonly", "token ***"},
		{"bad password: Open", "bad password: ***"},
		{"password: 12345", "password: ***"},
		{`password: "open"`, `password: ***`},
		{"Token secret-token", "Token ***"},
		{"basic authenticatio", "basic ***"},
	} {
		if got := r.Hide(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// A configuration that cannot be used may have a secret anywhere: a key that no section has hides its value, however that is written.
func TestHideRaw(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[uplink]\nurl = \"http://h\"\n", "[uplink]\nurl = \"http://h\"\n"},
		{"pasword = \"open sesame\"\nurl = 1\n", "pasword = ***\nurl = 1\n"},
		{"  uplink.Passwort=\"open sesame\"", "  uplink.Passwort=***"},
		{"# tokn = open sesame\n# a remark\n", "# tokn = ***\n# a remark\n"},
		{"password = open sesame, please\n", "password = ***\n"},
		{"password = \"${SECRET}\"\n", "password = \"${SECRET}\"\n"},
		{"password_file = \"/etc/pw\"\n", "password_file = \"/etc/pw\"\n"},
		{"password_file = \"hunter2\"\n", "password_file = ***\n"},
		{"token_file = 'hunter2'\n", "token_file = ***\n"},
		{"token_file = \"/hunter/Zm9v==\"\n", "token_file = ***\n"},
		{"token_file = hunter2/x\n", "token_file = ***\n"},
		{"mqtt.tls.key_file = \"-----BEGIN\nabc\n\"\nurl = 1\n", "mqtt.tls.key_file = ***\nurl = 1\n"},
		{"token_file = '/run/token' # x\n", "token_file = '/run/token' # x\n"},
		{"token_file = \"${CREDENTIALS_DIRECTORY}/token\"\n", "token_file = \"${CREDENTIALS_DIRECTORY}/token\"\n"},
		{"password = \"open\n sesame\"\nbase64==\n[log]\nlevel = 1\n", "password = ***\n[log]\nlevel = 1\n"}, // goes on over the line's end
		{"brokers = [\n  \"tcp://h\",\n]\n", "brokers = [\n  \"tcp://h\",\n]\n"},
	} {
		if got := hideRaw(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSecretsIn(t *testing.T) {
	t.Setenv("EA_TEST_SECRET", "planted")
	t.Setenv("EA_TEST_EMPTY", "")
	if got := SecretsIn(`a = "${EA_TEST_SECRET}" b = "${EA_TEST_EMPTY}${EA_TEST_MISSING}"`); len(got) != 1 || got[0] != "planted" {
		t.Errorf("got %q", got)
	}
}
