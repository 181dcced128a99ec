# Copies of volumes that are one moment of them: all of it is copied while their services go on, and what changed meanwhile
# while these are paused, unless nothing did. `copier` is what runs in the container (copier.sh).
# `gone <container>`: ended, and its name is free again. One that removes itself has it for a while yet, and tells whoever asks that it is going.
gone() {
  for try in $(seq 100); do
    docker rm -f "$1" >/dev/null 2>&1
    docker container inspect "$1" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  return 1
}
# `writable <folder>`: where a copier puts something. It has its engine's users, who are nobody on a host that remaps them: what it may write in is
# everybody's, and what it reads, below a folder that is its owner's alone.
writable() { mkdir -p "$1" && chmod 777 "$1"; }
copier_up() {
  called=$1; shift
  folders=''
  for folder in /usr /bin /sbin /lib /lib64 /etc/alternatives; do [ ! -d "$folder" ] || folders="$folders -v $folder:$folder:ro"; done
  gone "$called" || return 1
  rm -f "$here/ask" "$here/said"
  mkfifo -m 600 "$here/ask" "$here/said" || return 1
  # Whoever waits for what it says hears of its end as well: we hold that pipe open ourselves, so that nobody meets the end of it.
  { docker run --rm -i --name "$called" --label dev.bottega.copier=1 --network none --cap-drop ALL --cap-add CHOWN \
    --cap-add DAC_OVERRIDE --cap-add FOWNER --cap-add FSETID --cap-add MKNOD --cap-add SETFCAP --security-opt no-new-privileges \
    --read-only --tmpfs /run --cpu-shares 256 --memory 512m --pids-limit 64 --log-driver none --pull never $folders "$@" \
    bottega.local/empty:1 /bin/sh -c "$copier" copier; echo; } < "$here/ask" > "$here/said" 2>/dev/null &
  exec 4<>"$here/ask" 5<>"$here/said"
}
# `asked <what> <seconds>`: the copier's answer in `said`; without one in time, or when it ended, there is none.
asked() {
  said=''
  printf '%s\n' "$1" >&4
  said=$(timeout "$2" head -n 1 <&5) && [ -n "$said" ]
}
copier_down() {
  exec 4>&- 5<&-
  gone "$called"
  rm -f "$here/ask" "$here/said"
}
# Whoever is ended between both leaves nothing paused: the watch is in no group of ours.
pause() {
  paused=''
  for id in $1; do case "$(docker inspect --format '{{.State.Status}}' "$id" 2>/dev/null)" in running) paused="$paused $id";; esac; done
  [ -n "$paused" ] || return 0
  setsid sh -c "sleep $2; docker unpause $paused" </dev/null >/dev/null 2>&1 &
  watch=$!
  docker pause $paused >/dev/null
}
unpause() {
  [ -n "$paused" ] || return 0
  docker unpause $paused >/dev/null
  kill -TERM "-$watch" 2>/dev/null
  paused=''
}
# Of the app: the copier has them too.
users_of() { for volume in "$@"; do docker ps -q --no-trunc --filter "volume=$volume" --filter label=com.docker.compose.project; done | sort -u; }
# `copy_volumes <name> <MiB that may be copied> <seconds> <from> <to>...`: sets `why` where it cannot be done, and leaves the
# copies to whoever asked. A second and a half is what visitors wait at most; who needs longer gets no copy. `moment`: 'still' where nobody was paused for it, else 'paused'.
copy_volumes() {
  name=$1 room=$2 seconds=$3; shift 3
  binds='' sources=''
  while [ $# -gt 0 ]; do
    docker volume create --label "dev.bottega.copy=$slug" "$2" >/dev/null || { why='no volume could be made'; return 1; }
    if docker volume inspect "$1" >/dev/null 2>&1; then binds="$binds -v $1:/from/${2#*_}:ro -v $2:/to/${2#*_}" sources="$sources $1"; fi
    shift 2
  done
  [ -n "$binds" ] || return 0
  copier_up "$name" $binds || { why='nothing that copies could be started'; return 1; }
  why=''
  if ! asked measure 20; then why='nothing that copies could be started'
  elif used=${said% *} free=${said#* }; [ "$used" -gt "$room" ]; then why="its volumes hold $used MiB, and $room are copied at most"
  elif [ "$((free - used))" -lt 2048 ]; then why="its volumes hold $used MiB, and the host has $free free"
  elif ! asked most "$seconds" || [ "$said" != ok ]; then why="its $used MiB were not copied in $seconds s"
  elif asked same 20 && [ "$said" = ok ]; then moment=still
  else
    moment=paused
    asked more "$seconds"
    pause "$(users_of $sources)" 5
    asked rest 3 || said=late
    unpause
    [ "$said" = ok ] || why="what was written meanwhile was not copied in 3 s"
  fi
  copier_down
  [ -z "$why" ]
}
