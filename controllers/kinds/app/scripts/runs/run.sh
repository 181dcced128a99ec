# stdin: slug, number, name of the container, base or release (whose folder its mounts are in), project and document, seconds.
# Runs a command in a release that is there.
for name in run owner command_project command_document seconds; do IFS= read -r "$name" || exit 64; done
case "$owner" in base) place="$app/base";; *) place="$here";; esac
[ -d "$place" ] || mkdir -p -m 700 "$place" || exit 1
run_command
