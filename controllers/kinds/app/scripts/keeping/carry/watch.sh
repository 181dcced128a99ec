# stdin: slug, 0, the move, seconds until it goes back by itself (0: at once), what is routed by blanks, its port, and the file that the proxy
# dials by ('' for none each). On the host that is left: whoever is not told in time that it is left for good starts again what was stopped,
# as it was. Says `outcome back` or `outcome left`.
for name in seconds listeners port dial_file; do IFS= read -r "$name" || exit 64; done
direct=$dial_file
uptime_now || exit 1
ends=$((up + seconds))
if [ "$seconds" -gt 0 ]; then
  if ! { mkdir -p -m 700 "$app" "$app/moves" "$here" && watch_for "$seconds"; }; then exit 1; fi
fi
while { ! uptime_now || [ "$up" -lt "$ends" ]; } && [ ! -L "$here/fate" ]; do
  sleep 0.5
  # Who packs may have found that there is more of it (keeping/carry/hold.sh).
  [ ! -f "$here/until" ] || { read -r later on ends_at < "$here/until" && ends=$later; }
done
[ -d "$here" ] || { say outcome back; exit 0; }
decide back
[ "$fate" = back ] || { say outcome "$fate"; exit 0; }
alone
docker rm -f "$move-copy" </dev/null >/dev/null 2>&1
# First of all: they may hold the disk without which an engine starts nothing.
rm -rf "$here/kept" "$app/backups/$move-"*
if [ -f "$here/policies" ] && [ ! -e "$here/returned" ]; then
  users=$(cut -d ' ' -f 1 "$here/policies")
  # An engine goes on with a stop whose caller was ended. Once: what runs since then was started by us.
  if [ -n "$users" ] && [ ! -e "$here/stopped" ]; then
    { docker stop -t 5 $users </dev/null >/dev/null 2>&1 || { ran=$(of_app) && [ -z "$ran" ]; }; } && : > "$here/stopped"
  fi
  whole=yes
  give_policies "$here/policies" || whole=''
  for id in $users; do docker start "$id" </dev/null >/dev/null 2>&1 || no_more "$id" || whole=''; done
  [ -n "$whole" ] || fail "$exit_not_restored" 'its services did not start as they were'
  place=1
  for listener in $listeners; do
    id=$(docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug" --filter "label=com.docker.compose.service=$listener" | head -n 1)
    slot=$dial_file
    [ "$place" = 1 ] || slot="$dial_file.$place"
    address=$([ -z "$id" ] || address_of "$id" "$port")
    [ -z "$dial_file" ] || [ -z "$address" ] || put_dial "$slot" "$address"
    place=$((place + 1))
  done
  : > "$here/returned"
fi
say outcome back
