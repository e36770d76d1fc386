#!/usr/bin/env bash
# The Python clients in a virtual environment of their own, made once and made anew when requirements.lock changes.
# Prints where it is: SHOAL_CLIENTS_VENV, or shoal/clients-venv in the user's cache.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wanted=$here/requirements.lock
environment=${SHOAL_CLIENTS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/shoal/clients-venv}
log=$environment.log

say() { printf 'clients: %s\n' "$*" >&2; }
whole() { cmp -s "$wanted" "$environment/requirements.lock" && "$environment/bin/openstack" --version >/dev/null 2>&1; }

mkdir -p "$(dirname "$environment")"
exec 9>"$environment.lock"
flock -n 9 || { say 'waiting for another installation'; flock -w 900 9; }
if ! whole; then
  say "installing $(grep -c == "$wanted") Python packages into $environment (once, about a minute; log in $log)"
  rm -rf "$environment"
  {
    python3 -m venv "$environment"
    timeout 900 "$environment/bin/pip" install --disable-pip-version-check --no-deps -r "$wanted"
  } >"$log" 2>&1 </dev/null || { tail -n 20 "$log" >&2; say 'installing failed'; exit 1; }
  cp "$wanted" "$environment/requirements.lock"
  whole || { "$environment/bin/openstack" --version >&2 || true; say 'the client does not run'; exit 1; }
  say 'installed'
fi
printf '%s\n' "$environment"
