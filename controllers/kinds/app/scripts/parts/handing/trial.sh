# The release beside the old one, on copies of its volumes, with all that belongs to it: who does not come up stops nothing.
trial_of() { echo "$slug-$(basename "$1")-try"; }
# `drop_trial <folder of the release>`: what a trial has left, be it one that was killed.
drop_trial() {
  [ -f "$1/trial.json" ] || return 0
  docker compose -p "$(trial_of "$1")" kill </dev/null >/dev/null 2>&1
  down "$(trial_of "$1")" >/dev/null
  docker rm -f "$(trial_of "$1")-copy" >/dev/null 2>&1
  for volume in $(docker volume ls -q --filter "label=dev.bottega.copy=$slug" --filter "name=^$(trial_of "$1")_"); do
    docker volume rm "$volume" >/dev/null 2>&1
  done
  rm -f "$1/trial.json"
}
try_release() {
  (umask 077; printf '%s\n' "$trial" > "$here/trial.json") || exit 1
  if ! copy_volumes "$(trial_of "$here")-copy" "$trial_room" 60 $trial_volumes; then
    tried="not tried: $why"
    drop_trial "$here"
    return 0
  fi
  project=$(trial_of "$here") listener=$routed_service
  started=$project metered="$slug-r$number" routed_service=$trial_service failed='' trial_began=$(date +%s)
  up "$project" "$here/trial.json" "$here" || failed=$?
  await_answer "$project"
  drop_trial "$here"
  took=$(($(date +%s) - trial_began)) tried="tried beside the old one in $took s"
  started='' metered=$slug routed_service=$listener
  [ "$hand_over" -ge "$((2 * took))" ] || hand_over=$((2 * took))
}
