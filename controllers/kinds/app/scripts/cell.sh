# One build, in a container that keeps nothing but the cache of its app. Arguments: seconds, MiB of cache and of work, name
# servers. /cell holds `options` (a line each, as printf %b takes them), `policy.json`, and the Dockerfile where it is no file of
# the upload, /source the upload; /keys, where it is, opens registries to buildctl and to no step; `context` and `recipe` in /cell name folders of it.
# stdin is held open by whoever waits for the build: when it ends, so does all of this. stdout is the image, stderr the log.
limit=$1 room=$2 servers=$3
cache=/var/lib/buildkit socket=/run/buildkit/buildkitd.sock
exec 3>&1 1>&2 4<&0 </dev/null
mkdir -p /run/buildkit
# Nobody but the frontend that is built in says what a Dockerfile means.
{
  printf '%s\n' '[frontend."gateway.v0"]' '  enabled = false' '[worker.oci]' '  gc = false' '[worker.containerd]' '  enabled = false'
  if [ -n "$servers" ]; then
    printf '%s\n' '[dns]' '  nameservers = ['
    for one in $servers; do printf '    "%s",\n' "$one"; done
    printf '  ]\n'
  fi
} > /tmp/buildkitd.toml
ctl() { buildctl --addr "unix://$socket" "$@"; }
forget() { ctl prune --filter type==source.local >/dev/null 2>&1 && rm -f "$cache/.sent"; }
used() { du -sxm "$cache" 2>/dev/null | cut -f1; }
buildkitd --config /tmp/buildkitd.toml --root "$cache" --addr "unix://$socket" --oci-worker-net host > /tmp/log 2>&1 3>&- 4<&- &
daemon=$! looks=0
until [ -S "$socket" ]; do
  looks=$((looks + 1))
  if [ "$looks" -gt 300 ] || ! kill -0 "$daemon" 2>/dev/null; then tail -n 20 /tmp/log; exit 1; fi
  sleep 0.1
done
# Files that a build which was killed was sent: nothing is compared with them.
[ ! -f "$cache/.sent" ] || forget
: > "$cache/.sent"
set --
while IFS= read -r option; do
  option=$(printf '%b.' "$option")
  set -- "$@" --opt "${option%.}"
done < /cell/options
recipe="/source/$(cat /cell/recipe)"
[ ! -f /cell/Dockerfile ] || recipe=/cell
[ ! -d /keys ] || export DOCKER_CONFIG=/keys
ctl build --progress plain --frontend dockerfile.v0 --local "context=/source/$(cat /cell/context)" --local "dockerfile=$recipe" \
  --source-policy-file /cell/policy.json "$@" --output type=docker,dest=-,compression=uncompressed >&3 3>&- 4<&- &
build=$!
stop() { printf '%s\n' "$*" > /tmp/why; kill -KILL "$build" "$daemon"; }
trap 'stop it was told to end' TERM
( cat <&4 >/dev/null; stop nobody waits for it any more ) 2>/dev/null &
( sleep "$limit"; stop "it took more than $limit s" ) 2>/dev/null &
# The longer a look takes, the longer nobody looks.
( while :; do
    began=$(date +%s)
    [ "$(used)" -le "$room" ] || { stop "it took more than $room MiB of disk"; break; }
    sleep $((1 + 4 * ($(date +%s) - began)))
  done ) 2>/dev/null &
wait "$build"
code=$?
# In version 2 of cgroups, and in version 1.
counts() { grep -qs "^$1 [1-9]" "/sys/fs/cgroup/$2" "/sys/fs/cgroup/$3"; }
if [ "$code" != 0 ]; then
  ! counts oom_kill memory.events memory/memory.oom_control || echo 'A step was ended: it took more memory than the app may use.'
  ! counts max pids.events pids/pids.events || echo 'A step had more processes than a build may have.'
fi
if [ -f /tmp/why ]; then
  why=$(cat /tmp/why)
  printf 'The build was ended: %s.\n' "$why"
  # With it goes the cache that has grown beyond bounds (parts/building/cell.sh).
  case "$why" in *disk) exit 91;; esac
  exit 1
fi
forget
[ "$(used)" -le "$((room / 2))" ] || ctl prune --keep-storage "$((room / 2))" >/dev/null 2>&1
kill -TERM "$daemon"
wait "$daemon"
exit "$code"
