# stdin: slug, base project, release project, service, port of the live release, the file that its proxy dials by ('' where there
# is none). Gives what runs: a line per container, where the routed one listens, what it answers, what the file says, and the disk.
for name in slug base_project release_project routed_service routed_port dial_file; do IFS= read -r "$name" || exit 64; done
[ -z "$dial_file" ] || say dial "$(head -c 100 "$dial_file" 2>/dev/null)"
say_disk "$slug"
seen=''
[ -z "$base_project" ] || seen=$(inspect "$base_project")
[ -z "$release_project" ] || seen="$seen
$(inspect "$release_project")"
printf '%s\n' "$seen" | grep . | while read -r id service state health restarts code oom policy; do
  say service "$service" "$state" "$code" "$policy"
  if [ "$service" = "$routed_service" ] && [ "$state" = running ]; then
    address=$(address_of "$id" "$routed_port")
    [ -z "$address" ] || say address "$address" "$(answer_of "$address")"
  fi
done
exit 0
