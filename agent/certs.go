package agent

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"

	"edgeagent/configs"
)

// TLSOf builds what a TLS section asks for; nil if it asks for nothing. The key names the section in errors. A client certificate
// is read again for every connection, so that a renewed one needs no restart; for own authorities that change see AuthoritiesOf.
func TLSOf(key string, c configs.TLS, log *slog.Logger) (*tls.Config, error) {
	if c == (configs.TLS{}) {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%s.ca_file: %w", key, err)
		}
		if t.RootCAs, err = poolOf(key, c.CAFile, pem); err != nil {
			return nil, err
		}
	}
	if c.CertFile != "" {
		own := &clientCert{cert: c.CertFile, key: c.KeyFile, log: log}
		if err := own.load(); err != nil {
			return nil, fmt.Errorf("%s.cert_file and key_file: %w", key, err)
		}
		t.GetClientCertificate = own.get
	}
	return t, nil
}

// A clientCert is a client certificate with its key, in two files that somebody renews. Safe for concurrent use.
type clientCert struct {
	cert, key string
	log       *slog.Logger
	good      atomic.Pointer[tls.Certificate] // read last
}

// load reads both files.
func (c *clientCert) load() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) && at.Path == c.key {
			return configs.FileError(err)
		}
		return err
	}
	c.good.Store(&pair)
	return nil
}

// get is what a handshake presents to a server that asks: nothing, if the server would not take it. While the files do not fit each other, as
// in the middle of a renewal, the pair before goes on.
func (c *clientCert) get(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if err := c.load(); err != nil {
		c.log.Warn("tls: the client certificate cannot be read again; the one before goes on", "cert_file", c.cert, "key_file", configs.FileName(c.key), "error", err)
	}
	pair := c.good.Load()
	if asked.SupportsCertificate(pair) != nil {
		return new(tls.Certificate), nil // the server may do without
	}
	return pair, nil
}
