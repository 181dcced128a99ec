# Runs in the guard, which may change links: the link of an app's bridge behind which the container of an address is gets that address as
# its alias, and is named beside that container. Argument: the address with its port. stdin: the container, when it was started, its address
# in the bridge's table; nothing where nobody has it, and then nothing is said; 'unknown' where the engine did not say.
PATH=/usr/sbin:/sbin:/usr/bin:/bin
read -r container started mac || exit 0
[ "$container" != unknown ] || { echo "the engine does not say who has $1" >&2; exit 1; }
bridge=$(ip -o route get "${1%:*}" | sed -n 's/.* dev \(bt-[^ ]*\) .*/\1/p')
[ -n "$bridge" ] || { echo "no bridge of an app leads to $1" >&2; exit 1; }
link_of() { bridge fdb show br "$bridge" | sed -n "s/^$1 dev \([^ ]*\) .*/\1/p" | head -n 1; }
for look in 1 2 3 4 5; do
  link=$(link_of "$mac")
  [ -z "$link" ] || break
  # Who was silent for minutes is not in the table: it refuses a port that nobody listens on.
  curl -s -m 2 -o /dev/null --noproxy '*' "http://${1%:*}:9/"
done
[ -n "$link" ] || { echo "nobody knows behind which link of $bridge $1 is" >&2; exit 1; }
ip link set dev "$link" alias "$1" && echo "$link $container $started $mac"
