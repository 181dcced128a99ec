# stdin: slug, its projects by blanks, MiB of disk, how many services, then a line each: name, processors, bytes of memory,
# processes. Gives what runs of the app these limits, as it runs, and tells the meter its disk. Nothing is changed where a
# service uses more than it would have: then it says which, what it uses, and what it would have.
IFS= read -r slug && IFS= read -r projects && IFS= read -r disk && IFS= read -r count || exit 64
limits=''
while [ "$count" -gt 0 ]; do
  IFS= read -r one || exit 64
  count=$((count - 1))
  limits="$limits$one
"
done
read -r used budget word at <<DISK
$(disk_of "$slug")
DISK
[ "${used:-0}" -le "$disk" ] || { say reason "it has $used MiB on disk, and would have $disk"; exit 3; }
ids=$(for project in $projects; do docker ps -q --no-trunc --filter "label=com.docker.compose.project=$project"; done)
[ -n "$ids" ] || { say reason 'nothing of it runs'; exit 4; }
bytes() { awk '{ n = $1 + 0; u = $1; sub(/^[0-9.]+/, "", u); f["B"] = 1; f["KiB"] = 1024; f["MiB"] = 1048576; f["GiB"] = 1073741824; f["TiB"] = 1099511627776; printf "%.0f\n", n * f[u] }'; }
uses=$(docker stats --no-stream --no-trunc --format '{{.ID}} {{.MemUsage}}' $ids) || exit 1
wanted=$(for id in $ids; do
  key=$(docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}}' "$id") || continue
  service=$(printf '%s\n' "$key" | sed 's/-r[0-9][0-9]*$//')
  printf '%s' "$limits" | awk -v id="$id" -v key="$key" -v name="$service" '$1 == key || $1 == name { print id, $0; exit }'
done)
printf '%s\n' "$wanted" | while read -r id name cpus memory pids; do
  now=$(printf '%s\n' "$uses" | awk -v id="$id" '$1 == id { print $2 }' | bytes)
  [ "${now:-0}" -lt "$memory" ] || { say reason "$name uses $((now / 1048576)) MiB of memory, and would have $((memory / 1048576))"; exit 3; }
done || exit $?
printf '%s\n' "$wanted" | while read -r id name cpus memory pids; do
  docker update --cpus "$cpus" --memory "$memory" --memory-swap "$memory" --pids-limit "$pids" "$id" >/dev/null || exit 1
done || exit $?
tell_budget "$slug" "$disk" || exit 1
