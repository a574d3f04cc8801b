package doctor

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"edgeagent/configs"
)

// A secret is a file that holds one.
type secret struct {
	key, path string // the path as it may be shown
	noPath    bool   // it may not: it may be the secret itself
	barred    bool   // the agent's user may not read it, though we may
	others    string // the folder whose owner that user is, if the file belongs to somebody else
	mode      fs.FileMode
	empty     bool
	err       error
}

// seeSecrets looks at every file with a secret that the configuration names.
func seeSecrets(c *configs.Config) []secret {
	named := [][2]string{{"mqtt.password_file", c.MQTT.PasswordFile}, {"mqtt.tls.key_file", c.MQTT.TLS.KeyFile}, {"http.token_file", c.HTTP.TokenFile}}
	for _, u := range c.Uplinks {
		named = append(named, [2]string{"uplink.password_file", u.PasswordFile}, [2]string{"uplink.token_file", u.TokenFile}, [2]string{"uplink.tls.key_file", u.TLS.KeyFile})
	}
	var all []secret
	for _, n := range named {
		if n[1] != "" {
			all = append(all, seeSecret(n[0], n[1], c.Buffer.Dir))
		}
	}
	return all
}

func seeSecret(key, path, dir string) secret {
	s := secret{key: key, path: configs.FileName(path), noPath: !configs.ShowsFile(path)}
	info, err := os.Stat(path)
	if err != nil {
		s.err = configs.FileError(err)
		return s
	}
	s.mode = info.Mode()
	u := agentUser(dir)
	s.barred = u.barred(info, mayRead)
	if uid, _, ok := ownerOf(info); ok && u.known && uid != u.uid {
		s.others = dir
	}
	text, err := os.ReadFile(path)
	s.empty, s.err = strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff")) == "", configs.FileError(err)
	return s
}

func judgeSecrets(all []secret) Report {
	var out Report
	for _, s := range all {
		switch {
		case s.noPath:
			out = append(out, fail("secrets", "write the path of the file, from / on; what stands there now may be the secret itself", "%s: there is no such file %s", s.key, s.path))
		case errors.Is(s.err, fs.ErrNotExist):
			out = append(out, fail("secrets", "make the file, for the agent's user only", "%s: %s is not there", s.key, s.path))
		case s.err != nil:
			out = append(out, fail("secrets", "chown and chmod 600 it for the agent's user; or run this as root", "%s: %v", s.key, s.err))
		case s.empty:
			out = append(out, fail("secrets", "put the secret into it, on one line", "%s: %s is empty", s.key, s.path))
		case s.barred:
			out = append(out, fail("secrets", s.forAgent(), "%s: the owner of the data folder, as whom the agent runs, may not read %s (%04o)", s.key, s.path, s.mode.Perm()))
		case s.mode.Perm()&0o007 != 0 || s.mode.Perm()&0o020 != 0:
			out = append(out, warn("secrets", s.forAgent(), "%s: others may read or change %s (%04o)", s.key, s.path, s.mode.Perm()))
		}
	}
	if len(out) == 0 && len(all) > 0 {
		return Report{ok("secrets", "%d files, for their owner only", len(all))}
	}
	return out
}

// forAgent makes the file one that the agent's user alone may read. After a chmod alone that of another could be read by nobody but root.
func (s secret) forAgent() string {
	if s.others == "" {
		return "chmod 600 " + s.path
	}
	return "chown --reference=" + s.others + " " + s.path + "; chmod 600 " + s.path
}
