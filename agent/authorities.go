package agent

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"edgeagent/configs"
)

// AuthoritiesOf gives the authorities of a TLS section as its ca_file has them at each call: the same pool as long as that has not changed, so
// that an authority that is exchanged in the field needs no restart. nil where the section names none. The pool before goes on while
// the file cannot be read, as in the middle of being written; nil if there was none yet. Safe for concurrent use.
func AuthoritiesOf(key string, c configs.TLS, log *slog.Logger) func() *x509.CertPool {
	if c.CAFile == "" {
		return nil
	}
	a := &authorities{key: key, file: c.CAFile, log: log}
	return a.now
}

// authorities are those of a file that somebody exchanges.
type authorities struct {
	key, file string
	log       *slog.Logger

	mu   sync.Mutex // guards what follows
	text []byte     // that pool is made of
	pool *x509.CertPool
	told string // why the file could not be used, said once
}

func (a *authorities) now() *x509.CertPool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.readLocked(); err != nil && err.Error() != a.told {
		a.told = err.Error()
		a.log.Warn("tls: the authorities cannot be read again; those before go on", "cause", err)
	}
	return a.pool
}

func (a *authorities) readLocked() error {
	text, err := os.ReadFile(a.file)
	if err != nil {
		return fmt.Errorf("%s.ca_file: %w", a.key, err)
	}
	if a.pool == nil || !bytes.Equal(text, a.text) {
		pool, err := poolOf(a.key, a.file, text)
		if err != nil {
			return err
		}
		if a.pool != nil {
			a.log.Info("tls: the authorities have changed; the next connection is judged by them", "key", a.key+".ca_file", "file", a.file)
		}
		a.text, a.pool = text, pool
	}
	a.told = ""
	return nil
}

// poolOf are the certificates in the text of a ca_file.
func poolOf(key, file string, text []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s.ca_file: %s holds no PEM certificate", key, file)
	}
	return pool, nil
}
