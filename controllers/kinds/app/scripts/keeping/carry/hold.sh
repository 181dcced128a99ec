# stdin: slug, 0, the move, bytes that are moved at most, MiB that the other host has room for, and seconds until the watch goes back: for any move,
# and more for each GiB. On the host that is left: all that runs of the app stops, and stays so until its watch says otherwise; then what each of its
# volumes holds is packed, one that no release has any more as well. Nothing stops where there is no room for it, here or there. Says
# `packed <name> <bytes> <sha256>` for each, and how many it `held`.
for name in limit room base_seconds gib_seconds; do IFS= read -r "$name" || exit 64; done
for try in $(seq 100); do [ ! -f "$here/until" ] || break; sleep 0.1; done
[ -f "$here/until" ] || fail "$exit_not_packed" 'nothing watches over it'
volumes=$(docker volume ls -q --filter "label=com.docker.compose.project=$slug-base" | sort) || exit 1
if ! { mkdir -p -m 700 "$app/backups" && writable "$here/kept"; }; then exit 1; fi
pack_up() { copier_up "$move-copy" "$@" -v "$here/kept:/to/kept" || fail "$exit_not_packed" 'nothing that packs could be started'; }
if [ -n "$volumes" ]; then
  binds=''
  for volume in $volumes; do binds="$binds -v $volume:/from/${volume#*_}:ro"; done
  pack_up $binds
  asked measure 120 || said=''
  copier_down
  [ -n "$said" ] || fail "$exit_not_packed" 'what it holds was not read in time'
  used=${said% *} own=${said#* }
  [ "$((own - used))" -ge 512 ] || fail "$exit_no_room" "its volumes hold $used MiB, and $own are free where it is"
  [ "$used" -le "$((limit / 1048576))" ] || fail "$exit_too_large" "its volumes hold $used MiB"
  [ "$used" -le "$room" ] || fail "$exit_no_room" "its volumes hold $used MiB, and the other host has room for $room"
  watch_for "$((base_seconds + gib_seconds * used / 1024))" || exit 1
fi
alone
[ "$(fate_now)" = none ] || fail "$exit_not_packed" 'it was told to go back meanwhile'
# What others need comes first when they are started again.
users=$({ docker ps -q --no-trunc --filter "label=com.docker.compose.project=$slug-base"; of_app; } | awk '!seen[$0]++')
if [ -n "$users" ]; then
  if ! { policies_of $users > "$here/policies.next" && sync "$here/policies.next" && mv "$here/policies.next" "$here/policies"; }; then exit 1; fi
  # Nobody starts them again but the watch, whatever is restarted.
  docker update --restart no $users </dev/null >/dev/null || fail "$exit_not_packed" 'its services could not be held'
  docker stop $users </dev/null >/dev/null || fail "$exit_not_packed" 'its services did not stop'
fi
exec 6>&-
held=0 packs=''
for volume in $volumes; do
  [ "$(fate_now)" = none ] || fail "$exit_not_packed" 'it was told to go back meanwhile'
  held=$((held + 1)) pack="$app/backups/$move-$held"
  rm -rf "$here/kept"
  if ! { writable "$here/kept" && mkdir -p -m 700 "$pack" "$pack/kept"; }; then exit 1; fi
  pack_up -v "$volume:/from/data:ro"
  asked "pack $limit stopped" 3600 || said='fault it took too long'
  copier_down
  case "$said" in
    'ok '*) packs="$packs$mark packed ${volume#*_} ${said#ok }
";;
    large) fail "$exit_too_large" "${volume#*_} when it is packed";;
    *) fail "$exit_not_packed" "${said#fault }";;
  esac
  mv "$here/kept/pack" "$pack/kept/pack" || exit 1
done
[ -z "$(of_app)" ] || fail "$exit_not_packed" 'something of it was started meanwhile'
[ "$(fate_now)" = none ] || fail "$exit_not_packed" 'it was told to go back meanwhile'
printf '\n%s' "$packs"
say held "$held"
