# stdin: slug, 0, the move. On the other host: nothing of it runs there any more, and nothing is started. What was told to stay stays.
# Nobody unpacks any more, and a full disk lets nothing else be done.
rm -rf "$app/backups/$move-"*
mkdir -p -m 700 "$app" "$app/moves" "$here" || exit 1
decide lapsed
[ "$fate" = lapsed ] || { echo "it is $fate"; exit 3; }
alone
docker rm -f "$move-copy" "$move-room" >/dev/null 2>&1
for try in 1 2 3; do
  ids=$(of_app) || exit 1
  [ -n "$ids" ] || exit 0
  docker update --restart no $ids </dev/null >/dev/null 2>&1
  docker stop -t 2 $ids </dev/null >/dev/null 2>&1
done
[ -z "$(of_app)" ]
