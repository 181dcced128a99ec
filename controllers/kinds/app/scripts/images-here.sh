# stdin: slug, number, the names of all images. Says an id and an architecture for each, if all of them are there.
IFS= read -r images || exit 64
with_images note "$images" || exit 1
found=''
for name in $images; do
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}} {{json .Config.User}}' "$name" 2>/dev/null) || exit "$exit_image_missing"
  found="${found}$mark image $one
"
done
printf '%s' "$found"
