# The guard of a host's apps: a container that shares the network of the host, may change its packet filter and nothing else,
# and has no program but the host's own. Argument: ranges that no app reaches.
# Apps stand behind bridges whose names begin with bt- (`bridgeOf` in crds/app/compose/printing/bridges.ts); nothing else is touched.
# The table mangle comes before all that Docker and firewalls decide, whoever was started first. Every two seconds it is
# looked at, and put back when somebody changed it; `state` tells when that was, and how often it had to be.
# A cell whose build has a gate (hack/decisions/119) stands behind a bridge whose name begins with bt-n, and sends to its gate and to
# name servers alone; what the gate sends to the world goes by a bridge bt-g. The alias of the first says where the gate is.
closed=$1
state=/run/guard
PATH=/usr/sbin:/sbin:/usr/bin:/bin
trap 'exit 0' TERM INT
resolvers() {
  cat /host/etc/resolv.conf /host/resolve/resolv.conf 2>/dev/null |
    sed -n 's/^nameserver[[:blank:]]*\([0-9][0-9.]*\)[[:blank:]]*$/\1/p' | grep -v '^127\.' | sort -u
}
dns() { for one in $servers; do for protocol in udp tcp; do echo "-A $1 -d $one/32 -p $protocol --dport 53 -j RETURN"; done; done; }
# Containers of one network speak to each other; nobody speaks to them but the host, and who answers them.
rules() {
  printf '%s\n' '*mangle' ':BOTTEGA-FROM - [0:0]' ':BOTTEGA-TO - [0:0]' ':BOTTEGA-HOST - [0:0]'
  echo '-A BOTTEGA-FROM -m physdev --physdev-is-bridged -j RETURN'
  dns BOTTEGA-FROM
  echo '-A BOTTEGA-FROM -i bt-n+ -o bt-n+ -p tcp -m conntrack --ctstate DNAT -j RETURN'
  echo '-A BOTTEGA-FROM -i bt-n+ -j DROP'
  for bridge in bt-+ br-+ docker+; do echo "-A BOTTEGA-FROM -o $bridge -j DROP"; done
  for range in $closed; do echo "-A BOTTEGA-FROM -d $range -j DROP"; done
  echo '-A BOTTEGA-FROM -i bt-g+ -p tcp -m multiport --dports 80,443 -j RETURN'
  echo '-A BOTTEGA-FROM -i bt-g+ -j DROP'
  echo '-A BOTTEGA-TO -m physdev --physdev-is-bridged -j RETURN'
  echo '-A BOTTEGA-TO -m conntrack --ctdir REPLY -j RETURN'
  echo '-A BOTTEGA-TO -i bt-n+ -o bt-n+ -p tcp -m conntrack --ctstate DNAT -j RETURN'
  echo '-A BOTTEGA-TO -j DROP'
  echo '-A BOTTEGA-HOST -m conntrack --ctdir REPLY -j RETURN'
  dns BOTTEGA-HOST
  echo '-A BOTTEGA-HOST -i bt-n+ -j DROP'
  for range in $closed; do echo "-A BOTTEGA-HOST -d $range -j DROP"; done
  # What any visitor reaches under a public address.
  echo '-A BOTTEGA-HOST -p tcp -m multiport --dports 80,443 -j RETURN'
  echo '-A BOTTEGA-HOST -j DROP'
  printf '%s\n' COMMIT '*nat' ':BOTTEGA-GATE - [0:0]' ':BOTTEGA-BACK - [0:0]'
  printf '%s\n' "$gates" | while read -r bridge address; do
    [ -z "$bridge" ] || for port in 80 443; do
      echo "-A BOTTEGA-GATE -i $bridge -p tcp -m tcp --dport $port -j DNAT --to-destination $address:$((8000 + port))"
    done
  done
  # It answers by the same bridge, to who has asked.
  echo '-A BOTTEGA-BACK -o bt-n+ -m conntrack --ctstate DNAT -j MASQUERADE'
  echo COMMIT
}
# No app has an address of IPv6 from us.
rules6() {
  printf '%s\n' '*mangle' ':BOTTEGA-FROM - [0:0]' ':BOTTEGA-TO - [0:0]' ':BOTTEGA-HOST - [0:0]'
  for chain in FROM TO; do echo "-A BOTTEGA-$chain -m physdev --physdev-is-bridged -j RETURN"; done
  for chain in FROM TO HOST; do echo "-A BOTTEGA-$chain -j DROP"; done
  echo COMMIT
}
# `jumps <program> <table> <ways>`
jumps() {
  program=$1 table=$2; shift 2
  for way; do
    "$program" -w 5 -t "$table" -C $way 2>/dev/null || "$program" -w 5 -t "$table" -I $way || return 1
  done
}
jump_in() { jumps "$1" mangle 'FORWARD -i bt-+ -j BOTTEGA-FROM' 'FORWARD -o bt-+ -j BOTTEGA-TO' 'INPUT -i bt-+ -j BOTTEGA-HOST'; }
put() {
  rules | iptables-restore -w 5 --noflush && jump_in iptables &&
    jumps iptables nat 'PREROUTING -i bt-n+ -j BOTTEGA-GATE' 'POSTROUTING -o bt-n+ -j BOTTEGA-BACK' || return 1
  [ ! -d /proc/sys/net/ipv6 ] || { rules6 | ip6tables-restore -w 5 --noflush && jump_in ip6tables; }
}
shown() {
  for table in mangle nat; do iptables -w 5 -t "$table" -S 2>&1 | grep -e BOTTEGA-; done
  [ ! -d /proc/sys/net/ipv6 ] || ip6tables -w 5 -t mangle -S 2>&1 | grep -e BOTTEGA-
}
# Whether this is all of it: what somebody took away between the putting and the look would be taken for whole.
is_whole() {
  lines=$(rules | grep -c '^[-:]') ways=5
  [ ! -d /proc/sys/net/ipv6 ] || lines=$((lines + $(rules6 | grep -c '^[-:]'))) ways=8
  [ "$(echo "$1" | grep -c '^-[AN] BOTTEGA-')" = "$lines" ] &&
    [ "$(echo "$1" | grep -c '^-A [A-Z]* -[io] bt-n*+ -j BOTTEGA-')" -ge "$ways" ]
}
# `<bridge> <address>` of each.
gates_now() {
  for file in /sys/class/net/bt-n*/ifalias; do
    read -r word address 2>/dev/null < "$file" || continue
    case "$word $address" in gate\ *[!0-9.]*|gate\ ) ;; gate\ *) bridge=${file%/ifalias}; echo "${bridge##*/} $address";; esac
  done
}
tell() { echo "$(date +%s) $*" > "$state.next" && mv "$state.next" "$state"; }
# Whoever says where a gate is need not wait for the next look.
trap : USR1
wanted='' known=none led='' restored=-1
while :; do
  servers=$(resolvers) gates=$(gates_now)
  if [ "$servers" != "$known" ] || [ "$gates" != "$led" ] || [ "$(shown)" != "$wanted" ]; then
    # That a gate comes or goes is nobody's doing against the rules.
    times=$((restored + 1))
    [ "$known" != "$servers" ] || [ "$gates" = "$led" ] || [ "$(shown)" != "$wanted" ] || times=$restored
    if fault=$(put 2>&1) && now=$(shown) && is_whole "$now"; then
      wanted=$now known=$servers led=$gates restored=$times
      echo "rules put in place, $restored times again"
    else
      known=none fault=${fault:-somebody changed the rules while they were put in place}
    fi
  fi
  if [ "$known" = none ]; then tell "fault $(echo "$fault" | head -n 1)"; else tell "ok $restored"; fi
  sleep 2 & wait $!
done
