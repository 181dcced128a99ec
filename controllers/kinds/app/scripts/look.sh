# stdin: how many releases are asked for, and 'direct' where containers may be dialled at their own addresses; then four lines each: the project, service and port of what is routed, the file
# that its proxy dials by ('' where there is none), the path that is asked, and seconds for its answer. Gives what runs of all apps of this host, a line per container; for each
# that was asked for, by its place, where it listens, what it answers and what the file says ('gone': its address went with a link); and the disk and the volumes of each app.
read -r count direct || exit 64
seen=$(inspect_all dev.bottega.app) || exit 1
say_seen
disks=$(docker exec bottega-meter /bin/sh -c '
  tell() { while read -r line; do echo "$1 $app $line"; done < "$app"; }
  cd /run/apps && for app in *; do tell disk; done; cd /run/held && for app in *; do tell volume; done' 2>/dev/null)
[ -z "$disks" ] || printf '%s\n' "$disks" | sed "s/^/$mark /"
guard_runs=''
[ -z "$direct" ] || guard_runs=$(docker inspect --format '{{.State.Running}}' bottega-guard 2>/dev/null)
tell() {
  read -r own published <<FOUND
$(printf '%s\n' "$seen" | awk -v project="$project" -v service="$service" -v port="$port/tcp=" '
    $2 == service && $3 == "running" && $9 == project {
      own = $NF; ports = $(NF - 1); sub(/^ports:/, "", ports); n = split(ports, all, ",")
      for (i = 1; i <= n; i++) if (index(all[i], port) == 1) { sub(/^[^=]*=/, "", all[i]); published = published all[i] "," }
      print own, published; exit
    }')
FOUND
  address=$(choose_address "${own#at:}" "$published" "$port" "$guard_runs")
  [ -z "$address" ] || say address "$place" "$address" "$(answer_of "$address" "$path" "$seconds")"
}
# Side by side, but not all of them at once: a busy host has other things to do.
together=16
place=0
while [ "$place" -lt "$count" ]; do
  read -r project service port && IFS= read -r dial_file && IFS= read -r path && IFS= read -r seconds || exit 64
  dial=''
  [ -z "$dial_file" ] || { read -r dial < "$dial_file" || [ ! -L "$dial_file" ] || dial=gone; say dial "$place" "$dial"; } 2>/dev/null
  tell &
  place=$((place + 1))
  [ $((place % together)) != 0 ] || wait
done
wait
exit 0
