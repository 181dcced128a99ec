# Docker quiet, without colours, and never asking; and lines that are ours to read (crds/app/start.ts).
export COMPOSE_PROGRESS=quiet COMPOSE_ANSI=never
say() { printf '%s %s\n' "$mark" "$*"; }
# `down <project>`: all of it but volumes that have a name; those that have none go with their containers.
down() {
  docker compose -p "$1" stop -t 10 </dev/null 2>&1 || return 1
  ids=$(docker ps -aq --filter "label=com.docker.compose.project=$1") || return 1
  [ -z "$ids" ] || docker rm -fv $ids </dev/null 2>&1 || return 1
  docker compose -p "$1" down --remove-orphans -t 10 </dev/null 2>&1
}
# `ids_of <project> <service>`, and `drop_one <project> <service>`: its container, with the volumes of it that have no name.
ids_of() { docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1" --filter "label=com.docker.compose.service=$2"; }
drop_one() {
  ids=$(ids_of "$1" "$2") || return 1
  [ -z "$ids" ] || { docker stop -t 10 $ids </dev/null && docker rm -fv $ids </dev/null; } 2>&1
}
# Cells of builds that were ended from outside leave their network behind.
drop_cells() { docker network prune -f --filter label=dev.bottega.builder --filter until=2m </dev/null >/dev/null 2>&1; return 0; }
