#!/bin/sh
# The one way into every command of this folder: `run.sh NAME ARGS…` runs hack/commands/NAME.ts.
# It makes sure that the packages of the present lockfile are there, then hands over to the pinned Node 26, so a machine
# with nothing but Node 20 and npm is enough. Written for plain sh: nothing else may be assumed before `npm ci`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
name=$1
shift

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || die "Node.js 20 or later with npm is needed: install it and run hack/$name again."
[ "$(node -p 'process.versions.node.split(".")[0] >= 20')" = true ] || die "Node.js 20 or later is needed, this is $(node --version)."

modules=$root/node_modules
hash=$(sha256sum "$root/package-lock.json" | cut -c1-32)

# A lockfile not younger than what npm noted in node_modules has just been installed by npm itself.
installed() {
  [ -x "$modules/.bin/node" ] || return 1
  [ "$(cat "$modules/.bottega-lock" 2>/dev/null)" != "$hash" ] || return 0
  [ -f "$modules/.package-lock.json" ] || return 1
  [ ! "$root/package-lock.json" -nt "$modules/.package-lock.json" ] || return 1
  printf '%s' "$hash" >"$modules/.bottega-lock"
}

# What came before a line broke lies in npm's cache.
fetch() {
  [ "$1" = 1 ] || say "· npm ci: the try before failed, this is number $1 of 3"
  (cd "$root" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=5 --loglevel=error >"$log" 2>&1)
}

install() {
  installed && return 0 # another command did it while this one waited for the lock
  say "· npm ci: installing the packages of package-lock.json (about half a minute)"
  log=$root/.bottega/logs/npm.log
  fetch 1 || fetch 2 || fetch 3 ||
    { tail -n 15 "$log" >&2; die "npm ci failed (see above): check that npm reaches its registry and that the disk has room."; }
  [ -x "$modules/.bin/node" ] || die "No Node 26 package for $(uname -sm): Linux on x64 or arm64 is needed."
  printf '%s' "$hash" >"$modules/.bottega-lock"
  say "✓ npm ci"
}

if ! installed; then
  mkdir -p "$root/.bottega/logs"
  exec 9>"$root/.bottega/install.lock" # the kernel frees it when this process ends, however it ends
  if command -v flock >/dev/null 2>&1; then flock 9; fi
  install
  exec 9>&-
fi
exec "$modules/.bin/node" --disable-warning=ExperimentalWarning "$root/hack/commands/$name.ts" "$@"
