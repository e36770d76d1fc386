#!/usr/bin/env bash
# Removes .shoal: the shares of `make run`, its database, logs and test reports. Not while something runs from it.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d .shoal ] || exit 0
if read -r pid _ 2>/dev/null <.shoal/supervisor.pid && kill -0 "$pid" 2>/dev/null; then
  echo "shoal: process $pid runs from .shoal: end that first" >&2
  exit 1
fi
# Deepest first: what is mounted there goes before what it is mounted on.
findmnt --raw --noheadings --output TARGET | grep -F "$PWD/.shoal/" | sort -r | while read -r mounted; do
  umount "$(printf '%b' "$mounted")"
done
rm -rf .shoal
