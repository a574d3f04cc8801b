// Package packaging holds what the program is shipped in, and the tests of it; there is no code in it.
//
// nfpm.yaml is the Debian package, made by scripts/package.sh: the units edgeagent.service and
// edgeagent-firstboot.service, the script firstboot of the latter (docs/fleet.md), the maintainer scripts in debian/, and
// THIRD_PARTY_NOTICES.txt, written by scripts/notices. Dockerfile is an image, openwrt/ an init file for routers.
//
// The tests make a package of the machine's own architecture and install it into a copy-on-write view of the machine.
// With EDGEAGENT_LONG=1 they also make those of all architectures twice, and boot a small Debian, with systemd as its
// first process, in which the service lives through a configuration that is wrong, a kill, a hang and an upgrade.
package packaging
