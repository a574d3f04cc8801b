package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/configs"
)

// A secret typed where the path of its file belongs is not in the errors that go to the log, the status and the doctor; a path is.
func TestErrorsOfSecretFiles(t *testing.T) {
	cert := newPair(t, "x")
	dir := t.TempDir()
	certFile := filepath.Join(dir, "cert.pem")
	if err := os.WriteFile(certFile, cert.cert, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]bool{"hunter2": false, "hun/ter/2": false, filepath.Join(dir, "token"): true} {
		_, err := secretFile(name, "")()
		_, tlsErr := TLSOf("uplink.tls", configs.TLS{CertFile: certFile, KeyFile: name}, nil)
		for what, err := range map[string]error{"secret": err, "key": tlsErr} {
			if err == nil || strings.Contains(err.Error(), name) != shown || !strings.Contains(err.Error(), "no such file") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}
