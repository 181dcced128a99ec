# Images that were built for the app, but for those that are named on stdin, ids by blanks, and those of releases that stand
# here, which may be in the making. Others are not ours to remove.
# And the contexts that BuildKit keeps of builds that have ended: no later build enters them.
drop() { is_noted "$1" "$2" || docker image rm "$2" </dev/null >/dev/null 2>&1; }
collect() {
  docker image ls --no-trunc --filter "reference=bottega.local/$slug/*" --format '{{.ID}} {{.Repository}}:{{.Tag}}' |
    while read -r id name; do
      case " $1 " in *" $id "*) ;; *) with_images drop "$id" "$name";; esac
    done
  # With it set, a docker without its plugin for builds refuses every command about them.
  env -u DOCKER_BUILDKIT timeout -s KILL 30 docker builder prune -f --filter type=source.local </dev/null >/dev/null 2>&1
  return 0
}
