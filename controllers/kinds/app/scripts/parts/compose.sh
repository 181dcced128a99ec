# Docker quiet, without colours, and never asking; and lines that are ours to read (crds/app/start.ts).
export COMPOSE_PROGRESS=quiet COMPOSE_ANSI=never BUILDKIT_PROGRESS=plain DOCKER_BUILDKIT=1
say() { printf '%s %s\n' "$mark" "$*"; }
