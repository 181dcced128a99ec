# `put_dial <file> <address>`: the file that the proxy dials by, whole or not at all. An address on loopback is what the file says. One of a
# container is the alias of the link behind which it is, and the file leads there: the engine takes the link away before it gives the
# address to anybody else, and then the file says nothing (hack/decisions/101). Where no container of the app has it any more the file leads nowhere.
put_dial() {
  rm -f "$1.partial"
  case "$2" in
    127.*) printf '%s' "$2" > "$1.partial" && chmod 644 "$1.partial" || return 1;;
    *)
      # Side by side, for the guard takes as long to be entered as the holder to be found.
      bound=$(holder_of "${2%:*}" | docker exec -i bottega-guard /bin/sh -c "$bind_link" bind "$2") || return 1
      [ -n "$bound" ] || { dial_nobody "$1"; return; }
      link=${bound%% *}
      holder=${bound#* }
      # Who has it now and had it before the link was looked for had it meanwhile.
      [ "$(holder_of "${2%:*}" "${holder%% *}")" = "$holder" ] || { dial_nobody "$1"; return; }
      ln -s "/sys/class/net/$link/ifalias" "$1.partial" || return 1;;
  esac
  mv -f "$1.partial" "$1"
}
dial_nobody() { ln -s gone "$1.partial" && mv -f "$1.partial" "$1"; }
# `holder_of <address> [container]`: the container of the app that has it, when it was started, its address in the bridge's table.
holder_of() {
  ids=${2:-$(docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug")}
  [ -n "$ids" ] || return 0
  docker inspect --format '{{$one := .}}{{range .NetworkSettings.Networks}}{{.IPAddress}} {{$one.Id}} {{$one.State.StartedAt}} {{.MacAddress}}
{{end}}' $ids 2>/dev/null | awk -v own="$1" '$1 == own { print $2, $3, $4; exit }'
}
