# The meter of a host's apps: a container that sees the host's processes and speaks to its Docker, of the host's own programs.
# It reads what each app has on disk (layers, volumes, logs, files that are deleted and still open) and stops the
# containers of one that has more than its budget. Arguments: where Docker keeps its data, the socket that it listens on.
# Containers say their app and its budget in MiB by labels. For each app /run/apps has a line: app, MiB used, MiB of budget,
# and 'stopped' or 'within'; /var/meter/<app> holds the MiB at which it was stopped, and outlives this container.
state=/run/guard
PATH=/usr/sbin:/sbin:/usr/bin:/bin
export HOME=/run LC_ALL=C
trap 'exit 0' TERM INT
# What fills this much is looked at once more, whatever the pace.
step=64
# An app that begins anew with too much has so long to give some back; meanwhile it gets no more.
grace=600
tell() { echo "$(date +%s) $*" > "$state.next" && mv "$state.next" "$state"; }
# The host's files as a process sees them in whose sight Docker keeps this container: not every first process shows its own.
root_of() {
  for process in 1 2 $(grep -lx dockerd /proc/[0-9]*/comm | cut -d / -f 3); do
    for folder in "/proc/$process/root$1/containers/$(cat /proc/sys/kernel/hostname)"*; do
      [ ! -d "$folder" ] || { echo "/proc/$process/root"; return; }
    done
  done
}
free() { stat -f -c '%a %S' "$data" | { read -r blocks size && echo $((blocks * size / 1048576)); }; }
# A line per container: app, budget, init process (0: none), created, folder of its log, then its volumes. No blanks in any.
containers() {
  ids=$(docker ps -aq --no-trunc --filter label=dev.bottega.disk) || return 1
  [ -n "$ids" ] || return 0
  docker inspect --format '{{index .Config.Labels "dev.bottega.app"}} {{index .Config.Labels "dev.bottega.disk"}} {{.State.Pid}} {{.Created}} {{.Id}} {{.LogPath}}{{range .Mounts}}{{if eq .Type "volume"}} {{.Source}}{{end}}{{end}}' $ids 2>/dev/null |
    grep -E '^[a-z0-9-]+ [0-9]+ [0-9]+ '
}
# Volumes that no container of theirs uses are an app's as well.
volumes() {
  names=$(docker volume ls -q --filter label=dev.bottega.app) || return 1
  [ -n "$names" ] || return 0
  docker volume inspect --format '{{index .Labels "dev.bottega.app"}} {{.Mountpoint}}' $names 2>/dev/null
}
# The folder that a running container writes to, whatever stores its layers.
layer_of() { sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \/ .*[ ,]upperdir=\([^, ]*\).*/\1/p' "/proc/$1/mountinfo" 2>/dev/null | head -n 1; }
folders() {
  for pid in $pids; do layer_of "$pid"; done
  printf '%s\n' $written
}
# Processes in the containers that begin with $pids: these have the namespace of processes of one of them.
processes() {
  for pid in $pids; do readlink "/proc/$pid/ns/pid"; done > /run/namespaces
  find /proc -mindepth 3 -maxdepth 3 -path '/proc/[0-9]*/ns/pid' -printf '%l %h\n' 2>/dev/null |
    awk 'NR == FNR { mine[$1] = 1; next } $1 in mine { sub("/ns$", "", $2); print $2 }' /run/namespaces -
}
# Blocks of 512 bytes by file: 'links device:inode blocks'. What is in memory is counted as memory.
kept() { [ ! -s /run/folders ] || xargs -d '\n' sh -c 'exec find "$@" -xdev -printf "%n %D:%i %b\n"' find < /run/folders 2>/dev/null; }
deleted() {
  for process in $(processes); do echo "$process/fd"; echo "$process/map_files"; done > /run/open
  [ -s /run/open ] || return 0
  xargs -d '\n' sh -c 'exec find "$@" -mindepth 1 -maxdepth 1 -lname "* (deleted)" ! -lname "/memfd:*" ! -lname "/dev/shm/*" ! -lname "/SYSV*" -print' find < /run/open 2>/dev/null |
    while IFS= read -r file; do
      case "$(stat -L -f -c %T "$file" 2>/dev/null)" in tmpfs|ramfs|'') continue;; esac
      stat -L -c '2 %d:%i %b' "$file" 2>/dev/null
    done
}
# MiB, with as much for each file as a file system has for it: who has very many has all of them.
used_by() {
  folders | sort -u | sed -n "s|^/|$root/|p" > /run/folders
  { kept; deleted; } | awk '
    $1 > 1 { if (seen[$2]++) next }
    { blocks += $3; files += 1 }
    END { mib = blocks / 2048; least = files / 64; printf "%d\n", (mib > least ? mib : least) }'
}
stop_all() {
  echo "$app uses $used of $budget MiB: stopped" >&3
  docker stop -t 3 $running >/dev/null 2>&1 &
}
# `judge`: what becomes of `app`, which uses `used` of `budget`.
judge() {
  held=$(cat "/var/meter/$app" 2>/dev/null)
  word=within
  if [ "$used" -gt "$budget" ] && [ -n "$running" ]; then
    age=$(($(date +%s) - $(date -d "$newest" +%s)))
    if [ -z "$held" ] || [ "$age" -gt "$grace" ] || [ "$used" -gt $((held + 16)) ]; then
      [ -n "$held" ] && [ "$held" -gt "$used" ] || echo "$used" > "/var/meter/$app" || return 1
      stop_all
      word=stopped
    fi
  elif [ -n "$running" ]; then
    rm -f "/var/meter/$app"
  elif [ -n "$held" ]; then
    # Nothing of it runs: what it had when it was stopped is told.
    word=stopped used=$held
  fi
  echo "$app $used $budget $word" >> /run/apps.next
}
measure() {
  containers > /run/containers && volumes > /run/volumes || return 1
  : > /run/apps.next
  cut -d ' ' -f 1 /run/containers | sort -u > /run/slugs
  while read -r app; do
    pids='' written=$(sed -n "s/^$app //p" /run/volumes) budget=0 running='' newest=''
    while read -r of limit pid created id log rest; do
      [ "$of" = "$app" ] || continue
      [ "$limit" -le "$budget" ] || budget=$limit
      written="$written ${log%/*} $rest"
      [ "$pid" != 0 ] || continue
      pids="$pids $pid" running="$running $id"
      newest=$(printf '%s\n' "$newest" "$created" | sort | tail -n 1)
    done < /run/containers
    used=$(used_by)
    judge || return 1
  done < /run/slugs
  wait
  mv /run/apps.next /run/apps
  for file in /var/meter/*; do
    grep -q "^${file##*/} " /run/apps || rm -f "$file"
  done
}
: > /run/apps
root=$(root_of "$1")
until [ -n "$root" ]; do
  tell fault "no process shows where Docker keeps its data, $1"
  sleep 5 & wait $!
  root=$(root_of "$1")
done
data=$root$1
export DOCKER_HOST="unix://$root$2"
full=0 due=0 last=$(free)
while :; do
  now=$(date +%s) room=$(free)
  # What one gives back does not hide what another takes.
  [ "$room" -le "$last" ] || last=$room
  if [ "$now" -ge "$due" ] && { [ "$now" -ge "$full" ] || [ "$room" -lt $((last - step)) ]; }; then
    if fault=$(measure 2>&1 >&3); then
      tell ok 0
    else
      tell "fault $(echo "$fault" | head -n 1)"
    fi 3>&1
    last=$room ended=$(date +%s)
    # The longer a look takes, the longer nobody looks.
    due=$((ended + 2 * (ended - now))) full=$((ended + 30))
    [ "$due" -le "$full" ] || due=$full
  elif [ "$now" -ge "$((${told:-0} + 5))" ]; then
    case "$(cat "$state" 2>/dev/null)" in *' ok '*) tell ok 0; told=$now;; esac
  fi
  sleep 1 & wait $!
done
