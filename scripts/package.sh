#!/usr/bin/env bash
# Makes the Debian packages: dist/edgeagent_<version>_<arch>.deb, byte-identical for one commit, with their checksums in
# dist/SHA256SUMS.deb. It needs what scripts/cross-build.sh needs; nfpm is pinned in scripts/tools/go.mod.
#
#   scripts/package.sh          amd64, arm64, and armhf (its binary is for ARMv6, so it suits every Raspberry Pi)
#   scripts/package.sh ARCH…    these alone
#
#   VERSION, SOURCE_DATE_EPOCH, OUT  as for scripts/cross-build.sh
set -euo pipefail
cd "$(dirname "$0")/.."

die() { echo "package: $*" >&2; exit 1; }

board() { # ARCH: the name that cross-build.sh has for it
  case $1 in
    amd64 | arm64) echo "$1" ;;
    armhf) echo armv6 ;;
    *) die "unknown architecture $1 (known: amd64, arm64, armhf)" ;;
  esac
}

# deb_version TEXT: what git describe says, as Debian sorts versions: v1.2.3 is 1.2.3, v1.2.3-4-gabc comes after it,
# and a commit before the first tag is older than any release, and sorts by its date.
deb_version() {
  case $1 in
    v[0-9]*-*-g*) echo "$1" | sed -e 's/^v//' -e 's/-\([0-9]*\)-g/+\1.g/' -e 's/-/~/g' ;;
    v[0-9]*) echo "${1#v}" | sed 's/-/~/g' ;;
    [0-9]*.*) echo "$1" | sed 's/-/~/g' ;;
    *) echo "0~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(echo "$1" | tr -c 'a-zA-Z0-9.\n' .)" ;;
  esac
}

repo() { git -c safe.directory="$(pwd -P)" "$@" 2>/dev/null; }

export VERSION=${VERSION:-$(repo describe --tags --always || true)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(repo log -1 --format=%ct || true)}
[ -n "$VERSION" ] && [ -n "$SOURCE_DATE_EPOCH" ] || die "no commit to take version and date from: set VERSION and SOURCE_DATE_EPOCH"

out=${OUT:-dist}
archs=${*:-amd64 arm64 armhf}
boards=()
for arch in $archs; do boards+=("$(board "$arch")"); done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

OUT=$work/bin scripts/cross-build.sh --only "${boards[@]}"
go run ./scripts/notices -check
CGO_ENABLED=0 go build -modfile=scripts/tools/go.mod -o "$work/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm

# What is the same for all architectures, made by a program for this machine, which is thrown away.
native=$work/native
CGO_ENABLED=0 go build -buildvcs=false -ldflags "-X main.version=$VERSION -X main.buildDate=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" \
  -o "$native" ./cmd/edgeagent
stage=$work/stage
mkdir -p "$stage/completions" "$stage/doc/examples" "$stage/doc/grafana"
"$native" man | gzip -9n > "$stage/edgeagent.1.gz"
for shell in bash zsh fish; do "$native" completion "$shell" > "$stage/completions/$shell"; done
# Every gateway must have an id of its own, so the example's is taken out: the host name stands in for it.
sed 's/^id = "gw-07"$/# id = "gw-07"/' configs/edgeagent.toml > "$stage/edgeagent.toml"
(cd docs && find . -type f ! -name '*.go' -print0 | tar -cf - --null -T -) | tar -xf - -C "$stage/doc"
cp grafana/*.json "$stage/doc/grafana/"
cp configs/*.toml packaging/mosquitto.conf packaging/openwrt/edgeagent.init "$stage/doc/examples/"
cp packaging/copyright "$stage/doc/copyright"
gzip -9n < packaging/THIRD_PARTY_NOTICES.txt > "$stage/doc/THIRD_PARTY_NOTICES.txt.gz"
gzip -9n < CHANGELOG.md > "$stage/doc/changelog.gz"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
find "$stage" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +

DEB_VERSION=$(deb_version "$VERSION")
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
mkdir -p "$out"
rm -f "$out"/edgeagent_*.deb
for DEB_ARCH in $archs; do
  cp "$work/bin/edgeagent-linux-$(board "$DEB_ARCH")" "$stage/edgeagent"
  # nfpm itself fills in variables in some of the fields only.
  sed -e "s|\${STAGE}|$stage|" -e "s|\${DEB_ARCH}|$DEB_ARCH|" -e "s|\${DEB_VERSION}|$DEB_VERSION|" -e "s|\${MTIME}|$MTIME|" \
    packaging/nfpm.yaml > "$work/nfpm.yaml"
  "$work/nfpm" package --config "$work/nfpm.yaml" --packager deb --target "$out/edgeagent_${DEB_VERSION}_$DEB_ARCH.deb" >/dev/null
done
(cd "$out" && sha256sum edgeagent_*.deb | tee SHA256SUMS.deb)
