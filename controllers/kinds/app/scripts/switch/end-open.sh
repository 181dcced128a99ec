# stdin: slug, whose connections end, by blanks ('link', 'other'). Those of the host's proxy to all containers of the app, whatever release
# they are of; none where none runs. 3: this host cannot.
IFS= read -r slug && IFS= read -r whose || exit 64
ids=$(docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug") || exit 1
[ -n "$ids" ] || exit 0
# Where it listens, at its own addresses and where these are published: what it asks others for itself is none of it. One may go in between, and
# takes its connections along. Each has a line of its own: nothing at all is an engine that does not answer, and what is started again and again
# listens nowhere.
places=$(docker inspect --format '{{$one := .}}at {{$one.Id}}
{{range $port, $all := .NetworkSettings.Ports}}{{range $one.NetworkSettings.Networks}}{{.IPAddress}}:{{$port}}
{{end}}{{range $all}}{{.HostIp}}:{{.HostPort}}/tcp
{{end}}{{end}}' $ids 2>/dev/null)
[ -n "$places" ] || exit 1
places=$(printf '%s\n' "$places" | sed -n 's/^\([0-9][0-9.]*:[0-9]*\)\/tcp$/\1/p')
[ -n "$places" ] || exit 0
printf '%s\n' "$places" | docker exec -i bottega-guard /bin/sh -c "$sever" sever $whose
