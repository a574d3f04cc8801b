package packaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// An image is what the Dockerfile makes, in a folder.
type image struct {
	t     *testing.T
	root  string            // its files
	out   string            // what stands for /out while it is built
	words map[string]string // the last of each instruction of the last stage
}

// buildImage does what the instructions of the Dockerfile say, as far as it uses them: stages, RUN in the checkout, COPY of files, of
// folders' content, and between stages. There are no layers, and the first stage is this machine.
func buildImage(t *testing.T) *image {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := &image{t: t, root: filepath.Join(t.TempDir(), "root"), out: t.TempDir()}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "", "#":
			continue
		case "FROM":
			m.words = map[string]string{}
		case "RUN":
			m.build(rest)
		case "COPY":
			m.copy(strings.Fields(rest))
		case "WORKDIR", "ARG", "ENV", "USER", "VOLUME", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD":
		default:
			t.Fatalf("the test does not know %s", line)
		}
		m.words[word] = rest
	}
	return m
}

// build runs a command of the first stage.
func (m *image) build(command string) {
	m.t.Helper()
	command = strings.ReplaceAll(command, "/out/", m.out+"/")
	if !long(m.t) {
		command = strings.Replace(command, " -trimpath", "", 1) // else nothing that other tests compile can be used
	}
	cmd := exec.Command("sh", "-c", "umask 022; "+command)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "VERSION=v1.2.3", "BUILD_DATE=2026-11-29T00:00:00Z")
	if printed, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("RUN %s: %v\n%s", command, err, printed)
	}
}

// copy looks for what a COPY takes from the checkout, and does one from the build.
func (m *image) copy(args []string) {
	m.t.Helper()
	from, owner := "..", ""
	for strings.HasPrefix(args[0], "--") {
		switch key, value, _ := strings.Cut(args[0], "="); {
		case key == "--from" && value == "build":
			from = m.out
		case key == "--chown":
			owner = value
		default:
			m.t.Fatalf("the test does not know COPY %s", args[0])
		}
		args = args[1:]
	}
	if from == ".." {
		for _, arg := range args[:len(args)-1] {
			if _, err := os.Stat(filepath.Join(from, arg)); err != nil {
				m.t.Errorf("COPY %s: %v", arg, err)
			}
		}
		return
	}
	source, to := strings.Replace(args[0], "/out/", m.out+"/", 1), filepath.Join(m.root, args[1])
	if source == args[0] { // a file of the builder's own image, which this machine may have elsewhere
		source = filepath.Join(m.t.TempDir(), filepath.Base(source))
		if err := errors.Join(os.WriteFile(source, []byte("of the builder\n"), 0o644), os.Chmod(source, 0o644)); err != nil {
			m.t.Fatal(err)
		}
	}
	script := `umask 022; mkdir -p "$(dirname "$2")"; if [ -d "$1" ]; then mkdir -p "$2"; cp -rp "$1/." "$2/"; chmod 0755 "$2"; else cp -p "$1" "$2"; fi; [ -z "$3" ] || chown -R "$3" "$2"`
	if printed, err := exec.Command("sh", "-ec", script, "sh", source, to, owner).CombinedOutput(); err != nil {
		m.t.Fatalf("COPY %q: %v\n%s", args, err, printed)
	}
}

// list is an instruction that holds a list of words.
func (m *image) list(text string) (words []string) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
	return words
}

// command is one that the image runs: as its user, with its own files and no others, and with its variables alone.
func (m *image) command(args ...string) *exec.Cmd {
	m.t.Helper()
	script := `mount --make-rprivate /; mkdir -p "$1/proc"; mount -t proc proc "$1/proc"; root=$1; vars=$2; user=$3; shift 3
exec env -i "$vars" "$(command -v chroot)" --userspec="$user" "$root" "$@"`
	args[0] = filepath.Join(strings.TrimPrefix(m.words["ENV"], "PATH="), args[0])
	return exec.Command("unshare", append([]string{"--mount", "sh", "-ec", script, "sh", m.root, m.words["ENV"], m.words["USER"]}, args...)...)
}

// TestDockerfile: what it copies from the checkout is there and not ignored, its build commands work, and the image holds
// what the program needs and runs as nobody in particular.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		absent(t, "root, who may give files to another user and change the root")
	}
	m := buildImage(t)
	for word, want := range map[string]string{"FROM": "scratch", "USER": "65532:65532", "VOLUME": "/var/lib/edgeagent", "STOPSIGNAL": "SIGTERM",
		"ENTRYPOINT": `["edgeagent"]`, "CMD": `["run"]`, "ENV": "PATH=/usr/bin"} {
		if m.words[word] != want {
			t.Errorf("%s is %q, want %q", word, m.words[word], want)
		}
	}
	out, err := exec.Command("sh", "-c", `cd "$1" && find . -mindepth 1 -printf '%P %U:%G %m\n' | sort`, "sh", m.root).CombinedOutput()
	want := "etc 0:0 755\netc/ssl 0:0 755\netc/ssl/certs 0:0 755\netc/ssl/certs/ca-certificates.crt 0:0 644\nusr 0:0 755\nusr/bin 0:0 755\nusr/bin/edgeagent 0:0 755\n" +
		"var 0:0 755\nvar/lib 65532:65532 755\nvar/lib/edgeagent 65532:65532 750\n"
	if err != nil || string(out) != want {
		t.Errorf("%v: the image holds\n%swant\n%s", err, out, want)
	}
	version, err := m.command("edgeagent", "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(version), "edgeagent v1.2.3 (2026-11-29, ") {
		t.Errorf("the program in the image says %q, %v", version, err)
	}
	m.lives()
}

// lives runs the image as a container with the network of the machine and a configuration that is mounted read-only: points come to the
// server, the health check is content, and it ends in order at its signal.
func (m *image) lives() {
	t := m.t
	t.Helper()
	b, server := testbed.StartMosquitto(t, testbed.MosquittoOptions{Conf: []string{"log_type subscribe"}}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("sensors")
	folder := filepath.Join(m.root, "etc/edgeagent")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.Chmod(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[gateway]\nid = \"gw-07\"\n[mqtt]\nbrokers = [%q]\n[[source]]\ntopic = \"sensors/{sensor}/temperature\"\nvalue = \"temperature\"\ntime = \"ts\"\n"+
		"[buffer]\ncommit_interval = \"200ms\"\n[uplink]\nurl = %q\ndatabase = \"sensors\"\n[http]\nlisten = \"\"\n", b.URL(), server.URL())
	conf := filepath.Join(folder, "edgeagent.toml")
	if err := errors.Join(os.WriteFile(conf, []byte(text), 0o644), os.Chmod(conf, 0o644)); err != nil {
		t.Fatal(err)
	}
	run := testbed.Start(t, m.command(append(m.list(m.words["ENTRYPOINT"]), m.list(m.words["CMD"])...)...), filepath.Join(t.TempDir(), "log"))
	_, check, _ := strings.Cut(m.words["HEALTHCHECK"], "CMD ")
	testbed.WaitFor(t, time.Minute, "the subscription", func() bool { return strings.Contains(b.Log(), "edgeagent-gw-07 1 sensors/") })
	testbed.WaitFor(t, time.Minute, "a container that is healthy", func() bool {
		out, err := m.command(m.list(check)...).CombinedOutput()
		return err == nil && strings.Contains(string(out), "connected since")
	})
	pub := testbed.Need(t, "mosquitto_pub")
	for _, ago := range []time.Duration{20 * time.Minute, 0} {
		message := fmt.Sprintf(`{"temperature": 21.5, "ts": %d}`, time.Now().Add(-ago).Unix())
		if out, err := exec.Command(pub, "-p", strconv.Itoa(b.Port), "-q", "1", "-t", "sensors/kitchen/temperature", "-m", message).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_pub: %v\n%s", err, out)
		}
	}
	testbed.WaitFor(t, time.Minute, "the first point", func() bool { return len(server.Points("sensors", "temperature")) == 1 })
	if code, ok := run.Terminate(time.Minute); !ok || code != 0 { // unshare and chroot have become the program
		t.Errorf("ended with code %d, in time %v; log:\n%s", code, ok, run.Log())
	}
}
