# stdin: slug, 0, the move, how many volumes, then two lines each: name, sha256 of its pack. On the other host: what was packed becomes what the
# volume holds, once it is known to be that.
IFS= read -r count || exit 64
number=0
while [ "$number" -lt "$count" ]; do
  IFS= read -r name && IFS= read -r digest || exit 64
  number=$((number + 1))
  volume="${slug}-base_$name" given="$app/backups/$move-$number/given"
  if ! { mkdir -p -m 700 "$here" "${given%/given}" && mkdir -p -m 755 "$given"; }; then exit 1; fi
  docker volume create --label "com.docker.compose.project=$slug-base" --label "com.docker.compose.volume=$name" --label "dev.bottega.app=$slug" \
    "$volume" >/dev/null || fail "$exit_not_restored" "$name could not be made"
  copier_up "$move-copy" -v "$given:/from/given:ro" -v "$volume:/to/data" || fail "$exit_not_restored" 'nothing that unpacks could be started'
  asked "verify $digest" 1800 || said='fault'
  checked=$said
  case "$checked" in 'ok '*) asked unpack 1800 || said='fault it took too long';; esac
  copier_down
  case "$checked" in 'ok '*) ;; differs) fail "$exit_given_differs" "$name";; *) fail "$exit_not_restored" "$name was not read in time";; esac
  if [ "$said" != ok ]; then
    # Others need the disk as well.
    rm -rf "$app/backups/$move-"*
    case "$said" in *'No space left'*|*'quota exceeded'*) fail "$exit_no_room" "$name: ${said#fault }";; esac
    fail "$exit_not_restored" "$name: ${said#fault }"
  fi
  rm -rf "$app/backups/$move-$number"
done
rmdir "$app/backups" 2>/dev/null
exit 0
