# stdin: slug, number, the names of all images (no blanks in a name), the names of what it builds, the listing of the upload,
# what its files are for (`filesFor`), what opens registries ('' for nothing), how many are built and if any what `read_cells` reads; how many images, then three lines
# each: service, name, and 'build', 'pull' or 'pinned'. Says an id, an architecture and a user per image, in their order.
# Nothing is built or mounted but what was uploaded, whatever became of it on the host.
for name in images built listing needed keys cells; do
  IFS= read -r "$name" || exit 64
done
with_images note "$images" || exit 1
whole() { holds "$here/source" "$listing" || exit "$exit_files_differ"; }
[ "$needed" != mounts ] || whole
[ "$cells" = 0 ] || read_cells || exit 64
IFS= read -r count || exit 64
wanted=''
while [ "$count" -gt 0 ]; do
  IFS= read -r service && IFS= read -r name && IFS= read -r how || exit 64
  count=$((count - 1))
  wanted="${wanted}$service $name $how
"
done
hold_keys || exit 1
# `pull`: a list of images that has none for this processor is refused by Docker before any layer comes.
pull() {
  said="$HOME/.bottega/apps/.pulling-$slug"
  rm -f "$said.end"
  { docker ${key_folder:+--config "$key_folder"} pull "$name" </dev/null 2>&1 || echo failed >"$said.end"; } | tee "$said"
  why=$(tail -n 3 "$said")
  rm -f "$said"
  [ -e "$said.end" ] || return 0
  rm -f "$said.end"
  case "$why" in
    *'no matching manifest for '*)
      say reason "$service: $name is not made for $(docker version --format '{{.Server.Os}}/{{.Server.Arch}}')"
      exit "$exit_wrong_processor";;
  esac
  say reason "$service: $name"; exit "$exit_pull_failed"
}
# Before anything is built: that takes long, and is for nothing where an image is not to be had.
while read -r service name how; do
  { [ "$how" = pull ] && ! docker image inspect "$name" >/dev/null 2>&1; } || continue
  say pull "$service" "$name"
  pull
done <<WANTED
$wanted
WANTED
# What is built bears the digest of all that goes into it: where the name is, the same was built before.
if [ "$cells" -gt 0 ] && ! docker image inspect $built >/dev/null 2>&1; then
  [ "$needed" = mounts ] || whole
  [ -z "$guard" ] || await_guard || { say reason "its guard is $seen"; exit "$exit_not_guarded"; }
  build_all_in_cell 2>&1 || {
    code=$?
    [ -z "$refused" ] || { say reason "$refused"; exit "$exit_package_refused"; }
    say reason "exit code $code"; exit "$exit_build_failed"
  }
fi
rm -rf "$here/cell"
found=''
while read -r service name how; do
  [ -n "$name" ] || continue
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}} {{json .Config.User}}' "$name" 2>/dev/null) ||
    { say reason "$service: $name"; exit "$exit_image_missing"; }
  found="${found}$mark image $one
"
done <<WANTED
$wanted
WANTED
printf '%s' "$found"
