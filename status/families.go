package status

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// The names and labels in this file are stable: dashboards and alerts hold on to them.

// families are all metrics of a report.
func families(r Report) []family {
	oldest := gaugeTime("oldest_queued_window_timestamp_seconds", "End of the oldest window that waits; NaN if none does.", r.Buffer.Oldest)
	return slices.Concat(agentFamilies(r), workFamilies(r.Work), intakeFamilies(r), r.ofUplinks(pointFamilies), []family{oldest}, r.ofUplinks(uplinkFamilies), sourceFamilies(r))
}

func agentFamilies(r Report) []family {
	balance := family{name: "books_balanced", kind: "gauge", help: "1 if this identity of the ledger holds: what came in equals what became of it."}
	for _, b := range r.books() {
		balance.samples = append(balance.samples, sample{label: "book", labelValue: b.name(), value: strconv.FormatInt(bit(b.balanced()), 10)})
	}
	return []family{
		{name: "gateway_info", kind: "gauge", help: "1, with the gateway id.", samples: []sample{{label: "gateway", labelValue: r.Gateway, value: "1"}}},
		{name: "build_info", kind: "gauge", help: "1, with the version of the program.", samples: []sample{{label: "version", labelValue: r.Version, value: "1"}}},
		gauge("uptime_seconds", "Time since the agent started.", r.UptimeS),
		gauge("clock_trusted", "1 if the gateway's own clock is trusted.", bit(r.Clock.Trusted)),
		balance,
		gauge("buffer_bytes", "Size of the store's file.", r.Buffer.Bytes),
		gauge("buffer_max_bytes", "Size that the store's file may reach.", r.Buffer.MaxBytes),
		gauge("buffer_writable", "0 while the store cannot be written.", bit(r.Buffer.Error == "")),
		counter("store_resets_total", "Times that a damaged store was moved aside and a new one begun.", r.StoreResets),
	}
}

// workFamilies are what this process has done so far.
func workFamilies(w Work) []family {
	uploads := family{name: "upload_duration_seconds", kind: "histogram", help: "Time that a request to the server took, by what came of it."}
	for _, outcome := range slices.Sorted(maps.Keys(w.Uploads)) {
		uploads.histograms = append(uploads.histograms, labelled{"outcome", outcome, w.Uploads[outcome]})
	}
	if len(w.Uploads) == 0 {
		uploads.histograms = []labelled{{"outcome", "settled", Histogram{}}}
	}
	return []family{
		{name: "commit_duration_seconds", kind: "histogram", help: "Time that a commit to the store took, its syncs included.", histograms: []labelled{{h: w.Commits}}},
		uploads,
		counter("store_syncs_total", "Times that the store's file was synced for a commit, two for each, since the process began.", w.Syncs),
		counter("store_written_bytes_total", "Bytes of pages written to the store's file since the process began.", w.Written),
	}
}

func intakeFamilies(r Report) []family {
	rejected := family{name: "readings_rejected_total", kind: "counter", help: "Readings or records refused, by reason."}
	for _, e := range r.Ledger.reasons() {
		rejected.samples = append(rejected.samples, sample{label: "reason", labelValue: e.name, value: strconv.FormatInt(e.n, 10)})
	}
	behind := gaugeFloat("behind_seconds", "Gateway clock minus the newest event time; NaN before the first reading.", r.Watermark.BehindS)
	if r.Watermark.MaxEventTime == "" {
		behind.samples[0].value = "NaN"
	}
	mark := gaugeFloat("watermark_behind_seconds", "Gateway clock minus the watermark; NaN before the first reading.", math.NaN())
	if d, ok := difference(r.Watermark.Value, r.Watermark.MaxEventTime); ok { // not from Clock.Now, which has whole seconds
		mark.samples[0].value = float(r.Watermark.BehindS + d)
	}
	return []family{
		gauge("mqtt_connected", "1 while the broker is connected.", bit(r.MQTT.Connected)),
		gauge("mqtt_unacked_messages", "Messages taken from the broker and not acknowledged yet.", r.MQTT.Unacked),
		counter("readings_received_total", "Readings and refused records that reached the agent.", r.Ledger.Received),
		counter("readings_windowed_total", "Readings folded into a window.", r.Ledger.Windowed),
		counter("readings_late_total", "Readings that came when their window was final.", r.Ledger.Late),
		counter("readings_duplicate_total", "Readings that were repeats.", r.Ledger.Duplicate),
		counter("readings_retained_total", "Readings from retained messages that were set aside.", r.Ledger.Retained),
		rejected,
		counter("readings_arrival_timed_total", "Readings that brought no time of their own.", r.ArrivalTimed),
		gauge("readings_held", "Readings held back because their time lies in the future of a clock that is not trusted.", r.Held),
		counter("messages_ignored_total", "Messages whose topic fits no source.", r.Ignored),
		counter("readings_elsewhere_total", "Readings that other agents of a shared site count.", r.Elsewhere),
		gauge("sensors", "Sensors known.", r.Sensors),
		gaugeTime("watermark_timestamp_seconds", "The watermark; NaN before the first reading.", r.Watermark.Value),
		gaugeTime("event_time_timestamp_seconds", "The newest event time; NaN before the first reading.", r.Watermark.MaxEventTime),
		behind,
		mark,
		gauge("windows_open", "Windows that are open.", r.Windows.Open),
		counter("windows_finalized_total", "Windows finalized since the store began.", r.Windows.Finalized),
		gaugeFloat("lag_p50_seconds", "Arrival minus event time of live readings, median.", r.Lag.P50S),
		gaugeFloat("lag_p95_seconds", "Arrival minus event time of live readings, 95th percentile.", r.Lag.P95S),
		gaugeFloat("lag_p99_seconds", "Arrival minus event time of live readings, 99th percentile.", r.Lag.P99S),
		gaugeFloat("lag_max_seconds", "Arrival minus event time of live readings, largest.", r.Lag.MaxS),
	}
}

func pointFamilies(u UplinkPart) []family {
	p := u.Points
	return []family{
		counter("points_finalized_total", "First points of finalized windows.", p.Finalized),
		counter("points_updated_total", "Further points of windows.", p.Updated),
		counter("points_late_reports_total", "Late-drop counts made into points.", p.LateReports),
		counter("points_late_readings_total", "Late readings made into points.", p.LateReadings),
		counter("points_health_total", "Points about the agent itself.", p.Health),
		counter("points_carried_total", "Points salvaged from a damaged store or imported.", p.Carried),
		counter("points_uploaded_total", "Points stored at the server.", p.Uploaded),
		gauge("points_queued", "Points that wait to be uploaded.", p.Queued),
		gauge("points_parked", "Points that the server refused, kept aside.", p.Parked),
		counter("points_evicted_total", "Points dropped to make room, not known to be stored at the server.", p.Evicted),
		counter("points_superseded_total", "Points replaced by a newer one of the same window while queued.", p.Superseded),
	}
}

func uplinkFamilies(u UplinkPart) []family {
	r := u.Uplink
	state := family{name: "uplink_state", kind: "gauge", help: "1 for the state that the uplink is in, 0 for the others."}
	known := false
	for _, name := range []string{"idle", "up", "down", "waiting", "blocked"} {
		known = known || name == r.State
		state.samples = append(state.samples, sample{label: "state", labelValue: name, value: strconv.FormatInt(bit(name == r.State), 10)})
	}
	if !known && r.State != "" {
		state.samples = append(state.samples, sample{label: "state", labelValue: r.State, value: "1"})
	}
	return []family{
		state,
		gaugeTime("uplink_last_success_timestamp_seconds", "When the server last stored a line; NaN if never.", r.LastSuccess),
		gaugeFloat("uplink_retry_seconds", "Time to the next attempt, 0 if none is waited for.", r.RetryInS),
	}
}
