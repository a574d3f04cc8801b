package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// A machine is a copy-on-write view of this one, with its own processes' view of it: what is installed there is gone
// with the test. systemd does not run in it, as in an image that is being built.
type machine struct {
	t   *testing.T
	dir string
}

// enter mounts the view, runs the script $2 in it, and is gone again: what was written stays in $1/upper.
const enter = `set -e
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=/,upperdir=$1/upper,workdir=$1/work $1/root
mount --rbind /dev $1/root/dev
mount -t proc proc $1/root/proc
exec chroot $1/root sh -ec "$2"`

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t, t.TempDir()}
	for _, name := range []string{"upper", "work", "root", "upper/root"} {
		if err := os.Mkdir(filepath.Join(m.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testbed.Need(t, "dpkg")
	// The index of all manual pages and syncs for each file are not what is tested, and take minutes.
	if out, err := m.try("rm -f /var/lib/man-db/auto-update; echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/quick"); err != nil {
		absent(t, "a copy-on-write view of this machine (root and mounts are needed): "+out)
	}
	return m
}

// absent skips a test that this machine cannot run, and fails it where it must be able to.
func absent(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("there is no %s", what)
	}
	t.Skipf("there is no %s", what)
}

func (m *machine) try(script string) (string, error) { return m.unshare(script, "--mount") }

// tryAlone is try with a loopback of its own, and processes that end with the script.
func (m *machine) tryAlone(script string) (string, error) {
	return m.unshare("ip link set lo up\n"+script, "--mount", "--net", "--pid", "--fork", "--kill-child")
}

func (m *machine) unshare(script string, how ...string) (string, error) {
	cmd := exec.Command("unshare", append(how, "sh", "-c", enter, "sh", m.dir, script)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs a script and returns what it printed.
func (m *machine) run(script string) string {
	m.t.Helper()
	out, err := m.try(script)
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// prints compares what a script prints with lines.
func (m *machine) prints(what, script string, want ...string) {
	m.t.Helper()
	if got := strings.Fields(m.run(script)); strings.Join(got, " ") != strings.Join(want, " ") {
		m.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// put copies a file into the machine.
func (m *machine) put(from, to string) {
	m.t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, "upper", to), data, 0o755)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// renumbered is the package again with another version.
func renumbered(t *testing.T, deb, version string) string {
	t.Helper()
	dir := t.TempDir()
	command(t, nil, "dpkg-deb", "--raw-extract", deb, filepath.Join(dir, "tree"))
	path := filepath.Join(dir, "tree/DEBIAN/control")
	control, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(control), debVersion, version, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "edgeagent.deb")
	command(t, nil, "dpkg-deb", "-Znone", "--root-owner-group", "--build", filepath.Join(dir, "tree"), out)
	return out
}

// modes prints owner, group and mode of what is there.
const modes = `for f in /etc/edgeagent /etc/edgeagent/edgeagent.toml /etc/edgeagent/secrets /var/lib/edgeagent; do
[ ! -e $f ] || stat -c %n:%U:%G:%a $f; done`

// configure makes the packaged configuration one of a gateway whose broker and server are not there.
const configure = `sed -i -e 's/^# id = .*/id = "gw-42"/' -e 's,^brokers = .*,brokers = ["tcp://127.0.0.1:1"],' -e 's,^# listen = .*,listen = "",' \
-e 's,^url = .*,url = "http://127.0.0.1:1",' -e 's/^# health_interval = .*/health_interval = "1s"/' /etc/edgeagent/edgeagent.toml`

// start runs the unit's own command as its user until the store holds something, and stops it in order.
const start = `line=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/edgeagent.service)
setpriv --reuid edgeagent --regid edgeagent --clear-groups --no-new-privs --inh-caps=-all $line >/tmp/log 2>&1 &
pid=$!; trap 'kill $pid; wait $pid; cat /tmp/log' EXIT
n=0; until edgeagent buffer stats 2>/dev/null | grep -q '^queued *[1-9]'; do n=$((n+1)); [ $n -lt 300 ]; sleep 0.1; done
trap - EXIT; kill $pid; wait $pid`

const stats = `edgeagent buffer stats | grep -E '^queued'`

// TestInstall goes through the life of a package: installed, used, upgraded with data in the store, removed, installed
// again, purged.
func TestInstall(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.put(deb(t), "root/1.deb")
	m.put(renumbered(t, deb(t), "1.3.0"), "root/2.deb")
	conf := []string{"/etc/edgeagent:root:root:755", "/etc/edgeagent/edgeagent.toml:root:root:644", "/etc/edgeagent/secrets:root:edgeagent:750"}
	all := append(conf[:3:3], "/var/lib/edgeagent:edgeagent:edgeagent:750")

	if out := m.run("dpkg -i /root/1.deb"); !strings.Contains(out, "edit /etc/edgeagent/edgeagent.toml") {
		t.Errorf("the installation does not say what is next:\n%s", out)
	}
	m.prints("installed", modes, all...)
	m.prints("user", "getent passwd edgeagent | cut -d: -f6-; getent group edgeagent | cut -d: -f1", "/var/lib/edgeagent:/usr/sbin/nologin", "edgeagent")
	m.prints("enabled", "readlink /etc/systemd/system/multi-user.target.wants/edgeagent.service", "/lib/systemd/system/edgeagent.service")
	m.run(configure)
	m.run("edgeagent check")
	before := m.run(start + "; " + stats)
	m.run("chmod 0700 /etc/edgeagent/secrets") // as an administrator may wish
	m.run("dpkg -i /root/2.deb")
	m.prints("upgraded", "dpkg-query -W -f '${Version}' edgeagent", "1.3.0")
	all[2], conf[2] = "/etc/edgeagent/secrets:root:edgeagent:700", "/etc/edgeagent/secrets:root:edgeagent:700"
	m.prints("upgraded", modes, all...)
	if after := m.run("grep -q gw-42 /etc/edgeagent/edgeagent.toml; " + stats); after != before || before == "" {
		t.Errorf("the store holds %q after the upgrade, %q before", after, before)
	}
	m.run("/var/lib/dpkg/info/edgeagent.postinst configure 1.3.0; /var/lib/dpkg/info/edgeagent.postinst configure 1.3.0")
	m.run("dpkg -i /root/1.deb") // a step back
	m.run("dpkg --remove edgeagent; /usr/bin/test ! -e /usr/bin/edgeagent")
	m.prints("removed", modes, all...)
	m.run("dpkg -i /root/2.deb")
	if after := m.run(stats); after != before {
		t.Errorf("the store holds %q after removal and installation, %q before", after, before)
	}
	m.run("dpkg --purge edgeagent; dpkg --purge edgeagent")
	m.prints("purged", modes)
	m.run("test ! -L /etc/systemd/system/multi-user.target.wants/edgeagent.service; getent passwd edgeagent >/dev/null")
}

// TestPurgeKeepsOthers: what an administrator put beside the configuration is not the package's to delete.
func TestPurgeKeepsOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.put(deb(t), "root/1.deb")
	m.run("dpkg -i /root/1.deb; touch /etc/edgeagent/ca.pem; dpkg --purge edgeagent; ls /etc/edgeagent")
	m.prints("left", "ls /etc/edgeagent", "ca.pem")
}

// TestInstallIntoImage: dpkg may fill another root without entering it, as builders of images do. The ids are then those
// of that root.
func TestInstallIntoImage(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.put(deb(t), "root/1.deb")
	m.run(`mkdir -p /image/etc /image/var/lib/dpkg/info /image/var/lib/dpkg/updates /image/var/lib/dpkg/triggers
touch /image/var/lib/dpkg/status /image/var/lib/dpkg/available
echo root:x:0:0::/root:/bin/sh > /image/etc/passwd; echo root:x:0: > /image/etc/group; touch /image/etc/shadow /image/etc/gshadow
echo other:x:999:999::/:/bin/sh >> /image/etc/passwd; echo other:x:999: >> /image/etc/group
dpkg --root=/image --force-script-chrootless --force-depends -i /root/1.deb`)
	m.prints("user", "grep -c ^edgeagent: /image/etc/passwd; grep -c ^edgeagent: /image/etc/group; grep -c ^edgeagent: /etc/passwd || true", "1", "1", "0")
	m.prints("owner", `[ "$(stat -c %u /image/var/lib/edgeagent)" = "$(sed -n 's/^edgeagent:x:\([0-9]*\):.*/\1/p' /image/etc/passwd)" ] && echo same`, "same")
	m.prints("enabled", "readlink /image/etc/systemd/system/multi-user.target.wants/edgeagent.service", "/lib/systemd/system/edgeagent.service")
	m.run("dpkg --root=/image --force-script-chrootless --purge edgeagent; test ! -e /image/var/lib/edgeagent")
}
