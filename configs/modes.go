package configs

import (
	"io/fs"
	"runtime"
)

// FileWarnings says, as Warnings does, which files with secrets others on this machine can read or change. Readable by the group is
// right: systemd shows its credentials so, and root:edgeagent 0640 is usual. Such a file is told of at every start, and used all the same: a
// gateway in the field must not stand still for that. A file that cannot be looked at is told of by whoever reads it, but a name that is no path is
// told of here: it may be the secret.
func (c *Config) FileWarnings() []string {
	if runtime.GOOS == "windows" {
		return nil // modes say nothing there
	}
	w := newWarner(c)
	for _, f := range c.secretFiles() {
		w.lookAt(f)
	}
	return w.lines()
}

// A secretFile is a file that holds a secret, and the key that names it.
type secretFile struct {
	at   path
	name string
}

// secretFiles are those that the configuration names.
func (c *Config) secretFiles() (list []secretFile) {
	all := []secretFile{
		{at("mqtt", "password_file"), c.MQTT.PasswordFile},
		{at("mqtt").key("tls").key("key_file"), c.MQTT.TLS.KeyFile},
	}
	for i := range c.Uplinks {
		u, p := &c.Uplinks[i], newWarner(c).origin.uplink(i)
		all = append(all, secretFile{p.key("password_file"), u.PasswordFile}, secretFile{p.key("token_file"), u.TokenFile},
			secretFile{p.key("tls").key("key_file"), u.TLS.KeyFile})
	}
	for _, f := range append(all, secretFile{at("http", "token_file"), c.HTTP.TokenFile}) {
		if f.name != "" {
			list = append(list, f)
		}
	}
	return list
}

// What others may do with a file by its mode.
const (
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o022 // the group too
)

func (w *warner) mode(f secretFile, mode fs.FileMode) {
	const remedy = "let it belong to the user of the service, and chmod 600 it (got mode %04o of %s)"
	switch m := mode.Perm(); {
	case m&othersRead != 0:
		w.warn(f.at, "every user of this machine can read the secret; "+remedy, m, f.name)
	case m&othersWrite != 0:
		w.warn(f.at, "other users of this machine can change the secret; "+remedy, m, f.name)
	}
}
