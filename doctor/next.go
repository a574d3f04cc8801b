package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"edgeagent/mqtt"
)

// brokerNext says what the reason why there is no connection to a broker asks for.
func brokerNext(err error, now time.Time) string {
	var refused *mqtt.RefusedError
	switch {
	case errors.As(err, &refused):
		return "mend it in [mqtt], or at the broker; its log says why it refused: journalctl -u mosquitto"
	case errors.Is(err, mqtt.ErrSilent), errors.Is(err, mqtt.ErrClosed), errors.Is(err, mqtt.ErrMalformed):
		return "is that the port of an MQTT broker, and tcp:// or ssl:// as it speaks there? journalctl -u mosquitto"
	}
	if next := networkNext(err, "mqtt.brokers", "mqtt.tls", now); next != "" {
		return next
	}
	return "does it run there? is a firewall between? journalctl -u mosquitto"
}

// serverNext says what the reason why a server of an uplink does not answer asks for.
func serverNext(err error, now time.Time) string {
	if next := networkNext(err, "url", "uplink.tls", now); next != "" {
		return next + " (points are kept meanwhile)"
	}
	return "is the link up? ping the server; is url right? points are kept meanwhile"
}

// networkNext is the next step after an error of name, network or TLS, "" if it is none of those; address is the key that says where to
// connect, table that of the certificates.
func networkNext(err error, address, table string, now time.Time) string {
	var (
		dns  *net.DNSError
		slow net.Error
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &dns) && dns.IsNotFound:
		return "is the name in " + address + " right? does the name server know it: getent hosts " + dns.Name
	case errors.As(err, &dns):
		return "is the network up, and the name server there? ip route; cat /etc/resolv.conf"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "name files that are there and that the agent's user can read"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: does the server run, and is the port in " + address + " right?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "is the network up? ip address; ip route"
	}
	if next := secureNext(err, address, table, now); next != "" {
		return next
	}
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return "does " + address + " name the right port, with TLS or without as the server speaks there? look at its log"
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return "is the address in " + address + " right? does it answer a ping? a firewall between drops without a word"
	}
	return ""
}

// asksForCertificate reports whether the other side ended a handshake for want of a certificate that it likes; the alert has no type of
// its own outside crypto/tls.
func asksForCertificate(err error) bool {
	_, alert, remote := strings.Cut(err.Error(), "remote error: tls: ")
	return remote && strings.Contains(alert, "certificate")
}

// secureNext is the next step after an error of TLS, "" if it is none.
func secureNext(err error, address, table string, now time.Time) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return "name the CA that signed it in " + table + ".ca_file; a self-signed certificate is its own CA"
	case errors.As(err, &name):
		return "is the address in " + address + " right? if so, name in " + table + ".server_name what the certificate is for"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore):
		return "set the clock of this gateway: timedatectl status"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate at the server; or is the clock of this gateway wrong? timedatectl status"
	case errors.As(err, &record):
		return "the server speaks no TLS there: is the port in " + address + " right, or is it one without TLS?"
	case asksForCertificate(err):
		return "the server wants another certificate of this client: " + table + ".cert_file and key_file; its log says why"
	case errors.As(err, &invalid):
		return "have the certificate made anew at the server"
	}
	return ""
}
