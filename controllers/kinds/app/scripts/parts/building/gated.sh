# What runs in a gate, as nobody. /gate is what it is told (crds/host/gate.ts) and its name servers. It says `stands` when
# it listens, and ends with its stdin.
exec 3<&0 </dev/null
haproxy -f /gate/gate.cfg -f /gate/servers.cfg 3<&- &
daemon=$!
# 8443, and that it listens.
listens() {
  while read -r line; do case "$line" in *:20FB\ *\ 0A\ *) return 0;; esac; done < /proc/net/tcp
  return 1
}
until listens; do
  kill -0 "$daemon" 2>/dev/null || exit 1
  sleep 0.1
done
echo stands
( while read -r line; do :; done <&3; kill -KILL "$daemon" ) &
wait "$daemon"
