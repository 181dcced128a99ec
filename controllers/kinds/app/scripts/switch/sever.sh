# Runs in the guard, which may end connections of the host. Arguments: whose are to end, 'link' or 'other', or both. stdin: where the proxy
# dials, a line each. Which are whose says the kernel: what links opened is never asked whether it
# is still there, so no timer runs for it; for others one does (crds/app/lifecycle/route.ts). While something is on its way another timer
# runs, and nobody can tell; who cannot be told after a second is not let off.
PATH=/usr/sbin:/sbin:/usr/bin:/bin
places=$(grep .) || exit 0
command -v ss >/dev/null || { echo 'iproute2 has no ss here' >&2; exit 3; }
whose=" $* "
# A line for each connection: its place, its port on this side, whose it is.
open() {
  for place in $places; do
    ss -tnoH state connected exclude time-wait dst "$place" | awk -v place="$place" '{
      port = ""
      for (i = 1; i <= NF && port == ""; i++) if ($i ~ /:[0-9]+$/) { port = $i; sub(/.*:/, "", port) }
      whose = "unsure"
      if ($0 !~ / timer:/) whose = "link"
      if ($0 ~ / timer:\(keepalive/) whose = "other"
      if (port != "") print place, port, whose
    }' || return 1
  done
}
chosen() { awk -v whose="$whose" -v last="$1" 'index(whose, " " $3 " ") || ($3 == "unsure" && (last || whose ~ /link.*other|other.*link/)) { print $1, $2 }'; }
sever() {
  while read -r place ports; do
    ss -K -tnH dst "$place" and "( sport = :$(printf '%s' "$ports" | sed 's/ / or sport = :/g') )" >/dev/null || return 1
  done
}
# Two hundred at a time.
gathered() {
  awk '{ n[$1]++; all[$1] = all[$1] " " $2; if (n[$1] == 200) { print $1 all[$1]; n[$1] = 0; all[$1] = "" } } END { for (one in all) if (n[one]) print one all[one] }'
}
for look in 1 2 3 4 5; do
  found=$(open) || exit 1
  last=''
  [ "$look" != 5 ] || last=1
  to_end=$(printf '%s\n' "$found" | chosen "$last")
  [ -z "$to_end" ] || printf '%s\n' "$to_end" | gathered | sever || exit 1
  case "$found" in *unsure*) sleep 0.2;; *) break;; esac
done
left=$(open | chosen 1 | grep -Fx "${to_end:-none}")
[ -z "$left" ] || { echo 'the kernel ends no connections (CONFIG_INET_DIAG_DESTROY)' >&2; exit 3; }
