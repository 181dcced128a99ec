# stdin: the name of a run's container. Asks it to end, and makes it after 5 s.
IFS= read -r run || exit 64
docker inspect "$run" >/dev/null 2>&1 || exit 0
docker stop -t 5 "$run" >/dev/null
