# stdin: slug, 0, keep or delete (the volumes), base project, the dial file ('' for none), the name of its builder, how many projects, then their names.
IFS= read -r volumes && IFS= read -r base_project && IFS= read -r dial_file && IFS= read -r cell && IFS= read -r count || exit 64
runs=$(docker ps -aq --filter "label=dev.bottega.app=$slug" --filter label=dev.bottega.run) || exit 1
[ -z "$runs" ] || docker rm -fv $runs </dev/null >/dev/null 2>&1 || exit 1
# What a move copies with outlives whoever was ended that started it, until it has copied all.
for move in "$app"/moves/*; do docker rm -f "${move##*/}-copy" "${move##*/}-room" </dev/null >/dev/null 2>&1; done
while [ "$count" -gt 0 ]; do
  IFS= read -r project || exit 64
  count=$((count - 1))
  down "$project" || exit 1
done
for one in "$app"/r*; do drop_trial "$one"; done
down "$base_project" || exit 1
if [ "$volumes" = delete ]; then
  for volume in $(docker volume ls -q --filter "label=com.docker.compose.project=$base_project"); do
    docker volume rm "$volume" >/dev/null || exit 1
  done
fi
docker rm -f "bottega-build-$cell" "bottega-gate-$cell" >/dev/null 2>&1
docker network rm "bottega-build-$cell" "bottega-beyond-$cell" >/dev/null 2>&1
docker volume rm -f "bottega-build-$cell" >/dev/null 2>&1
[ -z "$dial_file" ] || rm -f "$dial_file" "$dial_file".*
rm -rf "$app"
collect ''
