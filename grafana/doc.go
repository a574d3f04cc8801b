// Package grafana holds the dashboards for the central InfluxDB, to be imported into Grafana, and the tests of their
// queries and of those in docs/central.md; there is no code in it.
//
//	fleet-influxql.json, sensors-influxql.json   for InfluxDB 1.x, and 2.x with a mapped database
//	fleet-flux.json, sensors-flux.json           for InfluxDB 2.x, and 1.8 with flux-enabled
//
// Every query runs in a test against a real influxd that holds the points of a simulated fleet, and must find exactly the
// gateways and sensors that are in trouble there. The names of the measurements are the defaults of the configuration.
package grafana
