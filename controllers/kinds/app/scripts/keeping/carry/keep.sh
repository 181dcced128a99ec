# stdin: slug, 0, the move. On the other host: what runs there stays, and is started again as it says. What has ended because it was told nothing in time
# is started, and what a restart of its host has ended.
mkdir -p -m 700 "$app" "$app/moves" "$here" || exit 1
decide kept
alone
ln -sfn kept "$here/fate" || exit 1
[ -f "$here/policies" ] || exit 0
give_policies "$here/policies" || exit 1
while read -r id policy; do
  case "$fate $policy" in
    *' no'|'kept on-failure'*) ;;
    *) docker start "$id" </dev/null >/dev/null 2>&1;;
  esac
done < "$here/policies"
rm -rf "$here/given"
