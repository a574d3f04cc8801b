// Command notices writes the licences of everything that is linked into the program: the Go library and each module that
// a package comes from, on any of the platforms that are shipped. Run it in the module's root:
//
//	go run ./scripts/notices          writes packaging/THIRD_PARTY_NOTICES.txt
//	go run ./scripts/notices -check   fails if that file is not what it would write
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	program = "./cmd/edgeagent"
	output  = "packaging/THIRD_PARTY_NOTICES.txt"
)

// platforms are those whose sets of packages differ.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "arm"}, {"linux", "mipsle"}, {"linux", "riscv64"}}

// licence is how files with licence texts are named.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|edl-v10|epl-v\d+)([-.].*)?$`)

func main() {
	check := flag.Bool("check", false, "compare with the file instead of writing it")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	text, err := notices(modules)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(output, text, 0o644)
	}
	have, err := os.ReadFile(output)
	if err != nil {
		return fmt.Errorf("read notices: %w", err)
	}
	if !bytes.Equal(have, text) {
		return errors.New(output + " is not current: go run ./scripts/notices")
	}
	return nil
}

// A module is one that packages of the program come from, with its folder.
type module struct{ path, version, dir string }

// linked lists the modules of all platforms by path.
func linked() ([]module, error) {
	all := map[string]module{}
	for _, p := range platforms {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p[0], "GOARCH="+p[1])
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list packages for %s/%s: %w", p[0], p[1], err)
		}
		for line := range strings.Lines(string(out)) {
			if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
				all[f[0]] = module{f[0], f[1], f[2]}
			}
		}
	}
	modules := slices.Collect(maps.Values(all))
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// notices is the text: a list, and then each licence.
func notices(modules []module) ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the Go library: %w", err)
	}
	// The library's version is the builder's, so it is not named: the licence is the same in all.
	modules = append([]module{{"the Go standard library", "", strings.TrimSpace(string(root))}}, modules...)
	var list, texts bytes.Buffer
	for _, m := range modules {
		name := strings.TrimSpace(m.path + " " + m.version)
		fmt.Fprintf(&list, "  %s\n", name)
		fmt.Fprintf(&texts, "\n%s\n%s\n", strings.Repeat("=", 78), name)
		found, err := m.licences()
		if err != nil {
			return nil, err
		}
		texts.Write(found)
	}
	return append([]byte("The program edgeagent contains these works, each under its own licence, which follows.\n\n"+list.String()), texts.Bytes()...), nil
}

// licences are the texts in the module's folder, none of which is an error.
func (m module) licences() ([]byte, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("look for the licence of %s: %w", m.path, err)
	}
	var b bytes.Buffer
	for _, e := range entries {
		if e.IsDir() || !licence.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the licence of %s: %w", m.path, err)
		}
		fmt.Fprintf(&b, "\n--- %s\n\n%s\n", e.Name(), bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	}
	if b.Len() == 0 {
		return nil, fmt.Errorf("%s has no licence file in %s", m.path, m.dir)
	}
	return b.Bytes(), nil
}
