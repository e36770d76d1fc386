#!/usr/bin/env bash
# Makes this machine ready: Node and npm when there are none, the packages of package-lock.json, and the Debian
# packages of what Shoal runs beside it. Does nothing that is done already; several at once wait for each other.
# Without root it names what is missing, with the command that installs it, and stops.
set -euo pipefail
cd "$(dirname "$0")/.."

usage='Usage: scripts/setup.sh [run|test]

Installs what is missing on this machine; without root, names it.
  run     only what the service itself needs
  test    also what its tests need
'
purpose=${1:-all}
case $#:$purpose in
  1:-h | 1:--help) printf '%s' "$usage"; exit 0 ;;
  0:all | 1:run | 1:test) ;;
  *) printf 'setup.sh takes run, test or nothing, not: %s\n\n%s' "$*" "$usage" >&2; exit 2 ;;
esac

say() { printf 'shoal: %s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/usr/bin/$1" ]; }

mkdir -p -m 700 .shoal
exec 9>.shoal/setup.lock
flock -n 9 || { say 'waiting for another set-up'; flock -w 1200 9; }

# --- what is missing from the distribution -------------------------------------------------------------------

missing=()
need() { missing+=("$1"); }
has node && has npm || { need nodejs; need npm; }
has mariadbd && has mariadb-install-db || need mariadb-server
has redis-server || need redis-server
has ganesha.nfsd || need nfs-ganesha
compgen -G '/usr/lib/*/ganesha/libfsalvfs.so*' >/dev/null || need nfs-ganesha-vfs
has mkfs.btrfs || need btrfs-progs
has dbus-daemon || need dbus
has rsync || need rsync
has setpriv || need util-linux
/sbin/ldconfig -p | grep 'libnfs\.so\.' >/dev/null || need libnfs
[ "$purpose" != test ] || { has python3 && python3 -c 'import ensurepip, venv'; } 2>/dev/null || need python3-venv

# The library's package carries its version in its name, which differs from release to release.
name_libnfs() {
  local name
  name=$(apt-cache pkgnames libnfs 2>/dev/null | grep -E '^libnfs[0-9]+(t64)?$' | sort -V | tail -n 1) || true
  printf '%s' "${name:-libnfs13}"
}

as_root_without_services() {
  # Debian's packages start their services unless this says no.
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  "$@"
}

install() {
  local log=.shoal/apt.log options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold)
  say "installing ${missing[*]} (log in $log)"
  {
    apt-get update -q
    missing=("${missing[@]/#libnfs/$(name_libnfs)}")
    DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "${missing[@]}"
  } </dev/null >"$log" 2>&1 9>&- || { tail -n 20 "$log" >&2; say 'apt-get failed'; exit 1; }
}

if [ ${#missing[@]} -gt 0 ]; then
  if ! has apt-get; then
    say "missing: ${missing[*]} (Debian's names): install them with your distribution's tools, then run this again"
    exit 1
  elif [ "$(id -u)" != 0 ]; then
    names="${missing[*]/#libnfs/$(name_libnfs)}"
    say "missing: $names"
    say "install them with:  sudo apt-get update && sudo apt-get install --no-install-recommends $names"
    exit 1
  fi
  as_root_without_services install
fi

# NFS-Ganesha looks up file systems there; the barest installations don't have it.
if [ ! -e /etc/mtab ] && [ "$(id -u)" = 0 ]; then
  say 'making /etc/mtab, which NFS-Ganesha needs'
  ln -sf ../proc/self/mounts /etc/mtab
fi

# --- the packages of package-lock.json -----------------------------------------------------------------------

npm_install() {
  npm "$@" --no-progress --prefer-offline --loglevel=error </dev/null >.shoal/npm.log 2>&1 9>&- || {
    tail -n 20 .shoal/npm.log >&2
    say "npm $1 failed"
    exit 1
  }
}

stamp=node_modules/.shoal-setup
wanted=$(cat package-lock.json .npmrc | sha256sum | cut -d' ' -f1)
installed=$(cat "$stamp" 2>/dev/null || true)
[ -x node_modules/.bin/node ] || installed=none
case $purpose:$installed in
  "run:$wanted run" | *":$wanted all") exit 0 ;;
  "run:"*)
    say 'installing npm packages'
    npm_install ci --omit=dev
    ;;
  *":$wanted run")
    # Adds to what is there: a service may be running from it.
    say 'installing npm packages for development'
    npm_install install --no-save --include=dev
    ;;
  *)
    say 'installing npm packages'
    npm_install ci
    ;;
esac

# npm 9 takes the link to Node away with the package for the other architecture, which it leaves out.
node=node_modules/.bin/node
case $(uname -m) in x86_64) arch=x64 ;; aarch64 | arm64) arch=arm64 ;; *) arch=none ;; esac
mkdir -p node_modules/.bin
if [ -x "node_modules/node-linux-$arch/bin/node" ]; then
  ln -sf "../node-linux-$arch/bin/node" "$node"
elif node -e 'process.exit(process.versions.node.split(".")[0] >= 24 ? 0 : 1)'; then
  ln -sf "$(command -v node)" "$node"
fi
if ! version=$("$node" --version 2>/dev/null); then
  say "npm installed no Node 24 for $(uname -sm), and $(command -v node) is $(node --version): see .shoal/npm.log, or install Node 24"
  exit 1
fi
case $version in v2[4-9].* | v[3-9][0-9].*) ;; *) say "$node is $version: remove node_modules"; exit 1 ;; esac
case $purpose in run) printf '%s run\n' "$wanted" ;; *) printf '%s all\n' "$wanted" ;; esac >"$stamp"
