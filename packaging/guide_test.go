package packaging

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// commands are the blocks of a document that people type.
var commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// stand are the programs that a reader of the guide has and the view of a machine has not: apt-get without a network,
// and a systemctl without systemd, which starts what the unit says.
const stand = `cat > /usr/local/bin/apt-get <<'END'
#!/bin/sh
[ "$1 $2" = "install -y" ] && exec dpkg -i "$3"
exit 1
END
cat > /usr/local/bin/systemctl <<'END'
#!/bin/sh
case "$*" in
  "restart mosquitto") exec setsid mosquitto -d -c /tmp/mosquitto.conf ;;
  "start edgeagent")
    line=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/edgeagent.service)
    setsid setpriv --reuid edgeagent --regid edgeagent --clear-groups --no-new-privs --inh-caps=-all $line >/tmp/edgeagent.log 2>&1 &
    n=0; until [ -S /var/lib/edgeagent/edgeagent.sock ]; do n=$((n+1)); [ $n -lt 300 ] || exit 1; sleep 0.1; done ;;
  "enable edgeagent.service"|"--system daemon-reload") ;;
  *) echo "systemctl $*" >&2; exit 1 ;;
esac
END
chmod +x /usr/local/bin/apt-get /usr/local/bin/systemctl
mkdir -p /etc/mosquitto/conf.d
rm -f /etc/mosquitto/conf.d/*
# What Debian's own file says, but for folders that belong to another user here.
printf 'pid_file /tmp/mosquitto.pid\nuser root\npersistence true\npersistence_location /tmp/\nlog_dest none\ninclude_dir /etc/mosquitto/conf.d\n' > /tmp/mosquitto.conf
printf '[meta]\ndir = "/tmp/i/meta"\n[data]\ndir = "/tmp/i/data"\nwal-dir = "/tmp/i/wal"\n[monitor]\nstore-enabled = false\n' > /tmp/influxdb.conf
mkdir -p /tmp/home
HOME=/tmp/home setsid INFLUXD -config /tmp/influxdb.conf >/tmp/influxd.log 2>&1 &
n=0; until curl -fs http://127.0.0.1:8086/ping; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
cd /root
export PATH=/usr/local/bin:$PATH
`

// TestGuide types what docs/guide.md says, word for word and in its order, on a machine of its own with a network of its
// own, and finds the first point where the guide says.
func TestGuide(t *testing.T) {
	t.Parallel()
	testbed.Need(t, "mosquitto")
	testbed.Need(t, "mosquitto_pub")
	testbed.Need(t, "curl")
	influxd := testbed.Need(t, "influxd")
	text, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	m.put(deb(t), "root/edgeagent_1_"+debArch(t)+".deb")
	m.put(deb(t), "root/edgeagent_1_other.deb") // in dist/ there are those of other machines too
	script := strings.Replace(stand, "INFLUXD", influxd, 1)
	blocks := commands.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 7 {
		t.Fatalf("%d command blocks found", len(blocks))
	}
	for i, b := range blocks {
		script += fmt.Sprintf("echo '== block %d'\n%s", i+1, b[1])
	}
	began := time.Now()
	out, err := m.tryAlone(script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("the guide took %v", time.Since(began).Round(time.Second))
	first := regexp.MustCompile(`"columns":\["time","count","gateway","max","sensor"\],"values":\[\["[^"]*:[0-5][05]:00Z",1,"gw-07",21.5,"kitchen"\]\]`)
	if !first.MatchString(out) {
		t.Errorf("no first point in\n%s", out)
	}
	if n := strings.Count(out, "the books balance"); n < 2 {
		t.Errorf("the books balance %d times in\n%s", n, out)
	}
}
