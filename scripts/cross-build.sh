#!/usr/bin/env bash
# Builds the agent for every board: dist/edgeagent-linux-<arch>, static, stripped and byte-identical for one commit,
# with dist/SHA256SUMS. Fails if a binary is dynamic or over its size budget. It needs Go and a shell, and git unless
# VERSION and SOURCE_DATE_EPOCH say what git would.
#
#   scripts/cross-build.sh                   build, check, and see that macOS and Windows still compile
#   scripts/cross-build.sh --verify [ARCH…]  the same, then build all (or ARCH alone) once more from nothing and compare
#
#   VERSION            what `edgeagent version` says; default: git describe
#   SOURCE_DATE_EPOCH  the build's date in seconds; default: the last commit's
set -euo pipefail
cd "$(dirname "$0")/.."

linux="amd64 arm64 armv7 armv6 riscv64 mipsle"
others="darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
max_bytes=14000000

die() { echo "cross-build: $*" >&2; exit 1; }

verify=
if [ $# -gt 0 ]; then
  [ "$1" = --verify ] || die "unknown argument $1 (known: --verify [ARCH…])"
  shift
  verify=${*:-$linux}
fi

# In a container the checkout often belongs to another user; we run its code already, so its history may be read too.
repo() { git -c safe.directory="$(pwd -P)" "$@" 2>/dev/null; }

version=${VERSION:-$(repo describe --tags --always || true)}
epoch=${SOURCE_DATE_EPOCH:-$(repo log -1 --format=%ct || true)}
[ -n "$version" ] && [ -n "$epoch" ] || die "no commit to take version and date from: set VERSION and SOURCE_DATE_EPOCH"
date=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$epoch" +%Y-%m-%dT%H:%M:%SZ)

# What a user's environment could change in the output is pinned here.
export CGO_ENABLED=0 GOFLAGS= GOEXPERIMENT= GOWORK=off
unset GOOS GOARCH GOARM GOMIPS
export GOAMD64=v1 GOARM64=v8.0 GORISCV64=rva20u64

# What runs seldom is compiled without inlining: 2 % of the size for nothing that is felt. Routers get all of it so.
cold=()
for p in edgeagent/{demo,sim,discover,configs,status,doctor,support,logs,cmd/edgeagent} net/http crypto/x509 encoding/json log/slog \
  github.com/{mochi-mqtt/...,alecthomas/kong,pelletier/...,fxamacker/...,gorilla/...}; do
  cold+=("-gcflags=$p=-l")
done

compile() { # OUT NAME=VALUE…
  local out=$1 flags=("${cold[@]}")
  shift
  case " $* " in *" GOARCH=mipsle "*) flags=(-gcflags=all=-l) ;; esac
  env "$@" go build -trimpath -buildvcs=false "${flags[@]}" -o "$out" \
    -ldflags "-s -w -buildid= -X main.version=$version -X main.buildDate=$date" ./cmd/edgeagent
}

board() { # ARCH DIR
  local out=$2/edgeagent-linux-$1
  case $1 in
    armv7) compile "$out" GOOS=linux GOARCH=arm GOARM=7 ;;
    armv6) compile "$out" GOOS=linux GOARCH=arm GOARM=6 ;;
    mipsle) compile "$out" GOOS=linux GOARCH=mipsle GOMIPS=softfloat ;;
    *) compile "$out" GOOS=linux GOARCH="$1" ;;
  esac
}

sums() { # DIR: checksums of the binaries in it, in a fixed order
  (cd "$1" && if command -v sha256sum >/dev/null; then sha256sum edgeagent-linux-*; else shasum -a 256 edgeagent-linux-*; fi)
}

work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT

mkdir -p dist
rm -f dist/edgeagent-linux-* dist/SHA256SUMS
echo "edgeagent $version, $date"
for arch in $linux; do board "$arch" dist; done
go run ./scripts/elfcheck -max "$max_bytes" dist/edgeagent-linux-*
sums dist > dist/SHA256SUMS

for target in $others; do
  compile "$work/other" GOOS="${target%/*}" GOARCH="${target#*/}" || die "$target does not compile"
done
echo "compiles for $others"

if [ -n "$verify" ]; then
  # A build cache and a place of its own: nothing of the first build may help the second.
  mkdir "$work/again" "$work/source"
  cp -R go.mod go.sum ./*/ "$work/source/"
  rm -rf "$work/source/dist"
  for arch in $verify; do
    (cd "$work/source" && GOCACHE="$work/cache" board "$arch" "$work/again")
    cmp "dist/edgeagent-linux-$arch" "$work/again/edgeagent-linux-$arch" || die "two builds of $version for $arch differ"
  done
  echo "reproducible: a second build elsewhere, from nothing, gave the same bytes ($verify)"
fi
