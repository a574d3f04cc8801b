#!/usr/bin/env bash
# Prints figures and judges nothing: how fast the agent drains a broker's backlog beside a bare MQTT client, what a live
# fleet costs it, how it does at a strict in-flight limit on a slow disk, how soon it starts, what it writes, how large
# it is; then the benchmarks of the packages. Needs mosquitto (scripts/test.sh installs it) and, for the slow disk, strace.
#
#   scripts/bench.sh                        everything, about three minutes
#   scripts/bench.sh -modes drain -n 50000  arguments go to scripts/bench: see its doc comment
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work

go build -o "$work/bench" ./scripts/bench
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/edgeagent" ./cmd/edgeagent
"$work/bench" -agent "$work/edgeagent" "$@"
go test -run '^$' -bench . -benchmem ./... | grep -E '^(pkg|Benchmark)' || echo "no benchmarks in the packages"
