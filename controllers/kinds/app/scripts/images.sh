# stdin: slug, number, the names of all images (no blanks in a name), build project, build document ('' for none), the names
# of what it builds, the listing of the upload, what its files are for (`filesFor`), how many contexts, then two lines each:
# folder, link; how many images, then three lines each: service, name, and 'build', 'pull' or 'pinned'. Says an id and an
# architecture per image, in their order. Nothing is built or mounted but what was uploaded, whatever became of it on the host.
for name in images project document built listing needed contexts; do
  IFS= read -r "$name" || exit 64
done
with_images note "$images" || exit 1
whole() { holds "$here/source" "$listing" || exit "$exit_files_differ"; }
[ "$needed" != mounts ] || whole
rm -rf "$here/contexts"
while [ "$contexts" -gt 0 ]; do
  IFS= read -r folder && IFS= read -r link || exit 64
  contexts=$((contexts - 1))
  mkdir -p -m 700 "$here" && mkdir -p "$here/contexts" && ln -s "../source/$folder" "$here/contexts/$link" || exit 1
done
IFS= read -r count || exit 64
# What is built bears the digest of all that goes into it: where the name is, the same was built before.
if [ -n "$document" ] && ! docker image inspect $built >/dev/null 2>&1; then
  [ "$needed" = mounts ] || whole
  (umask 077; printf '%s\n' "$document" > "$here/build.json") || exit 1
  COMPOSE_PROGRESS=plain docker compose -p "$project" -f "$here/build.json" --project-directory "$here" build </dev/null 2>&1 ||
    { say reason "exit code $?"; exit "$exit_build_failed"; }
fi
found=''
while [ "$count" -gt 0 ]; do
  IFS= read -r service && IFS= read -r name && IFS= read -r how || exit 64
  count=$((count - 1))
  if [ "$how" = pull ] && ! docker image inspect "$name" >/dev/null 2>&1; then
    docker pull -q "$name" </dev/null 2>&1 || { say reason "$service: $name"; exit "$exit_pull_failed"; }
  fi
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}} {{json .Config.User}}' "$name" 2>/dev/null) ||
    { say reason "$service: $name"; exit "$exit_image_missing"; }
  found="${found}$mark image $one
"
done
printf '%s' "$found"
