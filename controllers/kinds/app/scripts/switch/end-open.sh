# stdin: slug, whose connections end, by blanks ('link', 'other'). Those of the host's proxy to all containers of the app, whatever release
# they are of; none where none runs.
IFS= read -r slug && IFS= read -r whose || exit 64
ids=$(docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug") || exit 1
[ -n "$ids" ] || exit 0
# One may go in between, and takes its connections along.
places=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}
{{end}}{{range .NetworkSettings.Ports}}{{range .}}{{.HostIp}}:{{.HostPort}}
{{end}}{{end}}' $ids 2>/dev/null)
[ -n "$places" ] || exit 1
printf '%s\n' "$places" | docker exec -i bottega-guard /bin/sh -c "$sever" sever $whose
