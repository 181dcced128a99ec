# Images that were built for the app, but for those that are named on stdin, ids by blanks, and those of releases that stand
# here, which may be in the making. Others are not ours to remove.
drop() { is_noted "$1" "$2" || docker image rm "$2" </dev/null >/dev/null 2>&1; }
collect() {
  docker image ls --no-trunc --filter "reference=bottega.local/$slug/*" --format '{{.ID}} {{.Repository}}:{{.Tag}}' |
    while read -r id name; do
      case " $1 " in *" $id "*) ;; *) with_images drop "$id" "$name";; esac
    done
  drop_cells
}
