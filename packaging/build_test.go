package packaging

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"edgeagent/testbed"
)

// The commit that packages are made of, as far as they can tell.
const (
	testVersion = "v1.2.3-4-gabc1234"
	debVersion  = "1.2.3+4.gabc1234"
	testEpoch   = 1790000000
)

// command runs a program to its end in the module's root and returns what it printed.
func command(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	out, err := run(env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func run(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// debArch is the machine's own architecture, which must be one that packages are made for.
func debArch(t *testing.T) string {
	t.Helper()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skipf("no package is made for %s", runtime.GOARCH)
	}
	return runtime.GOARCH
}

// builtIn is the folder of the package once it has been asked for.
var builtIn string

// built is the package of the machine's own architecture, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edgeagent-deb-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	out, err := run([]string{"VERSION=" + testVersion, "SOURCE_DATE_EPOCH=" + strconv.Itoa(testEpoch), "OUT=" + dir},
		"scripts/package.sh", runtime.GOARCH)
	if err != nil {
		return dir, errors.New(out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// deb is the path of the package.
func deb(t *testing.T) string {
	t.Helper()
	testbed.Need(t, "dpkg-deb")
	arch := debArch(t)
	dir, err := built()
	if err != nil {
		t.Fatalf("scripts/package.sh: %v", err)
	}
	return filepath.Join(dir, "edgeagent_"+debVersion+"_"+arch+".deb")
}

// A file is one of a package.
type file struct {
	*tar.Header
	content []byte
}

// files unpacks a package, by path from the root.
func files(t *testing.T, deb string) map[string]file {
	t.Helper()
	data, err := exec.Command("dpkg-deb", "--fsys-tarfile", deb).Output()
	if err != nil {
		t.Fatalf("dpkg-deb: %v", err)
	}
	all := map[string]file{}
	for in := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := in.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.Trim(strings.TrimPrefix(h.Name, "."), "/")] = file{h, content}
	}
}
