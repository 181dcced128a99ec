# Docker quiet, without colours, and never asking; and lines that are ours to read (crds/app/start.ts).
export COMPOSE_PROGRESS=quiet COMPOSE_ANSI=never
say() { printf '%s %s\n' "$mark" "$*"; }
# Cells of builds that were ended from outside leave their network behind.
drop_cells() { docker network prune -f --filter label=dev.bottega.builder --filter until=2m </dev/null >/dev/null 2>&1; return 0; }
