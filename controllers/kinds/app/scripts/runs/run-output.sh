# stdin: id of the job, the byte to go on from, how many at most. Says from which byte on it gives, how many there are in all, and gives them.
IFS= read -r job && IFS= read -r from && IFS= read -r most || exit 64
cd ".bottega/jobs/$job" 2>/dev/null || { echo "$from $from"; exit 0; }
exec 8>>.out && flock 8
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
first=$(cat dropped 2>/dev/null || echo 0)
total=$((first + $(size out.1) + $(size out)))
[ "$from" -ge "$first" ] || from=$first
printf '%s %s\n' "$from" "$total"
cat out.1 out 2>/dev/null | tail -c "+$((from - first + 1))" | head -c "$most"
exit 0
