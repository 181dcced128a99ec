# stdin: slug, number, base project, base document, release project, release document ('' for none each), routed project,
# services (all replicas, by blanks) and port, seconds to wait for the base and for the release, 'guarded' where nothing starts without a guard, how many conditions the release puts to the base, then
# a line each: service, condition; how many files the base mounts, then two lines each: from, to; how many things are placed beside
# them, then two lines each: 'folder', 'file' or 'text', and its path below the folder of the app; a text is a third line, in base64;
# the trial's document ('' for none), its routed service, MiB that may be copied, its volumes (from and to, by blanks); seconds of the
# hand-over ('' where nothing is handed over), service and port that visitors are on now where the base has it ('' for none), the dial
# file, MiB of disk that the meter is told ('' for none), 'direct' where containers may be dialled at their own addresses; until when it may run
# unless it is told to stay, and the move that tells it ('' for none each, parts/handing/lease.sh).
# Starts beside whatever serves, and waits until all run, the healthy are healthy, and the routed port answers HTTP. Ends at
# the first sign that it will not come: an exit, an unhealthy service, a third restart, no memory. In the end it says what
# runs, as look.sh does.
for name in base_project base release_project release routed_project routed_service routed_port limit guard conditions; do
  IFS= read -r "$name" || exit 64
done
receive_release
for name in trial trial_service trial_room trial_volumes hand_over live_service live_port dial_file disk_mib direct lease move; do
  IFS= read -r "$name" || exit 64
done
(umask 077
 [ -z "$release" ] || printf '%s\n' "$release" > "$here/release.json") || exit 1
[ -z "$guard" ] || await_guard || fail "$exit_not_guarded" "its guard is $seen"
[ -z "$disk_mib" ] || tell_budget "$slug" "$disk_mib" || exit 1
begin_lease || fail "$exit_too_late" 'its host starts it again where it was'
[ -z "$trial" ] || try_release
[ -z "$base" ] || start_base
failed=''
if [ -n "$release" ]; then
  started="$release_project $started"
  up "$release_project" "$here/release.json" "$here" || failed=$?
fi
# Asked while it comes up, which is mostly a moment.
asked=$(date +%s)
say_disk "$slug" > "$here/disk" &
saying=$!
await_answer $started
# For this alone: what ends a lease outlives us.
wait "$saying"
[ "$(($(date +%s) - asked))" -lt 3 ] || say_disk "$slug" > "$here/disk"
rm -f "$app/base/before.json"
printf '\n'
[ -z "$tried" ] || say note "$tried"
say_seen
say address "$address" "$answer"
cat "$here/disk"
rm -f "$here/disk"
