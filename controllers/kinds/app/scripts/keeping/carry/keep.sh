# stdin: slug, 0, the move. On the other host: what runs there stays, and is started again as it says. What has ended because it was told nothing in time
# is started.
mkdir -p -m 700 "$app" "$app/moves" "$here" || exit 1
decide kept
alone
ln -sfn kept "$here/fate" || exit 1
[ -f "$here/policies" ] || exit 0
give_policies "$here/policies" || exit 1
if [ "$fate" != kept ]; then
  while read -r id policy; do [ "$policy" = no ] || docker start "$id" </dev/null >/dev/null 2>&1; done < "$here/policies"
fi
rm -rf "$here/given"
