package uplink

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"
)

// explain puts an error of the network into words that tell a technician where to look; now is the gateway's clock.
func explain(err error, now time.Time) string {
	var (
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		dns     *net.DNSError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return outsideValidity(invalid.Cert, now)
	case errors.As(err, &unknown):
		return err.Error() + "; if the server has a certificate of your own, name its CA in tls.ca_file"
	case errors.As(err, &name):
		return err.Error() + "; is the address right? tls.server_name sets another name"
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s cannot be resolved: %s", dns.Name, dns.Err)
	}
	return err.Error()
}

// outsideValidity tells of a certificate whose time is over or has not come. On a gateway without a clock chip the clock
// is as likely wrong.
func outsideValidity(c *x509.Certificate, now time.Time) string {
	const layout = time.RFC3339
	state := "has expired"
	if now.Before(c.NotBefore) {
		state = "is not valid yet"
	}
	return fmt.Sprintf("the server's certificate (%s) %s, or this gateway's clock is wrong: it is valid from %s to %s, and the clock says %s",
		c.Subject, state, c.NotBefore.UTC().Format(layout), c.NotAfter.UTC().Format(layout), now.UTC().Format(layout))
}
