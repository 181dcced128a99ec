# A volume of the app, by the name that its host has for it, and the folder in which what is kept of it lies: `given/pack` is what is put into
# it, `kept/pack` what it held. Data is read and written by containers of the host's own programs alone, which see nothing else (copier.sh).
IFS= read -r backup && IFS= read -r volume || exit 64
here="$app/backups/$backup"
fail() { code=$1; shift; say reason "$*"; exit "$code"; }
is_own() { [ "$(docker volume inspect --format '{{index .Labels "com.docker.compose.project"}}' "$volume" 2>/dev/null)" = "$slug-base" ]; }
drop_copy() {
  docker rm -f "$backup-copy" >/dev/null 2>&1
  docker volume rm "${backup}_copy" >/dev/null 2>&1
}
# `pack_volume <volume> <bytes> <how>`: into `kept/pack`; leaves its bytes and sha256 in `said`.
pack_volume() {
  copier_up "$backup-copy" -v "$1:/from/data:ro" -v "$here/kept:/to/kept" || fail "$exit_not_packed" 'nothing that packs could be started'
  asked "pack $2 $3" 1800 || said='fault it took too long'
  copier_down
  case "$said" in
    'ok '*) said=${said#ok };;
    large) return "$exit_too_large";;
    *) said=${said#fault }; return "$exit_not_packed";;
  esac
}
