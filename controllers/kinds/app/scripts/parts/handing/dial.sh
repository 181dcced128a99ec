# `put_dial <file> <address>`: the file that the proxy dials by, whole or not at all. An address on loopback is what the file says. One of a
# container is the alias of the link behind which it is, and the file leads there: the engine takes the link away before it gives the
# address to anybody else, and then the file says nothing (hack/decisions/101). Where no container of the app has it any more the file leads nowhere.
put_dial() {
  rm -f "$1.partial"
  case "$2" in
    127.*) printf '%s' "$2" > "$1.partial" && chmod 644 "$1.partial" || return 1;;
    *)
      # Side by side, for the guard takes as long to be entered as the holder to be found.
      bound=$({ holder_of "${2%:*}" || echo unknown; } | docker exec -i bottega-guard /bin/sh -c "$bind_link" bind "$2") || return 1
      [ -n "$bound" ] || { dial_nobody "$1"; return; }
      link=${bound%% *}
      holder=${bound#* }
      # Who has it now and had it before the link was looked for had it meanwhile.
      has_it=$(holder_of "${2%:*}" "${holder%% *}") || return 1
      [ "$has_it" = "$holder" ] || { dial_nobody "$1"; return; }
      ln -s "/sys/class/net/$link/ifalias" "$1.partial" || return 1;;
  esac
  mv -f "$1.partial" "$1"
}
dial_nobody() { ln -s gone "$1.partial" && mv -f "$1.partial" "$1"; }
# `holder_of <address> [container]`: the container of the app that has it, when it was started, its address in the bridge's table. Nothing
# where nobody has it. Fails where the engine does not say: that is not an answer.
holder_of() {
  for try in 1 2 3; do
    ids=${2:-$(docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug")} || return 1
    [ -n "$ids" ] || return 0
    whole=yes
    found=$(docker inspect --format '{{$one := .}}{{range .NetworkSettings.Networks}}{{.IPAddress}} {{$one.Id}} {{$one.State.StartedAt}} {{.MacAddress}}
{{end}}' $ids 2>/dev/null) || whole=''
    found=$(printf '%s\n' "$found" | awk -v own="$1" '$1 == own { print $2, $3, $4; exit }')
    [ -z "$found" ] || { echo "$found"; return 0; }
    # Of all that were asked for none has it; or one has gone meanwhile, unless the engine has.
    [ -z "$whole" ] || return 0
    [ -z "${2:-}" ] || { left=$(docker ps -aq --no-trunc --filter "id=$2") || return 1; [ -n "$left" ] || return 0; }
  done
  return 1
}
