# stdin: slug, number, the names of all images. Says an id and an architecture for each, if all of them are there.
IFS= read -r images || exit 64
with_images note "$images" || exit 1
# A line each, or none of them.
[ -n "$images" ] || exit 0
found=$(docker image inspect --format '{{.Id}} {{.Architecture}} {{json .Config.User}}' $images 2>/dev/null) || exit "$exit_image_missing"
printf '%s\n' "$found" | sed "s/^/$mark image /"
