package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// envPath is the file of variables that belongs to the configuration at path: edgeagent.env beside edgeagent.toml. A
// service manager reads the same file for the service; read here, the commands of a technician see what the service sees.
func envPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".env"
}

// environment looks a variable up in the process's environment, and then in the file beside the configuration, if there
// is one.
func environment(path string) (func(string) (string, bool), error) {
	name := envPath(path)
	if name == path {
		return os.LookupEnv, nil
	}
	content, err := readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return os.LookupEnv, nil // a variable that is missed for it is a fault of its own
	case err != nil:
		return nil, err
	}
	vars, err := parseEnv(name, string(content))
	if err != nil {
		return nil, err
	}
	return func(key string) (string, bool) {
		if v, ok := os.LookupEnv(key); ok {
			return v, true
		}
		v, ok := vars[key]
		return v, ok
	}, nil
}

// parseEnv reads NAME=value lines, the part of systemd's EnvironmentFile syntax that other readers share: # and ; begin
// a comment line, one pair of quotes round the value is taken off, and nothing else is special.
func parseEnv(name, text string) (map[string]string, error) {
	vars := make(map[string]string)
	for i, line := range strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !reference.MatchString("${"+key+"}") {
			return nil, &Error{File: name, Faults: []Fault{{Problem: fmt.Sprintf("line %d is not NAME=value", i+1)}}}
		}
		vars[key] = unquoteEnv(strings.TrimSpace(value))
	}
	return vars, nil
}

func unquoteEnv(v string) string {
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		return v[1 : n-1]
	}
	return v
}
