package doctor

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgeagent/configs"
)

// tmpfs mounts a file system of some MiB; only root can.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount tmpfs: %v", err)
		}
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// A real disk that is full, one that is read-only, and one with room; nothing is left behind.
func TestSeeDisk(t *testing.T) {
	stopped, o := running{err: os.ErrNotExist, cannot: os.ErrNotExist}, Options{Config: config(t, "[buffer]\nmax_size = \"4MiB\"\nrejected_ring = \"0\"\n")}
	look := func(dir string, want string) {
		t.Helper()
		expect(t, dir, judgeDisk(seeDisk(dir, false), stopped, o), want)
	}
	dir := tmpfs(t, "size=64m")
	look(dir, "OK disk: "+dir+" can be written, 64.0 MiB free")
	look(filepath.Join(dir, "not", "there"), "OK disk: …is made by the first start, 64.0 MiB free")
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 45<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	look(dir, "WARN disk: "+dir+" has 19.0 MiB free, and the store may grow by 4.0 MiB")
	if err := os.Truncate(filepath.Join(dir, "big"), 0); err != nil {
		t.Fatal(err)
	}
	fill := make([]byte, 64<<20)
	_ = os.WriteFile(filepath.Join(dir, "big"), fill, 0o600) // as far as it goes
	look(dir, "FAIL disk: "+dir+" is full")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	look(dir, "FAIL disk: "+dir+" is on a read-only file system")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestSeeSecrets(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := config(t, "")
	c.MQTT.PasswordFile, c.Uplinks[0].TokenFile = file("good", "secret\n", 0o600), file("open", "secret", 0o644)
	c.HTTP.TokenFile, c.Uplinks[0].TLS.KeyFile = file("empty", " \n", 0o600), filepath.Join(dir, "none")
	expect(t, "files", judgeSecrets(seeSecrets(c)), "FAIL secrets: http.token_file: …is empty", "WARN secrets: uplink.token_file: …(0644)", "FAIL secrets: uplink.tls.key_file: …is not there")
}

// The certificates of a broker are seen whether they are trusted by its own CA or not checked at all.
func TestSeeBrokerChain(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(scheme string) string { return strings.Replace(s.URL, "https", scheme, 1) }
	for _, c := range []struct {
		url  string
		tls  configs.TLS
		want []string
	}{
		{at("mqtts"), configs.TLS{CAFile: ca}, []string{"OK tls: …holds until"}},
		{at("wss"), configs.TLS{InsecureSkipVerify: true}, []string{"WARN tls: …insecure_skip_verify", "OK tls: …holds until"}},
		{at("ssl"), configs.TLS{}, nil}, // the line of the broker says why
		{at("tcp"), configs.TLS{CAFile: ca}, nil},
		{at("tls"), configs.TLS{CAFile: ca + "x"}, []string{"FAIL tls: …mqtt.tls.ca_file"}},
		{"mqtts://127.0.0.1:1", configs.TLS{CAFile: ca}, nil},
	} {
		got := seeBrokerChain(t.Context(), c.url, c.tls)
		expect(t, c.url, judgeChain("tls", c.url, got, now), c.want...)
	}
}

func TestSeeHTTP(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	stopped := running{err: os.ErrNotExist}
	o := Options{Config: config(t, "")}
	o.Config.HTTP.Listen = strings.TrimPrefix(taken.URL, "http://")
	expect(t, "taken", judgeHTTP(seeHTTP(t.Context(), o, stopped)), "FAIL http: the page is not served")
	expect(t, "taken by the agent", judgeHTTP(seeHTTP(t.Context(), o, running{})), "OK http")
	o.Config.HTTP.Listen = "127.0.0.1:0"
	expect(t, "free", judgeHTTP(seeHTTP(t.Context(), o, stopped)), "OK http")
}
