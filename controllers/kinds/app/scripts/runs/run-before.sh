# stdin: as run.sh, then base project, base document ('' for none), seconds to wait for the base, 'guarded' where nothing starts
# without a guard, how many conditions the release puts to the base, and on as parts/begin.sh reads it. Runs a command before
# anything of its release is started, once the base is there: the one that serves, or with a first release its own.
for name in run owner command_project command_document seconds base_project base limit guard conditions; do
  IFS= read -r "$name" || exit 64
done
release='' routed_service='' hand_over=''
case "$owner" in base) place="$app/base";; *) place="$here";; esac
# What is printed is what the command says.
tell() { :; }
receive_release
[ -z "$guard" ] || await_guard || fail "$exit_not_guarded" "its guard is $seen"
[ -z "$base" ] || [ -n "$(docker ps -q --filter "label=com.docker.compose.project=$base_project")" ] || start_base
run_command
