# stdin: slug, 0, the backup, its volume, sha256 of what is put into it, bytes of an archive at most, the routed service and its port where it
# may be one that stops, the file that the proxy dials by ('' for none each), seconds until all are well.
# Puts `given/pack` into the volume while nothing that mounts it runs; what it held is packed before. Who does not come up with it gets that
# back. Says `packed <bytes> <sha256> stopped`.
is_own || fail "$exit_volume_missing"
[ "$(stage_now)" = none ] || fail "$exit_not_restored" 'it was begun before'
writable "$here/kept" || exit 1
# What can be known before anything stops.
copier_up "$backup-copy" -v "$here/given:/from/given:ro" -v "$volume:/from/data:ro" -v "$here/kept:/to/kept" ||
  fail "$exit_not_packed" 'nothing that packs could be started'
asked "verify $digest" 1800 || said='fault'
checked=$said
asked measure 60 || said='fault'
measured=$said
asked "weigh $limit" 1800 || said='fault'
copier_down
[ "$checked" != differs ] || fail "$exit_given_differs"
case "$checked $measured" in *fault*) fail "$exit_not_packed" 'what it holds was not read in time';; esac
[ "$said" = ok ] || fail "$exit_too_large"
new=${checked#ok } free=${measured#* }
[ "$((free - new))" -ge "$((limit / 1048576 + 512))" ] || fail "$exit_no_room" "it unpacks to $new MiB, and $free are free"
ill() { code=$1 why=$2; put_back; fail "$code" "$why"; }
users=$(users_of "$volume")
if ! { printf '%s\n' $users > "$here/users" && reach stopping; }; then exit 1; fi
[ -z "$users" ] || docker stop $users </dev/null >/dev/null 2>&1 || ill "$exit_not_restored" 'its services did not stop'
[ -z "$(users_of "$volume")" ] || ill "$exit_not_restored" 'a service that mounts it was started meanwhile'
pack_volume "$volume" "$limit" stopped || ill "$?" "$said"
if ! { printf '%s\n' "$said" > "$here/kept/said" && sync "$here/kept/said" && reach replacing; }; then
  ill "$exit_not_packed" 'its host has no room for it'
fi
put_in "$here/given" || ill "$exit_not_restored" "${said#fault }"
start_users || ill "$exit_not_restored" 'its services did not start'
await_users || ill "$exit_not_restored" "$why"
reach 'done' || ill "$exit_not_restored" 'its host has no room for it'
rm -rf "$here/given"
say packed "$(cat "$here/kept/said") stopped"
