package testbed

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The users of a guarded server: who may do all, who may use the database, who may only write to it, and who may only read it.
const (
	GuardedDB = "edge"

	Admin, AdminPassword   = "admin", "admin-secret"
	Owner, OwnerPassword   = "owner", "owner-secret"
	Writer, WriterPassword = "w", "write-secret"
	Reader, ReaderPassword = "r", "read-secret"
)

// StartGuardedInfluxd starts a server that asks for a password, with the database GuardedDB and the users above. Its Query
// does not work; use QueryAs.
func StartGuardedInfluxd(t TB) *Influx {
	t.Helper()
	s := StartInfluxd(t, InfluxOptions{HTTP: []string{"auth-enabled = true"}})
	for _, q := range []string{
		fmt.Sprintf("CREATE USER %s WITH PASSWORD '%s' WITH ALL PRIVILEGES", Admin, AdminPassword),
		"CREATE DATABASE " + GuardedDB,
		fmt.Sprintf("CREATE USER %s WITH PASSWORD '%s'", Owner, OwnerPassword),
		fmt.Sprintf("CREATE USER %s WITH PASSWORD '%s'", Writer, WriterPassword),
		fmt.Sprintf("CREATE USER %s WITH PASSWORD '%s'", Reader, ReaderPassword),
		fmt.Sprintf("GRANT ALL ON %s TO %s", GuardedDB, Owner),
		fmt.Sprintf("GRANT WRITE ON %s TO %s", GuardedDB, Writer),
		fmt.Sprintf("GRANT READ ON %s TO %s", GuardedDB, Reader),
	} {
		last := ""
		// right after a user was made the server may refuse it for a moment
		err := poll(startTimeout, q, func() bool {
			var err error
			last, err = s.QueryAs(Admin, AdminPassword, q)
			return err == nil
		})
		if err != nil {
			t.Fatalf("%v: %s", err, last)
		}
	}
	return s
}

// QueryAs runs one InfluxQL statement as a user and returns the text of the answer; the error is any status but 200.
func (i *Influx) QueryAs(user, password, statement string) (string, error) {
	q := url.Values{"q": {statement}, "db": {GuardedDB}}
	req, err := http.NewRequest(http.MethodPost, i.URL()+"/query?"+q.Encode(), nil)
	if err != nil {
		return "", fmt.Errorf("make request: %w", err)
	}
	req.SetBasicAuth(user, password)
	res, err := i.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask influxd: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || strings.Contains(string(text), `"error"`)) {
		err = fmt.Errorf("%s: %s", res.Status, text)
	}
	return string(text), err
}
