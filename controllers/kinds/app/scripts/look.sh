# stdin: how many releases are asked for, and 'direct' where containers may be dialled at their own addresses; then four lines each: the project, service and port of what is routed, the file
# that its proxy dials by ('' where there is none), the path that is asked, and seconds for its answer. Gives what runs of all apps of this host, a line per container; for each
# that was asked for, by its place, where it listens, what it answers and what the file says ('gone': its address went with a link); and the disk and the volumes of each app.
read -r count direct || exit 64
# The meter is asked meanwhile: neither of both knows of the other. What it tells waits in a pipe of its own: where both wrote to one, lines of the one
# would end up in the middle of lines of the other.
all=$(docker exec bottega-meter /bin/sh -c '
    tell() { while read -r line; do echo "$1 $app $line"; done < "$app"; }
    cd /run/apps && for app in *; do tell disk; done; cd /run/held && for app in *; do tell volume; done' 2>/dev/null < /dev/null | sed "s/^/$mark /" | {
  seen=$(inspect_all dev.bottega.app < /dev/null) && printf '%s\n' "$seen" || echo failed
  cat
})
seen=$(printf '%s\n' "$all" | grep -v "^$mark ")
[ "$seen" != failed ] || exit 1
apart
say_seen
printf '%s\n' "$all" | grep "^$mark "
tell() {
  address=$(dialled "$service" "$port" "$project")
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
