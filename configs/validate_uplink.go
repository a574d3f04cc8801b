package configs

// checkUplink judges one uplink, if there is any. Replay and try do without; CheckRun asks for it.
func (l *loader) checkUplink(p path, u *Uplink) {
	if u.URL != "" {
		problem := ""
		if u.URL, problem = endpoint(u.URL); problem != "" {
			l.fault(p.key("url"), "%s", problem)
		}
		l.checkAPI(p, u)
	}
	l.oneSecret(p, "password", u.PasswordFile, u.Password)
	l.oneSecret(p, "token", u.TokenFile, u.Token)
	l.checkCredentials(p, u)
	if u.RetryMin > u.RetryMax {
		l.fault(p.key("retry_min"), "must be at most retry_max, %s %s", u.RetryMax, got(u.RetryMin))
	}
	if u.HealthInterval > 0 && u.HealthInterval < seconds(1) {
		l.fault(p.key("health_interval"), `must be "0s" for none, or at least 1s %s`, got(u.HealthInterval))
	}
	l.checkTLS(p.key("tls"), &u.TLS)
}

// apiKeys say where in the server the points go.
var apiKeys = map[string][]string{"v1": {"database", "retention_policy"}, "v2": {"org", "bucket"}, "v3": {"database"}}

// checkAPI asks for the keys that its api needs.
func (l *loader) checkAPI(p path, u *Uplink) {
	values := map[string]string{"org": u.Org, "bucket": u.Bucket, "database": u.Database}
	for _, key := range apiKeys[u.API] {
		switch {
		case key == "retention_policy": // the server has a default
		case values[key] == "":
			l.fault(p.key(key), "is missing; api = %q needs it", u.API)
		default:
			if problem := uncarriable(values[key]); problem != "" {
				l.fault(p.key(key), "%s", problem)
			}
		}
	}
}

func (l *loader) checkCredentials(p path, u *Uplink) {
	hasPassword, hasToken := u.PasswordFile+u.Password != "", u.TokenFile+u.Token != ""
	switch {
	case hasPassword && u.Username == "":
		l.fault(p.key("username"), "is missing; the password needs a user name")
	case hasToken && (hasPassword || u.Username != ""):
		l.fault(p.key("username"), "a token is given too; keep the token, or the user name and its password")
	}
}

// CheckRun reports what a run at a gateway needs beyond a valid file: a broker and an uplink. The error is an *Error.
// Replay and try need neither.
func (c *Config) CheckRun() error {
	o := c.origin
	if o == nil {
		o = &origin{file: "configuration"}
	}
	var faults []Fault
	if len(c.MQTT.Brokers) == 0 {
		faults = append(faults, o.fault(at("mqtt", "brokers"), `is missing; write brokers = ["tcp://HOST:1883"] below [mqtt]`))
	}
	for i := range c.Uplinks {
		if c.Uplinks[i].URL == "" {
			faults = append(faults, o.fault(o.uplink(i).key("url"), `is missing; write url = "http://HOST:8086" below %s`, c.header()))
		}
	}
	return faultsOf(o.file, faults)
}
