# Arguments: the folder of the move, when it lapses (seconds since the host was started), the slug, who starts it. Beside what a move starts
# (parts/handing/lease.sh): until it is told to stay it is started again as it says, then it ends, and stays so. Whoever ends it meanwhile has
# decided that before, and waits for this (keeping/carry/end.sh).
cd "$1" || exit 1
starter=$4
# How he stands in the kernel's table: his number may come again, and who has ended stands there until somebody asks.
stands() { sed 's/.*) //' "/proc/$starter/stat" 2>/dev/null | cut -d ' ' -f 1,20; }
begun=$(stands)
begun=${begun#* }
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
while [ "$(cut -d . -f 1 /proc/uptime)" -lt "$2" ] && [ ! -L fate ]; do sleep 1; again; done
ln -s lapsed fate 2>/dev/null
[ "$(readlink fate)" = lapsed ] || exit 0
# Who starts it may be in the midst of that: what he starts yet ends as well, and what an engine still does for him.
tries=3
while [ "$tries" -gt 0 ]; do
  case "$(stands)" in 'Z '*) tries=$((tries - 1));; *" $begun") ;; *) tries=$((tries - 1));; esac
  alone
  ids=$(docker ps -q --filter "label=dev.bottega.app=$3")
  [ -z "$ids" ] || docker stop -t 2 $ids
  exec 6>&-
  [ "$tries" = 0 ] || sleep 1
done
