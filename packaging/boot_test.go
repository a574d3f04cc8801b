package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// boot starts systemd as the first process of the folder $1, with namespaces and control groups of its own.
const boot = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
else
  mount -t tmpfs -o mode=755 tmpfs "$1/sys/fs/cgroup"
  mkdir "$1/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$1/sys/fs/cgroup/systemd"
fi
mount -t tmpfs tmpfs "$1/run"
mount -t tmpfs tmpfs "$1/dev"
for d in null zero full random urandom tty; do touch "$1/dev/$d"; mount --bind /dev/$d "$1/dev/$d"; done
mkdir "$1/dev/shm" "$1/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
ip link set lo up
export container=edgeagent-test
exec chroot "$1" /lib/systemd/systemd --show-status=0 systemd.unit=multi-user.target`

// A debian is a small Debian that runs in namespaces of this machine.
type debian struct {
	t    *testing.T
	root string
	init *exec.Cmd // unshare, whose only child is systemd
}

// bootDebian boots a fresh Debian, or a copy of what debootstrap has made before, in the folder $EDGEAGENT_DEBIAN.
func bootDebian(t *testing.T) *debian {
	t.Helper()
	for _, name := range []string{"unshare", "nsenter", "ip"} {
		testbed.Need(t, name)
	}
	d := &debian{t: t, root: filepath.Join(t.TempDir(), "root")}
	get := []string{"cp", "-a", os.Getenv("EDGEAGENT_DEBIAN"), d.root}
	if get[2] == "" {
		get = []string{testbed.Need(t, "debootstrap"), "--variant=minbase", "--include=systemd-sysv", "stable", d.root}
	}
	if out, err := exec.Command(get[0], get[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(get, " "), err, out)
	}
	d.init = exec.Command("unshare", "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--net", "--fork", "--kill-child", "sh", "-c", boot, "sh", d.root)
	if err := d.init.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.init.Process.Kill()
		d.init.Wait()
	})
	d.until(time.Minute, "systemctl is-system-running | grep -E 'running|degraded'")
	return d
}

// pid is that of systemd, as this machine sees it.
func (d *debian) pid() (string, error) {
	n := strconv.Itoa(d.init.Process.Pid)
	out, err := os.ReadFile("/proc/" + n + "/task/" + n + "/children")
	return strings.TrimSpace(string(out)), err
}

func (d *debian) try(script string) (string, error) {
	pid, err := d.pid()
	if err != nil || pid == "" {
		return "", err
	}
	cmd := exec.Command("nsenter", "-t", pid, "-m", "-p", "-i", "-u", "-n", "-C", "-r", "-w", "sh", "-ec", script)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *debian) run(script string) string {
	d.t.Helper()
	out, err := d.try(script)
	if err != nil {
		log, _ := d.try("journalctl -b -u edgeagent -u edgeagent-firstboot -n 30 --no-pager")
		d.t.Fatalf("%s: %v\n%s\n%s", script, err, out, log)
	}
	return strings.TrimSpace(out)
}

// until runs a script over and over until it succeeds.
func (d *debian) until(limit time.Duration, script string) {
	d.t.Helper()
	testbed.WaitFor(d.t, limit, script, func() bool {
		out, err := d.try(script)
		return err == nil && out != ""
	})
}

func (d *debian) put(from, to string) {
	d.t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.root, to), data, 0o644)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// long reports whether the tests that take minutes are wanted. They are no skips: a machine that is to run all tests need
// not run these.
func long(t *testing.T) bool {
	t.Helper()
	if os.Getenv("EDGEAGENT_LONG") == "1" {
		return true
	}
	t.Log("only with EDGEAGENT_LONG=1")
	return false
}

const active = "systemctl is-active edgeagent | grep -x active"

// TestBoot has the service live under a real systemd, hardened as it is shipped: first boot, faults, upgrade, removal.
func TestBoot(t *testing.T) {
	if !long(t) {
		return
	}
	first := deb(t)
	d := bootDebian(t)
	d.put(first, "root/1.deb")
	d.put(renumbered(t, first, "1.3.0"), "root/2.deb")
	d.run("dpkg -i /root/1.deb")
	if out, _ := d.try("systemctl is-active edgeagent"); strings.TrimSpace(out) != "inactive" {
		t.Errorf("the service after the installation is %q", out)
	}
	d.run(configure + `; sed -i 's/^id = .*/id = "${GATEWAY_ID}"/' /etc/edgeagent/edgeagent.toml; mkdir -p /boot/firmware; echo GATEWAY_ID=gw-77 > /boot/firmware/edgeagent.env`)
	d.run("systemctl start edgeagent; " + active)
	if out := d.run("edgeagent status"); !strings.Contains(out, "edgeagent gw-77,") {
		t.Errorf("status:\n%s", out)
	}
	d.until(time.Minute, "systemctl show -p StatusText edgeagent | grep 'broker not connected, uplink down since'")
	if out := d.run("journalctl -u edgeagent -n 20"); !strings.Contains(out, "edgeagent starts") || !strings.Contains(out, "uplink down") {
		t.Errorf("docs/troubleshooting.md has people look at the journal, which says\n%s", out)
	}
	// What the agent asks the kernel about the clock is answered through the filter, as it is outside.
	clock := "edgeagent status | sed -n 's/^clock.*, //p'"
	outside := d.run("systemctl stop edgeagent; setpriv --reuid edgeagent --regid edgeagent --clear-groups edgeagent run >/dev/null 2>&1 & sleep 3; " + clock + "; kill $!; wait $!")
	if inside := d.run("systemctl start edgeagent; sleep 2; " + clock); inside != outside {
		t.Errorf("the clock is %q for the service, and %q without its unit", inside, outside)
	}
	d.run("systemctl reload edgeagent; " + active)
	d.run("grep -qsx edgeagent /proc/[0-9]*/comm")
	d.sub("killed", func(d *debian) { d.comesBack("kill -KILL") })
	d.sub("panics", func(d *debian) { d.comesBack("kill -ABRT") })
	d.sub("hangs", func(d *debian) {
		d.run(`mkdir -p /run/systemd/system/edgeagent.service.d; printf '[Service]\nWatchdogSec=4\n' > /run/systemd/system/edgeagent.service.d/w.conf
systemctl daemon-reload; systemctl restart edgeagent; pid=$(systemctl show -p MainPID --value edgeagent); sleep 10
[ $(systemctl show -p MainPID --value edgeagent) = $pid ]`)
		d.comesBack("kill -STOP")
		d.run("rm -r /run/systemd/system/edgeagent.service.d; systemctl daemon-reload; systemctl restart edgeagent")
	})
	d.sub("wrong configuration", func(d *debian) {
		d.run("cp /etc/edgeagent/edgeagent.toml /root/; echo nonsense = 1 >> /etc/edgeagent/edgeagent.toml; systemctl restart edgeagent || true")
		d.until(time.Minute, "journalctl -u edgeagent -o cat --no-pager | grep 'nonsense: unknown key'")
		d.run("cp /root/edgeagent.toml /etc/edgeagent/")
		d.until(time.Minute, active)
	})
	before := d.run(stats)
	d.run("dpkg -i /root/2.deb; " + active)
	if after := d.run(stats); after < before || before == "" {
		t.Errorf("the store holds %q after the upgrade, %q before", after, before)
	}
	d.run("systemctl stop edgeagent; dpkg -i /root/1.deb; ! " + active)
	d.run("systemctl start edgeagent; dpkg --remove edgeagent; ! grep -qsx edgeagent /proc/[0-9]*/comm; test -e /var/lib/edgeagent/edgeagent.db")
	d.run("dpkg --purge edgeagent; test ! -e /var/lib/edgeagent; test ! -e /etc/edgeagent")
}

// comesBack does something to the process, and waits for another one in its place.
func (d *debian) comesBack(do string) {
	d.t.Helper()
	const main = "systemctl show -p MainPID --value edgeagent"
	pid := d.run(main)
	d.run(do + " " + pid)
	d.until(time.Minute, "now=$("+main+"); [ $now != 0 ] && [ $now != "+pid+" ] && "+active)
}

// sub is a part of the test with a name of its own.
func (d *debian) sub(name string, fn func(*debian)) {
	d.t.Run(name, func(t *testing.T) {
		part := *d
		part.t = t
		fn(&part)
	})
}

// TestAllArchitectures makes every package twice, in different surroundings, and has the ARM one's program run.
func TestAllArchitectures(t *testing.T) {
	if !long(t) {
		return
	}
	sums := map[string]bool{}
	for _, surroundings := range [][]string{{"TZ=UTC"}, {"TZ=Asia/Jakarta", "LC_ALL=C", "TMPDIR=" + t.TempDir()}} {
		dir := t.TempDir()
		command(t, append(surroundings, "VERSION="+testVersion, "SOURCE_DATE_EPOCH="+strconv.Itoa(testEpoch), "OUT="+dir), "scripts/package.sh")
		text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS.deb"))
		if err != nil || strings.Count(string(text), "\n") != 3 {
			t.Fatalf("checksums: %v: %s", err, text)
		}
		sums[string(text)] = true
		if len(sums) > 1 {
			continue
		}
		all := files(t, filepath.Join(dir, "edgeagent_"+debVersion+"_armhf.deb"))
		bin := filepath.Join(t.TempDir(), "edgeagent")
		if err := os.WriteFile(bin, all["usr/bin/edgeagent"].content, 0o755); err != nil {
			t.Fatal(err)
		}
		if out := command(t, nil, testbed.Need(t, "qemu-arm-static"), bin, "version"); !strings.Contains(out, "linux/arm)") {
			t.Errorf("the program for ARM says %q", out)
		}
	}
	if len(sums) != 1 {
		t.Errorf("two builds of the packages differ: %v", sums)
	}
}
