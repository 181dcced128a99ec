# stdin: slug, 0, the move. On the host that is left: nothing of it runs there any more, unless that was decided otherwise. Gives what was.
[ -d "$here" ] || exit 1
decide left
echo "$fate"
[ "$fate" != left ] || rm -rf "$app/backups/$move-"*
