package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/status"
	"edgeagent/testbed"
)

// secretToken is what the agent knows and must never tell.
const secretToken = "tok-5f2c9a7e41d0b8=="

// An echo is a server that sends the credential back in every way that it can.
type echo struct {
	*httptest.Server
	status  atomic.Int64 // of the next answers
	answers atomic.Int64 // given with the present status
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := &echo{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer e.answers.Add(1)
		body, _ := io.ReadAll(r.Body)
		got := r.Header.Get("Authorization")
		switch s := int(e.status.Load()); {
		case s == http.StatusNoContent:
			e.afterwards(w, got)
		case s == http.StatusBadRequest && !bytes.Contains(body, []byte("sensor=poison")):
			w.Header().Set("X-Influxdb-Version", "1.8.10")
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Location", "http://me:"+secretToken+"@127.0.0.1/?token="+secretToken)
			w.Header().Set("X-Influxdb-Error", "with "+got)
			w.Header().Set("Retry-After", got)
			w.WriteHeader(s)
			fmt.Fprintf(w, `{"error":"you sent %s, that is %s"}`, got, secretToken)
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// afterwards settles the request, and then says more than it was asked for on the idle connection.
func (e *echo) afterwards(w http.ResponseWriter, got string) {
	conn, out, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(out, "HTTP/1.1 204 No Content\r\nX-Influxdb-Version: 1.8.10\r\n\r\n")
	_ = out.Flush()
	rest(100 * time.Millisecond) // the client has taken the answer, and its connection is idle
	fmt.Fprintf(out, "HTTP/1.1 500 %s\r\n\r\n", got)
	_ = out.Flush()
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, conn)
}

// rest lets a moment go by that nothing can be waited for in.
func rest(d time.Duration) { <-time.After(d) }

// TestSecretIsToldNowhere runs the real program against a server that echoes its token, and looks for it in all that it prints and
// keeps. Each raw line on standard error is a line of its log.
func TestSecretIsToldNowhere(t *testing.T) {
	t.Parallel()
	server, broker := newEcho(t), testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	server.status.Store(http.StatusUnauthorized)
	home := t.TempDir()
	token := filepath.Join(home, "token")
	writeFile(t, token, secretToken+"\n")
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	listen := freeAddr(t)
	g := newGateway(t, native(t), config{broker: broker.URL(), buffer: "commit_interval = \"50ms\"\n",
		uplink: v2(server.URL, "b") + fmt.Sprintf("token_file = %q\nhealth_interval = \"1s\"\ngzip = false\n[uplink.tls]\ninsecure_skip_verify = true\n[mqtt.tls]\ninsecure_skip_verify = true\n[log]\nlevel = \"debug\"\n", token)})
	text := strings.Replace(string(readFile(t, g.conf)), `listen = ""`, fmt.Sprintf("listen = %q", listen), 1)
	writeFile(t, g.conf, text)
	g.start()
	g.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
	publishPoison(t, broker)
	var told []string
	for _, s := range []int64{401, 302, 200, 413, 429, 503, 500, 418, 400, 204} {
		server.status.Store(s)
		server.answers.Store(0)
		waitFor(t, soon, fmt.Sprint("two answers ", s), g.Log, func() bool { return server.answers.Load() >= 2 })
		if s == 401 || s == 429 || s == 400 {
			told = append(told, look(t, g, listen)...)
		}
	}
	g.awaitLog(soon, 1, "network: Unsolicited response received on idle HTTP channel starting with …")
	g.stop()
	told = append(told, look(t, g, "")...)
	log := string(readFile(t, g.log))
	for _, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
		if !ourLine.MatchString(line) {
			t.Errorf("a raw line on standard error: %q", line)
		}
	}
	for _, want := range []string{"uplink.token_file: every user of this machine can read the secret", "uplink.tls.insecure_skip_verify: anyone", "mqtt.tls.insecure_skip_verify: anyone"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	for _, name := range []string{"edgeagent.db", "floor"} {
		told = append(told, string(readFile(t, filepath.Join(g.dir, name))))
	}
	for _, text := range append(told, log) {
		if i := strings.Index(text, secretToken[:9]); i >= 0 {
			t.Fatalf("the token is told: …%q", text[max(0, i-200):min(len(text), i+40)])
		}
	}
}

// publishPoison publishes readings that make windows final, those of one sensor among them that the server refuses.
func publishPoison(t *testing.T, broker *testbed.Broker) {
	t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(broker.URL()).SetClientID("poison"))
	if token := c.Connect(); !token.WaitTimeout(soon) || token.Error() != nil {
		t.Fatal(token.Error())
	}
	defer c.Disconnect(100)
	for i, sensor := range []string{"poison", "good", "good"} {
		ts := time.Now().Add(time.Duration(i-3) * 20 * time.Minute).UnixMilli()
		token := c.Publish("sensors/"+sensor+"/temperature", 1, false, fmt.Sprintf(`{"temperature":20,"ts":%d}`, ts))
		if !token.WaitTimeout(soon) || token.Error() != nil {
			t.Fatal(token.Error())
		}
	}
}

// look is all that commands and, if listen is given, HTTP show.
func look(t *testing.T, g *gateway, listen string) (told []string) {
	t.Helper()
	for _, args := range [][]string{{"check"}, {"status"}, {"status", "--json"}, {"buffer", "stats"}, {"buffer", "parked"}, {"buffer", "parked", "--json"}, {"buffer", "export", "-"}} {
		out, errs, _ := g.prog.output(t, append(args, "-c", g.conf)...)
		told = append(told, out+errs)
	}
	if listen == "" {
		return told
	}
	for _, path := range []string{"/", "/status", "/metrics", "/healthz"} {
		resp, err := http.Get("http://" + listen + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, string(body))
	}
	return told
}

// freeAddr is an address on which nothing listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
