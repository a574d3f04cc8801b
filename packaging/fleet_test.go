package packaging

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// configuration is the block of a document that is a configuration.
var configuration = regexp.MustCompile("(?ms)^```toml\n(.*?)^```$")

// TestFleet follows docs/fleet.md: the configuration of the image, the cleaning, a card from the list, the first boot, and
// a new configuration.
func TestFleet(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	config := configuration.FindStringSubmatch(string(text))
	blocks := commands.FindAllStringSubmatch(string(text), -1)
	if config == nil || len(blocks) != 3 {
		t.Fatalf("%d command blocks and %d configurations found", len(blocks), len(config))
	}
	clean, flash, renew := blocks[0][1], blocks[1][1], blocks[2][1]
	m := newMachine(t)
	m.put(deb(t), "root/1.deb")
	out := m.run(`ln -s /bin/true /usr/local/bin/systemctl; export PATH=/usr/local/bin:$PATH; cd /root; dpkg -i 1.deb >/dev/null 2>&1
cat > /etc/edgeagent/edgeagent.toml <<'END'
` + config[1] + `END
touch /var/lib/edgeagent/edgeagent.db /etc/edgeagent/secrets/token
echo GATEWAY_ID=image > /etc/edgeagent/edgeagent.env
` + clean + `
ls -A /var/lib/edgeagent /etc/edgeagent/secrets | grep -v : || true
export BOOT=/boot/firmware; mkdir -p $BOOT; printf 'gw-41,t,41\ngw-42,t,42\n' > fleet.csv
` + flash + `
cat $BOOT/edgeagent.env
/usr/lib/edgeagent/firstboot
stat -c %G:%a /etc/edgeagent/edgeagent.env /etc/edgeagent/secrets/token
cat /etc/edgeagent/secrets/token /boot/firmware/edgeagent.env
` + renew)
	shown := regexp.MustCompile("(?ms)^```\n(GATEWAY_ID=.*?)^```$").FindStringSubmatch(string(text))
	if shown == nil {
		t.Fatal("no file for the boot partition is shown")
	}
	begins := strings.NewReplacer("the token of gw-07", "t,41", "gw-07", "gw-41").Replace(shown[1]) + "edgeagent-firstboot: this box is gw-41\nedgeagent:640\nedgeagent:640\nt,41\nGATEWAY_ID=gw-41\n"
	if !strings.HasPrefix(strings.TrimLeft(out, "\n"), begins) || !strings.Contains(out, "id = \"gw-41\"") {
		t.Errorf("following docs/fleet.md:\n%s", out)
	}
}
