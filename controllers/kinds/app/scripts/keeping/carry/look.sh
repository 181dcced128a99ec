# stdin: slug, 0, the move. On the host that is left: seconds until it goes back by itself, by a clock that begins now.
[ "$(fate_now)" = none ] || { echo 0; exit 0; }
IFS= read -r ends < "$here/until" || exit 1
echo "$((ends - $(date +%s)))"
