package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// What editors leave in a secret file is no part of the secret.
func TestSecretFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for text, want := range map[string]string{
		"tok": "tok", "tok\n": "tok", " tok \r\n\n": "tok", "\ufefftok\r\n": "tok", "\ufeff": "", "two words\n": "two words",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := secretFile(path, "")(); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}
