package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// largestFile is far over any configuration, and keeps a wrong path (a disk image, a log) from filling the memory.
const largestFile = 1 << 20

// Load reads the file at path with the environment of the process, and for variables that are not set there the file of
// NAME=value lines beside it (edgeagent.env beside edgeagent.toml). The error is an *Error, also if a file cannot be read.
func Load(path string) (*Config, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	env, err := environment(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, content, env)
}

func readFile(path string) ([]byte, error) {
	const advice = "; name the file with -c or $EDGEAGENT_CONFIG"
	unreadable := func(err error) error {
		var in *os.PathError
		if errors.As(err, &in) {
			err = in.Err // the path is in front already
		}
		return &Error{File: path, Faults: []Fault{{Problem: err.Error() + advice}}, cause: err}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err == nil && len(content) > largestFile {
		err = errors.New("is over 1 MiB, no configuration is")
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return content, nil
}

// Parse reads a configuration from text; name stands for the file in errors, and env looks up the variables of ${NAME}
// (nil: there are none). The error is an *Error with every fault; only text that is no TOML at all, or names a key
// twice, has a single one. The Config is complete: defaults filled in, the gateway id the host's name if none is given.
// That brokers and the uplink's url are given is not asked here, but by CheckRun.
func Parse(name string, text []byte, env func(string) (string, bool)) (*Config, error) {
	m := machine{env: env, hostname: os.Hostname}
	return m.parse(name, text)
}

// A machine is what a configuration takes from around it.
type machine struct {
	env      func(string) (string, bool)
	hostname func() (string, error)
}

func (m machine) parse(name string, text []byte) (*Config, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // what some editors put in front
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		return nil, &Error{File: name, Faults: []Fault{syntaxFault(err)}}
	}
	l := loader{
		machine: m,
		config:  Default(),
		origin:  &origin{file: name, places: index(text), refs: map[string]string{}},
		faulty:  map[string]bool{},
	}
	l.config.origin = l.origin
	l.read(tree)
	l.validate()
	if err := faultsOf(name, l.faults); err != nil {
		return nil, err
	}
	return l.config, nil
}

func syntaxFault(err error) Fault {
	f := Fault{Problem: "not valid TOML: " + strings.TrimPrefix(err.Error(), "toml: ")}
	var in *toml.DecodeError
	if errors.As(err, &in) {
		f.Line, f.Col = in.Position()
	}
	return f
}

// origin is what a Config remembers of its file: where keys stood, and which variable a secret came from.
type origin struct {
	file   string
	places positions
	refs   map[string]string
}

// fault is a problem at the place of p.
func (o *origin) fault(p path, format string, args ...any) Fault {
	pos := o.places.of(p)
	return Fault{Line: pos.line, Col: pos.col, Key: p.shown, Problem: fmt.Sprintf(format, args...)}
}

// A loader fills one Config from one tree and gathers the faults.
type loader struct {
	machine
	*origin
	config *Config
	faults []Fault
	faulty map[string]bool
}

// fault notes a problem. Only the first of a key counts: the later ones mostly follow from it.
func (l *loader) fault(p path, format string, args ...any) {
	if !l.faulty[p.id] {
		l.faulty[p.id] = true
		l.faults = append(l.faults, l.origin.fault(p, format, args...))
	}
}

// read takes over every key of the tree.
func (l *loader) read(tree map[string]any) {
	sources := l.takeSources(tree)
	l.uplinks(tree)
	l.section(section{subs: schema(l.config)}, path{}, tree)
	l.sources(sources)
}

// section takes over one table and refuses what it does not know in it.
func (l *loader) section(s section, p path, v any) {
	table, ok := v.(map[string]any)
	if !ok {
		l.fault(p, "is a section; write [%s] on a line of its own, its keys below %s", p.shown, got(v))
		return
	}
	known := map[string]bool{}
	for _, f := range s.fields {
		known[f.key] = true
		if v, ok := table[f.key]; ok {
			l.set(f, p.key(f.key), v)
		}
	}
	for _, sub := range s.subs {
		known[sub.name] = true
		if v, ok := table[sub.name]; ok {
			l.section(sub, p.key(sub.name), v)
		}
	}
	for key := range table {
		if !known[key] {
			l.fault(p.key(key), "unknown key%s", suggest(key, s, p))
		}
	}
}

func (l *loader) set(f field, p path, v any) {
	sec, isSecret := f.value.(secret)
	if isSecret && v != "" && !isReference(v) {
		l.fault(p, "a secret does not belong in this file; put it in a file of its own and name that in %s_file, or write %s = \"${VARIABLE}\"", f.key, f.key)
		return
	}
	expanded, problem := expand(v, l.env)
	if problem == "" {
		problem = f.value.set(expanded)
	}
	if problem != "" {
		l.fault(p, "%s", problem)
		return
	}
	if isSecret && v != "" {
		l.refs[p.id], _ = v.(string)
		if problem := badSecret(*sec.to); problem != "" {
			l.fault(p, "%s", problem)
		}
	}
}
