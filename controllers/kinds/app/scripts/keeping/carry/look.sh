# stdin: slug, 0, the move. On the host that is left: seconds until it goes back by itself, by a clock that begins now; and seconds until the new ones
# are known to have ended without a word of theirs. After a restart of the host nobody goes back by himself, and its wall clock is all that there is.
[ "$(fate_now)" = none ] || { echo '0 0'; exit 0; }
read -r ends on ends_at < "$here/until" || exit 1
if [ "$on" = "$booted" ]; then
  uptime_now || exit 1
  left=$((ends - up))
  echo "$left $left"
else
  echo "0 $((ends_at - $(date +%s)))"
fi
