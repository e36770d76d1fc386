#!/usr/bin/env bash
# Removes .shoal: the shares of `make run`, its database, logs and test reports. Not while something runs from it;
# what a killed one left behind is ended first.
set -euo pipefail
cd "$(dirname "$0")/.."

usage='Usage: scripts/clean.sh

Removes .shoal: the shares of `make run`, its database, logs and test reports.
'
case ${1-} in
  '') [ $# = 0 ] || { printf '%s' "$usage" >&2; exit 2; } ;;
  -h | --help) printf '%s' "$usage"; exit 0 ;;
  *) printf 'clean.sh takes no arguments\n\n%s' "$usage" >&2; exit 2 ;;
esac

[ -d .shoal ] || exit 0
here=$PWD/.shoal/

if read -r pid _ 2>/dev/null <.shoal/supervisor.pid && grep -qs node "/proc/$pid/cmdline"; then
  echo "shoal: process $pid runs from .shoal: end that first" >&2
  exit 1
fi

# Everything that belongs there names the directory in its command line; grep itself, by -f, doesn't.
left_behind() { grep -lsF -f <(printf '%s\n' "$here") /proc/[0-9]*/cmdline | cut -d/ -f3 || true; }
for signal in TERM KILL; do
  for _ in $(seq 25); do
    pids=$(left_behind)
    [ -n "$pids" ] || break 2
    # shellcheck disable=SC2086
    kill -s "$signal" $pids 2>/dev/null || true
    sleep 0.2
  done
done

# Deepest first: what is mounted there goes before what it is mounted on.
findmnt --raw --noheadings --output TARGET | { grep -F -- "$here" || true; } | sort -r | while read -r mounted; do
  umount "$(printf '%b' "$mounted")"
done
losetup --raw --noheadings --output NAME,BACK-FILE 2>/dev/null | { grep -F -- " $here" || true; } | while read -r device _; do
  losetup --detach "$device"
done
rm -rf .shoal
