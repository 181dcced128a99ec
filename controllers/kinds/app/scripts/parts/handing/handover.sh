# A service of the base that is changed stops before it starts anew. What was there is kept until the new one answers, and is
# started again at once when it does not.
keep_base() {
  [ -n "$hand_over" ] && [ -s "$app/base/compose.json" ] && cp -p "$app/base/compose.json" "$app/base/before.json" || return 0
  handed=yes had=" $(base_ids | tr '\n' ' ')"
}
base_ids() { docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$base_project"; }
# What came since is ended at once: nobody waits for its grace. It stays to be made anew, with the volumes that have no name.
end_new() {
  ids=$(for id in $(base_ids); do case "$had" in *" $id "*) ;; *) echo "$id";; esac; done)
  [ -z "$ids" ] || docker kill $ids >/dev/null 2>&1
}
dial() {
  [ -z "$dial_file" ] || [ -z "$1" ] || put_dial "$dial_file" "$1"
}
# `container_of <project> <service>`
container_of() { inspect "$1" | grep -v '^guard ' | while read -r id service rest; do [ "$service" != "$2" ] || echo "$id"; done | head -n 1; }
up_again() {
  docker compose -p "$base_project" -f "$app/base/compose.json" --project-directory "$app/base" \
    up -d --no-build --pull never --remove-orphans -t 1 </dev/null 2>&1
}
put_back() {
  [ -n "$handed" ] || return 0
  handed=''
  end_new
  mv "$app/base/before.json" "$app/base/compose.json" || return 1
  up_again || {
    ids=$(base_ids)
    docker rm -f $ids >/dev/null 2>&1
    up_again
  }
  [ -z "$live_service" ] || dial "$(address_of "$(container_of "$base_project" "$live_service")" "$live_port")"
}
# The new one answers: visitors are led to it before it is known for good to be well, for they have nowhere else to go.
has_answered() {
  [ "$routed_project" = "$base_project" ] || return 0
  address=$(dialled "$routed_service" "$routed_port")
  [ -n "$address" ] || return 1
  answer=$(answer_of "$address")
  [ "$answer" != 000 ] && [ "$answer" -lt 500 ] || return 1
  dial "$address"
}
