# `open_gate`, `close_gate`: the gate of a cell, where the host names what builds reach (hack/decisions/119): a container that leads on what
# the cell sends to ports 80 and 443 to listed names, and to nothing else. It stands in two networks, that of the cell and one of its own
# by which it reaches the world: on one bridge a cell could send what it likes in the name of its gate. Docker takes the network that
# sorts first for the way out. It hands nothing on, and takes no answer of the world from the side of the cell. It lives while somebody
# holds its stdin, as the cell does. `$one.said` is what it has refused.
gate_of() { gate_name="bottega-gate-$1" beyond="bottega-beyond-$1"; }
# Docker's own where the host has none that a container reaches.
name_servers() {
  servers=$(resolvers) number=0
  echo 'resolvers host'
  for server in ${servers:-127.0.0.11}; do
    number=$((number + 1))
    echo "  nameserver n$number $server:53"
  done
  printf '  %s\n' 'resolve_retries 3' 'timeout resolve 1s' 'timeout retry 1s' 'accepted_payload_size 8192'
}
in_gate() {
  docker run --rm -i --name "$gate_name" --label dev.bottega.gate=1 --network "$beyond" --user 65534:65534 --entrypoint /bin/sh \
    --cap-drop ALL --security-opt no-new-privileges --sysctl net.ipv4.ip_forward=0 --sysctl net.ipv4.conf.all.rp_filter=1 \
    --cpus 1 --memory 64m --memory-swap 64m --pids-limit 16 --log-driver none --pull never --read-only \
    -v "$here/cell/gate:/gate:ro" "$gate" -c "$gated" <&6 2>&1
}
# A line of each, and no more than anybody reads.
keep_said() {
  kept='' count=0
  while IFS= read -r line; do
    case "$line" in stands|refused\ *|closed\ *|unknown\ *|nameless\ *|docker:\ *|*ALERT*) ;; *) continue;; esac
    case "$kept" in *"|$line|"*) continue;; esac
    [ "$count" -lt 64 ] || continue
    kept="$kept|$line|" count=$((count + 1))
    printf '%s\n' "$line"
  done
}
stands() {
  for look in $(seq 300); do
    ! grep -qx stands "$one.said" || return 0
    kill -0 "$gate_job" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}
open_gate() {
  [ -n "$gate" ] || return 0
  : > "$one.said" && name_servers > "$here/cell/gate/servers.cfg" || return 1
  bridge_network "$beyond" "bt-g${cell_id%?}" 2>/dev/null || { close_gate; bridge_network "$beyond" "bt-g${cell_id%?}"; } || return 1
  in_gate | keep_said > "$one.said" &
  gate_job=$!
  stands || { echo 'The gate of the build does not stand:'; cat "$one.said"; return 1; }
  docker network connect "$place" "$gate_name" &&
    address=$(docker inspect --format "{{with index .NetworkSettings.Networks \"$place\"}}{{.IPAddress}}{{end}}" "$gate_name") || return 1
  docker exec bottega-guard /bin/sh -c "$lead" lead "$cell_bridge" "$address" 2>&1 ||
    { close_gate; docker network rm "$place" >/dev/null 2>&1; say reason 'its guard does not lead builds to their gate'; exit "$exit_not_guarded"; }
}
close_gate() {
  [ -n "$gate" ] || return 0
  docker rm -f "$gate_name" >/dev/null 2>&1
  [ -z "$gate_job" ] || wait "$gate_job"
  gate_job=''
  docker network rm "$beyond" >/dev/null 2>&1
  return 0
}
names_said() { sed -n "s/^$1 \([a-z0-9._-]\{1,253\}\)$/\1/p" "$one.said" | sort -u | head -n 10 | tr '\n' ' ' | sed 's/ $//; s/ /, /g'; }
# Sentences, each behind `; `, of what was refused; nothing where nothing was.
said_refused() {
  [ -n "$gate" ] || return 0
  for word in refused closed unknown; do
    named=$(names_said "$word")
    [ -n "$named" ] || continue
    case "$word" in
      refused) printf '; not on the list of this host: %s' "$named";;
      closed) printf '; on the list of this host, but at no public address: %s' "$named";;
      unknown) printf '; on the list of this host, but not found: %s' "$named";;
    esac
  done
  ! grep -q '^nameless ' "$one.said" || printf '; something was asked for without the name of its host'
}
