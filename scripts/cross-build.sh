#!/usr/bin/env bash
# Builds the agent for every board: dist/edgeagent-linux-<arch>, static, stripped and byte-identical for one commit,
# with dist/SHA256SUMS. Fails if a binary is dynamic or over its size budget. It needs Go and a shell, and git unless
# VERSION and SOURCE_DATE_EPOCH say what git would.
#
#   scripts/cross-build.sh                   build, check, and see that macOS and Windows still compile
#   scripts/cross-build.sh --verify [ARCH…]  the same, then build all (or ARCH alone) once more from nothing and compare
#   scripts/cross-build.sh --only ARCH…      build and check these boards alone
#
#   VERSION            what `edgeagent version` says; default: git describe
#   SOURCE_DATE_EPOCH  the build's date in seconds; default: the last commit's
#   OUT                the folder for the binaries; default: dist
set -euo pipefail
cd "$(dirname "$0")/.."

linux="amd64 arm64 armv7 armv6 riscv64 mipsle"
others="darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
max_bytes=15000000

die() { echo "cross-build: $*" >&2; exit 1; }

verify=
case ${1:-} in
  '') ;;
  --verify)
    shift
    verify=${*:-$linux}
    ;;
  --only)
    shift
    [ $# -gt 0 ] || die "--only needs an architecture (known: $linux)"
    linux=$* others=
    ;;
  *) die "unknown argument $1 (known: --verify [ARCH…], --only ARCH…)" ;;
esac

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

# What runs seldom (a TLS handshake, a status page) is compiled without inlining: 3 % of the size for nothing that is felt. Routers get all of it so.
cold=()
for p in edgeagent/{demo,sim,discover,configs,status,doctor,support,logs,cmd/edgeagent} net/http crypto/{tls,x509} encoding/{asn1,json} log/slog \
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

out=${OUT:-dist}
mkdir -p "$out"
rm -f "$out"/edgeagent-linux-* "$out/SHA256SUMS"
echo "edgeagent $version, $date"
for arch in $linux; do board "$arch" "$out"; done
go run ./scripts/elfcheck -max "$max_bytes" "$out"/edgeagent-linux-*
sums "$out" > "$out/SHA256SUMS"

for target in $others; do
  compile "$work/other" GOOS="${target%/*}" GOARCH="${target#*/}" || die "$target does not compile"
done
[ -z "$others" ] || echo "compiles for $others"

if [ -n "$verify" ]; then
  # A build cache and a place of its own: nothing of the first build may help the second.
  mkdir "$work/again" "$work/source"
  cp -R go.mod go.sum ./*/ "$work/source/"
  rm -rf "$work/source/dist"
  for arch in $verify; do
    (cd "$work/source" && GOCACHE="$work/cache" board "$arch" "$work/again")
    cmp "$out/edgeagent-linux-$arch" "$work/again/edgeagent-linux-$arch" || die "two builds of $version for $arch differ"
  done
  echo "reproducible: a second build elsewhere, from nothing, gave the same bytes ($verify)"
fi
