# Runs in the guard, which may change links: the bridge of a cell is told where its gate is, and it is waited until the guard leads there.
# Arguments: the bridge, the address. The alias goes with the bridge.
PATH=/usr/sbin:/sbin:/usr/bin:/bin
ip link set dev "$1" alias "gate $2" || exit 1
kill -USR1 1
for look in $(seq 100); do
  led=$(iptables -w 5 -t nat -S BOTTEGA-GATE 2>/dev/null | grep -cF -e "-i $1 -p tcp -m tcp --dport 80 -j DNAT --to-destination $2:8080" -e "-i $1 -p tcp -m tcp --dport 443 -j DNAT --to-destination $2:8443")
  [ "$led" != 2 ] || exit 0
  sleep 0.1
done
exit 1
