# stdin: a digest of what guard and meter are to be, ranges that are closed. Arguments: the guard's script, the meter's.
# Starts both, or new ones in their place, and waits for their first look. They have no image but an empty one.
IFS= read -r digest && IFS= read -r closed || exit 64
# `stand <name> <arguments of docker run...>`: leaves it as it is, if it is the same and runs.
stand() {
  name=$1; shift
  found=$(docker inspect --format '{{.State.Running}} {{index .Config.Labels "dev.bottega.guard"}}' "$name" 2>/dev/null)
  [ "$found" != "true $digest" ] || return 0
  docker rm -f "$name" >/dev/null 2>&1
  docker run -d --name "$name" --label "dev.bottega.guard=$digest" --restart always --userns host --cap-drop ALL \
    --security-opt no-new-privileges --read-only --tmpfs /run --log-opt max-size=1m --log-opt max-file=1 $mounts "$@" >/dev/null
}
image=bottega.local/empty:1
docker image inspect "$image" >/dev/null 2>&1 || tar -cf - -T /dev/null | docker import - "$image" >/dev/null || exit 1
mounts=''
for folder in /usr /bin /sbin /lib /lib64 /etc/alternatives; do
  [ ! -d "$folder" ] || mounts="$mounts -v $folder:$folder:ro"
done
resolve=''
[ ! -d /run/systemd/resolve ] || resolve='-v /run/systemd/resolve:/host/resolve:ro'
stand bottega-guard --network host --cap-add NET_ADMIN --cap-add NET_RAW --memory 64m --pids-limit 64 $resolve -v /etc:/host/etc:ro \
  "$image" /bin/sh -c "$1" guard "$closed" || exit 1
endpoint=$(docker context inspect --format '{{.Endpoints.docker.Host}}')
case "$endpoint" in unix://*) ;; *) echo "Docker is reached by $endpoint, not by a socket" >&2; exit 1;; esac
# Docker tells the first without links already; its user may not even look into it.
root=$(docker info --format '{{.DockerRootDir}}') && socket=$(readlink -f "${endpoint#unix://}") || exit 1
# Files of all users and its own volume, which is owned by who is nobody here; what processes have open; what they have only mapped.
stand bottega-meter --pid host --network none --cap-add DAC_OVERRIDE --cap-add SYS_PTRACE --cap-add SYS_ADMIN \
  --security-opt apparmor=unconfined --security-opt label=disable --memory 256m --memory-swap 256m --pids-limit 64 --cpu-shares 256 \
  -v bottega-meter:/var/meter "$image" /bin/sh -c "$2" meter "$root" "$socket" || exit 1
for look in $(seq 300); do
  seen=$(guard_state)
  case "$seen" in 'ok '*) exit 0;; 'fault '*) printf '%s\n' "$seen" >&2; exit 1;; esac
  sleep 0.1
done
printf '%s\n' "$seen" >&2
exit 1
