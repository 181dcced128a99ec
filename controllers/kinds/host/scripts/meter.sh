# The meter of a host's apps: a container that sees the host's processes and speaks to its Docker, of the host's own programs.
# It reads what each app has on disk (layers, volumes, logs, files that are deleted and still open) and stops the
# containers of one that has more than its budget. Arguments: where Docker keeps its data, the socket that it listens on.
# Containers say their app and its budget in MiB by labels. /run/apps/<app> has a line: MiB used, MiB of budget, 'within' or
# 'stopped', and when it was stopped (0: not). /run/held/<app> has one for each of its volumes: its name, and bytes. /var/meter/<app> holds the MiB at which it was first stopped, and when last: it
# outlives this container.
state=/run/guard
PATH=/usr/sbin:/sbin:/usr/bin:/bin
export HOME=/run TMPDIR=/run LC_ALL=C
trap 'exit 0' TERM INT
# MiB: what fills this much is looked at at once.
step=64
# Seconds: an app that begins anew with too much has so long to give some back; meanwhile it gets no more.
grace=600
# Files to the MiB that a budget has: as many as ext4 makes.
files_per_mib=64
tell() { echo "$(date +%s) $*" > "$state.next" && mv "$state.next" "$state"; }
missing() {
  for program in awk docker find grep sort stat timeout xargs; do command -v "$program" >/dev/null || { echo "$program is missing"; return; }; done
  find / -maxdepth 0 -printf '' 2>/dev/null || echo 'find is not that of GNU'
}
# The host's files as a process sees them in whose sight Docker keeps this container: not every first process shows its own.
root_of() {
  for process in 1 2 $(grep -lx dockerd /proc/[0-9]*/comm | cut -d / -f 3); do
    for folder in "/proc/$process/root$1/containers/$(cat /proc/sys/kernel/hostname)"*; do
      [ ! -d "$folder" ] || { echo "/proc/$process/root"; return; }
    done
  done
}
free() { stat -f -c '%a %S' "$data" | { read -r blocks size && echo $((blocks * size / 1048576)); }; }
# A line per container: app, budget, state, init process (0: none), created, id, its layer as far as Docker tells it, its log,
# then its volumes. No blanks in any. What went between both questions is left out.
containers() {
  ids=$(cut -d ' ' -f 1 /run/listed)
  [ -n "$ids" ] || return 0
  docker inspect --format '{{index .Config.Labels "dev.bottega.app"}} {{index .Config.Labels "dev.bottega.disk"}} {{.State.Status}} {{.State.Pid}} {{.Created}} {{.Id}} layer={{with index . "GraphDriver"}}{{with index . "Data"}}{{with index . "UpperDir"}}{{.}}{{end}}{{end}}{{end}} log={{.LogPath}}{{range .Mounts}}{{if eq .Type "volume"}} {{.Source}}{{end}}{{end}}' $ids 2>/dev/null |
    grep -E '^[a-z0-9-]+ [0-9]+ [a-z]+ [0-9]+ '
  return 0
}
# Where Docker does not tell it: the folder that a running container writes to.
layer_of() { sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \/ .*[ ,]upperdir=\([^, ]*\).*/\1/p' "/proc/$1/mountinfo" 2>/dev/null | head -n 1; }
# Processes in the containers that begin with $pids: these have the namespace of processes of one of them.
processes() {
  for pid in $pids; do readlink "/proc/$pid/ns/pid"; done > /run/namespaces
  find /proc -mindepth 3 -maxdepth 3 -path '/proc/[0-9]*/ns/pid' -printf '%l %h\n' 2>/dev/null |
    awk 'NR == FNR { mine[$1] = 1; next } $1 in mine { sub("/ns$", "", $2); print $2 }' /run/namespaces -
}
# 'kept <names> <blocks of 512 bytes> <folder>' by name of a file; the folder is that in which it was looked for.
kept() { timeout 120 xargs -d '\n' sh -c 'exec find "$@" -xdev -printf "kept %n %b %H\n"' find < /run/folders; }
# 'open <device> <inode> <blocks>' by deleted file that a thread has open, or a process has mapped. Memory is no disk, whatever
# its files are called: only the devices of layers and volumes count.
deleted() {
  for pid in $pids; do stat -L -c 'disk %d' "/proc/$pid/root/"; done
  stat -c 'disk %d' "$data"
  for process in $(processes); do printf '%s\n' "$process"/task/*/fd "$process/map_files"; done > /run/open
  timeout 20 xargs -d '\n' sh -c 'exec find -L "$@" -mindepth 1 -maxdepth 1 -type f -links 0 -printf "open %D %i %b\n"' find < /run/open | sort -u
}
# MiB. Time is bounded, and memory: what could not be read in time is not counted, so that it is never too much.
used_by() {
  : > /run/held.next
  printf '%s\n' $written | sort -u | sed -n "s|^/|$root/|p" > /run/folders
  { deleted; kept; } 2>/dev/null | awk -v "per_mib=$files_per_mib" '
    $1 == "disk" { disks[$2] = 1 }
    $1 == "open" && $2 in disks { blocks += $4; files += 1 }
    $1 == "kept" && $2 > 0 { blocks += $3 / $2; files += 1 / $2; held[$4] += $3 / $2 }
    END { mib = blocks / 2048; least = files / per_mib; printf "%d\n", (mib > least ? mib : least)
      for (folder in held) if (split(folder, parts, "/") > 2 && parts[length(parts)] == "_data") printf "%s %.0f\n", parts[length(parts) - 1], held[folder] * 512 > "/run/held.next" }'
}
# `judge`: what becomes of `app`, which uses `used` of `budget`. It is told before it is done: whoever sees the end finds why.
judge() {
  now=$(date +%s) word=within at=0 held='' ended=''
  { read -r held ended < "/var/meter/$app"; } 2>/dev/null
  if [ -z "$running" ]; then
    [ -z "$held" ] || word=stopped at=$ended
    # What only ran, or was open, is not there any more to be counted.
    [ "${held:-0}" -le "$used" ] || used=$held
  elif [ "$used" -le "$budget" ]; then
    rm -f "/var/meter/$app"
  elif [ -z "$held" ] || [ "$used" -gt $((held + 16)) ] || [ $((now - $(date -d "$newest" +%s))) -gt "$grace" ]; then
    word=stopped at=$now
    # The first figure holds: whoever comes again and again gets no more each time.
    echo "${held:-$used} $now" > "/var/meter/$app" || return 1
  fi
  echo "$used $budget $word $at" > "/run/apps/$app.next" && mv "/run/apps/$app.next" "/run/apps/$app" || return 1
  if [ "$word" = stopped ] && [ -n "$running" ]; then
    echo "$app uses $used of $budget MiB: stopped"
    timeout 60 docker stop -t 3 $running >/dev/null 2>&1 &
  fi
}
# What is known of an app that has neither container nor volume any more. A release that failed leaves its volumes.
forget() {
  for file in /run/apps/* /run/held/* /var/meter/* /var/meter/.budgets/*; do
    grep -qxF "${file##*/}" /run/known || rm -f "$file"
  done
}
measure() {
  docker ps -a --no-trunc --filter label=dev.bottega.disk --format '{{.ID}} {{.Label "dev.bottega.app"}}' > /run/listed || return 1
  # Volumes that no container uses any more are an app's as well.
  docker volume ls --filter label=dev.bottega.app --format '{{.Label "dev.bottega.app"}} {{.Mountpoint}}' > /run/volumes || return 1
  containers > /run/containers
  cut -d ' ' -f 1 /run/containers | sort -u > /run/apps.here
  while read -r app; do
    pids='' written=$(sed -n "s/^$app //p" /run/volumes) budget=0 running='' newest=''
    while read -r of limit status pid created id layer log rest; do
      [ "$of" = "$app" ] || continue
      [ "$limit" -le "$budget" ] || budget=$limit
      layer=${layer#layer=} log=${log#log=}
      [ "$pid" = 0 ] || { pids="$pids $pid"; layer=${layer:-$(layer_of "$pid")}; }
      written="$written $layer ${log%/*} $rest"
      case "$status" in running|restarting|paused) running="$running $id";; esac
      newest=$(printf '%s\n' "$newest" "$created" | sort | tail -n 1)
    done < /run/containers
    # What it was given since its containers were made.
    { read -r budget < "/var/meter/.budgets/$app"; } 2>/dev/null
    used=$(used_by)
    mv /run/held.next "/run/held/$app" || return 1
    judge || return 1
    tell ok 0
  done < /run/apps.here
  wait
  { cut -d ' ' -f 2 /run/listed; cut -d ' ' -f 1 /run/volumes; } | sort -u > /run/known
  forget
}
mkdir -p /run/apps /run/held
root='' data='' said='' told=0 full=0 due=0 last=0
lack=$(missing)
while :; do
  now=$(date +%s)
  # A process that showed it may have ended.
  [ -d "$data" ] || { root=$(root_of "$1"); data=$root$1; export DOCKER_HOST="unix://$root$2"; }
  if [ -n "$lack" ]; then
    said="fault $lack"
  elif [ -z "$root" ]; then
    said="fault no process shows where Docker keeps its data, $1"
  else
    room=$(free)
    # What one gives back does not hide what another takes.
    [ "$room" -le "$last" ] || last=$room
    if [ "$now" -ge "$due" ] && { [ "$now" -ge "$full" ] || [ "$room" -lt $((last - step)) ]; }; then
      began=$now last=$room told=0
      if measure 2> /run/fault; then said='ok 0'; else said="fault $(head -n 1 /run/fault)"; fi
      now=$(date +%s)
      # The longer a look takes, the longer nobody looks; a fault may be over at once.
      case "$said" in ok*) full=$((now + 30));; *) full=$((now + 2));; esac
      due=$((now + 2 * (now - began)))
      [ "$due" -le "$full" ] || due=$full
    fi
  fi
  [ "$now" -lt $((told + 5)) ] || { tell "$said"; told=$now; }
  sleep 1 & wait $!
done
