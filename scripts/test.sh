#!/usr/bin/env bash
# The whole check of a change, as CI runs it. On Debian, as root, it first installs what the tests need; elsewhere it
# says what is missing, and the tests that need it skip (with CI=true a skipped test is a failure).
#
#   scripts/test.sh           everything
#   scripts/test.sh --quick   without race detector, fuzzing, ARM emulation and cross-building
#   scripts/test.sh --long    with the soak tests at full length, all packages as ARMv6, all .deb, a Debian that boots (EDGEAGENT_LONG=1), and ten minutes of each fuzz target
#
# The last line sums up the tests; a step that failed and is no test counts as one failure. Exits 1 on any failure.
set -uo pipefail
cd "$(dirname "$0")/.."

# What runs under an emulated ARMv6 too: all but what takes many minutes there, which runs with --long.
arm_packages="./window ./watermark ./reading ./configs ./buffer ./agent ./sim ./docs"

# Programs that are started and watched from outside. The race detector is on them with --long: it makes them half as slow again.
outside="edgeagent/(crash|e2e|trials|packaging|grafana)$"

quick=
long=
timeout=10m # of the tests of one package
fuzz_time=2000x # of each fuzz target: so many inputs, or so long
for arg in "$@"; do
  case $arg in
    --quick) quick=1 ;;
    --long) long=1; export EDGEAGENT_LONG=1 timeout=5h fuzz_time=10m ;;
    *) echo "test.sh: unknown argument $arg (known: --quick, --long)" >&2; exit 2 ;;
  esac
done

have() { command -v "$1" >/dev/null 2>&1; }
have go || { echo "test.sh: Go is not installed; the version in go.mod is needed: https://go.dev/dl/" >&2; exit 1; }

work=$(mktemp -d)
binfmt= # the emulator entry that this run registered, if it did
cleanup() {
  [ -z "$binfmt" ] || echo -1 > "$binfmt" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
counts=$work/counts
failed_steps=()

gobin=$(go env GOPATH)
gobin=${gobin%%:*}/bin
export PATH=$PATH:$gobin:/usr/sbin
# Results do not hang on what a user's environment asks of Go, nor on who owns the checkout.
export GOFLAGS=-buildvcs=false GOWORK=off
unset GOOS GOARCH GOARM
# Go before 1.21 cannot read go.mod, a later one fetches the version that is named there.
why=$(go list -m 2>&1) || { echo "test.sh: $(go env GOVERSION) does not do, the version in go.mod is needed: https://go.dev/dl/: $why" >&2; exit 1; }

# step NAME COMMAND… runs a command, says how long it took, and goes on when it fails.
step() {
  local name=$1 from=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    echo "== $name: ok, $((SECONDS - from)) s"
  else
    echo "== $name: FAILED, $((SECONDS - from)) s"
    failed_steps+=("$name")
  fi
}

# tests ARGUMENTS… runs go test; its failures are counted test by test.
tests() { "$work/gotest" -some -counts "$counts" ${no_skips:+-no-skips} -- -timeout "$timeout" "$@"; }
no_skips=
[ "${CI:-}" = true ] && no_skips=1

# install gets the Debian packages that are missing and the InfluxDB server that tests talk to.
install() {
  local want=() policy=/usr/sbin/policy-rc.d made=
  have mosquitto || want+=(mosquitto)
  emulator >/dev/null || want+=(qemu-user-static)
  have "$(go env CC)" || want+=(gcc libc6-dev)
  have strace || want+=(strace)
  have git || want+=(git)
  have chromium || want+=(chromium)
  have zsh || want+=(zsh)
  have fish || want+=(fish)
  have mosquitto_pub || want+=(mosquitto-clients)
  have curl || want+=(curl)
  have jq || want+=(jq)
  have systemd-analyze || want+=(systemd)
  have ip || want+=(iproute2)
  [ -z "${EDGEAGENT_LONG:-}" ] || have debootstrap || want+=(debootstrap)
  if [ ${#want[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && have apt-get; then
    # The broker's package would start a service: keep it from that while we install.
    if [ ! -e $policy ]; then printf '#!/bin/sh\nexit 101\n' > $policy && chmod +x $policy && made=1; fi
    apt-get -o DPkg::Lock::Timeout=600 -qq update >"$work/apt" 2>&1
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq install -y --no-install-recommends "${want[@]}" >>"$work/apt" 2>&1 ||
      { echo "apt-get install ${want[*]} did not work:"; tail -5 "$work/apt"; }
    [ -z "$made" ] || rm -f $policy
    hash -r
  fi
  if ! have influxd; then
    echo "building influxd 1.8.10 (a few minutes, once)"
    CGO_ENABLED=0 GOBIN=$gobin go install github.com/influxdata/influxdb/cmd/influxd@v1.8.10 2>&1 | tail -5
  fi
  have mosquitto || echo "missing: mosquitto (apt-get install mosquitto): tests against a real broker skip"
  have influxd || echo "missing: influxd 1.8.10: tests against a real server skip"
  have strace || echo "missing: strace (apt-get install strace): tests that watch the order of writes skip"
  have chromium || echo "missing: chromium (apt-get install chromium): nobody looks at the status page"
  have zsh && have fish || echo "missing: zsh or fish (apt-get install zsh fish): their completions are not tried"
  [ -n "$quick" ] || emulator >/dev/null || echo "missing: qemu-arm (apt-get install qemu-user-static): nothing is run as ARMv6"
  [ -n "$quick" ] || race_works || echo "missing: a C compiler (apt-get install gcc): tests run without the race detector"
  [ -z "$no_skips" ] || { have mosquitto && have influxd && have strace && have chromium && have zsh && have fish && emulator >/dev/null && race_works; }
}

emulator() { command -v qemu-arm-static || command -v qemu-arm; }

race_works() { have "$(go env CC)" && CGO_ENABLED=1 go build -race -o "$work/race" ./scripts/elfcheck >/dev/null 2>&1; }

formatted() {
  local files
  files=$(git -c safe.directory="$(pwd -P)" ls-files -co --exclude-standard '*.go' 2>/dev/null | xargs -r ls 2>/dev/null) || files=$(find . -name '*.go' -not -path './dist/*')
  files=$(gofmt -l $files) && [ -z "$files" ] || { echo "not formatted by gofmt:"; echo "$files"; return 1; }
}

# On 32-bit boards a plain 64-bit atomic needs an alignment that fields do not have; the atomic.Int64 types bring it.
typed_atomics() {
  ! grep -rnE 'atomic\.(Add|Load|Store|Swap|CompareAndSwap|And|Or)(Int|Uint)64\(' --include='*.go' . ||
    { echo "use atomic.Int64 or atomic.Uint64 there"; return 1; }
}

staticcheck() { go tool -modfile=scripts/tools/go.mod staticcheck ./...; }

# fuzz runs every fuzz target for a while from its seeds and committed finds. A find fails, and is left in testdata/fuzz to be committed with its fix.
fuzz() {
  local name bad=
  go test -c -fuzz=Fuzz -o "$work/fuzz.test" ./reading || return
  for name in $(cd reading && "$work/fuzz.test" -test.list '^Fuzz'); do
    (cd reading && "$work/fuzz.test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$fuzz_time" -test.fuzzcachedir "$work/fuzzcache") >"$work/fuzz" 2>&1 ||
      no_find || { tail -30 "$work/fuzz"; bad=1; }
    echo "$name: $(grep -o 'execs: [0-9]*' "$work/fuzz" | tail -1) in $fuzz_time"
  done
  [ -z "$bad" ] && [ -n "$name" ]
}

# no_find is true of a fuzzing that failed for no input: Go's fuzzer may call its own end of time a failure.
no_find() { grep -q 'context deadline exceeded' "$work/fuzz" && ! grep -q 'Failing input' "$work/fuzz"; }

# register_arm lets the kernel start ARM programs, so that programs under test can start themselves again. Where that
# is not allowed, tests put $EDGEAGENT_TEST_EXEC in front of their children.
register_arm() { # EMULATOR
  local dir=/proc/sys/fs/binfmt_misc
  GOARCH=arm GOARM=6 CGO_ENABLED=0 go build -o "$work/arm" ./scripts/elfcheck || return
  ! "$work/arm" -h 2>&1 | grep -q Usage || return 0
  [ "$(id -u)" = 0 ] && [ -z "${EDGEAGENT_NO_BINFMT:-}" ] || return 0
  [ -e $dir/register ] || mount binfmt_misc -t binfmt_misc $dir 2>/dev/null || return 0
  printf '%s' ':edgeagent-arm:M::\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$1"':F' \
    2>/dev/null > $dir/register && binfmt=$dir/edgeagent-arm
}

arm_tests() { # PACKAGES…
  GOARCH=arm GOARM=6 CGO_ENABLED=0 EDGEAGENT_TEST_EXEC=$qemu tests -exec "$qemu" "$@"
}

# other_packages are those that are not in the list for ARMv6.
other_packages() { comm -23 <(go list ./... | sort) <(go list $arm_packages | sort); }

arm_end_to_end() { # BINARY TESTS
  EDGEAGENT_ARM_BINARY=$1 EDGEAGENT_TEST_EXEC=$qemu tests -count=1 -run "$2" ./e2e
}

summary() {
  local passed=0 failed=0 skipped=0 name
  [ ! -s "$counts" ] || read -r passed failed skipped < "$counts"
  for name in "${failed_steps[@]}"; do
    echo "failed: $name"
    case $name in tests*) ;; *) failed=$((failed + 1)) ;; esac # a test step's failures are in the counts
  done
  if [ ${#failed_steps[@]} -gt 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$skipped" = 0 ]; then skipped=; else skipped=", $skipped skipped"; fi
  echo "$passed passed, $failed failed$skipped"
  [ "$failed" = 0 ]
}

go build -o "$work/gotest" ./scripts/gotest || { echo "0 passed, 1 failed"; exit 1; }
step "tools" install
step "gofmt" formatted
step "vet" go vet ./...
step "vet for 386" env GOARCH=386 CGO_ENABLED=0 go vet ./...
step "vet for arm" env GOARCH=arm CGO_ENABLED=0 go vet ./...
step "staticcheck" staticcheck
step "typed atomics" typed_atomics
if [ -n "$quick" ]; then
  step "tests" tests ./...
else
  if race_works; then
    [ -z "$long" ] || outside='^$'
    CGO_ENABLED=1 step "tests with the race detector" tests -race $(go list ./... | grep -vE "$outside")
    [ -n "$long" ] || step "tests of the programs" tests $(go list ./... | grep -E "$outside")
  else
    step "tests" tests ./...
  fi
  step "fuzzing" fuzz
  if qemu=$(emulator); then
    register_arm "$qemu"
    step "tests as ARMv6" arm_tests $arm_packages
    [ -z "$long" ] || EDGEAGENT_LONG= step "tests as ARMv6, the rest" arm_tests $(other_packages)
  fi
  step "cross-build" scripts/cross-build.sh --verify armv6
  if [ -n "$qemu" ]; then
    step "tests of the ARMv6 binary" arm_end_to_end "$PWD/dist/edgeagent-linux-armv6" ARM
    step "tests of the ARMv7 binary" arm_end_to_end "$PWD/dist/edgeagent-linux-armv7" ARMReplay
  fi
fi
summary
