# Arguments: the folder of the move, when it lapses, the slug. Beside what a move starts (parts/handing/lease.sh): until it is told to stay it is
# started again as it says, then it ends, and stays so. Whoever ends it meanwhile has decided that before, and waits for this (keeping/carry/end.sh).
cd "$1" || exit 1
alone() { exec 6>>lock && flock 6; }
again() {
  alone
  ids=$(cut -d ' ' -f 1 policies)
  [ -n "$ids" ] && [ ! -L fate ] && docker inspect --format '{{.Id}} {{.State.Status}} {{.State.ExitCode}}' $ids 2>/dev/null |
    while read -r id state code; do
      case "$state $(sed -n "s/^$id //p" policies) $code" in
        exited\ on-failure*\ 0) ;;
        exited\ always*|exited\ unless-stopped*|exited\ on-failure*) echo "$id" >> restarts; docker start "$id";;
      esac
    done >/dev/null 2>&1
  exec 6>&-
}
while [ "$(date +%s)" -lt "$2" ] && [ ! -L fate ]; do sleep 1; again; done
ln -s lapsed fate 2>/dev/null
[ "$(readlink fate)" = lapsed ] || exit 0
alone
for try in 1 2 3; do
  ids=$(docker ps -q --filter "label=dev.bottega.app=$3")
  [ -z "$ids" ] || docker stop -t 2 $ids
done
