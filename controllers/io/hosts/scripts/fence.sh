# The first lines of stdin name installation and epoch. An older epoch than the newest seen here is refused, by STALE of
# remote.ts, and told.
IFS= read -r fence_of && IFS= read -r fence_epoch || exit 1
mkdir -p -m 700 .bottega || exit 1
exec 9>>".bottega/fence-$fence_of" && flock 9 || exit 1
fence_held=$(tail -n 1 ".bottega/fence-$fence_of")
if [ "${fence_held:-0}" -gt "$fence_epoch" ]; then printf 'epoch %s\n' "$fence_held" >&2; exit 197; fi
if [ "${fence_held:-0}" -lt "$fence_epoch" ]; then printf '%s\n' "$fence_epoch" >&9 || exit 1; fi
exec 9>&-
