// Package status shows a running agent to people and scrapers. It changes nothing: it asks a Source for a Report and turns
// that into text, a page, JSON or metrics.
//
//   - Server answers HTTP: / a page that needs no script, /events what changes on it, /status the Report as JSON, /sensors,
//     /history and /parked the Details as JSON, /metrics for Prometheus, /healthz one line with 200 or 503.
//   - ServeSocket and ServeControl answer on a unix socket in the data folder, and Ask, AskOverview and AskSensors ask there:
//     the status command.
//   - Overview.Text writes what the status command prints; Report.Healthy is what /healthz says.
//
// Whatever came from devices, the broker or the central server (error texts, names) is escaped and cut before it goes out,
// whichever way, and numbers that JSON cannot carry become 0.
//
// # Metrics
//
// The names are stable, in base units, and every one is there from the start; an instant that is not known yet is NaN. A
// counter falls only when the store was made anew (see edgeagent_store_resets_total), which Prometheus takes as a reset.
// docs/metrics.md lists them all with their help, and a test holds it to that.
//
// The exposition is our own, checked in the tests by promlint: measured with Go 1.26, prometheus/client_golang v1.25.0 adds
// 2.6 to 2.8 MB to a stripped ARMv6 binary that already serves HTTP, and the agent makes a snapshot rather than counting in
// a registry. html/template would add 0.9 MB; the page is rows of words, each escaped where it is written.
//
// # Caveats
//
// HTTP is plain: put a proxy with TLS before it where the network is not trusted. On a loopback address only requests that
// name a loopback host are answered, so that no web page can reach the agent by rebinding its name to 127.0.0.1; on others
// see Server.hosts. What a page of another site has a browser ask is refused.
package status
