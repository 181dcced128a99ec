# Of host-setup: looks, and refuses. Changes nothing.

at_least() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
has_systemd() { [ -d /run/systemd/system ]; }
runs() { ! has_systemd || ! systemctl -q is-active "$1" || echo yes; }
docker_version() { docker version --format '{{.Client.Version}}' 2>/dev/null | head -n 1; }
compose_version() { docker compose version --short 2>/dev/null | sed 's/^v//'; }
caddy_version() { caddy version 2>/dev/null | sed 's/^v//; s/ .*//'; }

look_at_machine() {
  [ "$(id -u)" -eq 0 ] || refuse NOT_ROOT 'it writes below /etc and installs packages; log in as root, or put sudo before sh'
  ID='' VERSION_ID='' PRETTY_NAME='' VERSION_CODENAME=''
  # shellcheck source=/dev/null
  [ ! -r /etc/os-release ] || . /etc/os-release
  case "$ID" in
    debian) oldest=12 compose_package=docker-compose ;;
    ubuntu) oldest=22.04 compose_package=docker-compose-v2 ;;
    *) oldest=none ;;
  esac
  if [ "$oldest" = none ] || ! at_least "$VERSION_ID" "$oldest"; then
    refuse UNSUPPORTED_SYSTEM "this is ${PRETTY_NAME:-an unknown system}; Debian from 12 or Ubuntu from 22.04 on is needed, as a release: install one, or prepare the host by hand (README, Prepare a host)"
    return
  fi
  case "$(uname -m)" in
    x86_64 | aarch64) ;;
    *) refuse UNSUPPORTED_PROCESSOR "this is $(uname -m); images are built for x86_64 and aarch64" ;;
  esac
  free=$(($(df -Pk /var | awk 'NR == 2 { print $4 }') / 1048576))
  [ "$free" -ge "$free_gib_least" ] ||
    refuse DISK_FULL "/var has $free GiB left; $free_gib_least are needed, and room for the images of apps: make room, or mount a larger disk there"
  [ "$(cat /proc/sys/user/max_user_namespaces 2>/dev/null || echo 0)" -gt 0 ] ||
    refuse NO_USER_NAMESPACES 'the kernel gives no user namespaces, so root in a container would be root here: set user.max_user_namespaces (sysctl)'
  [ "$faults" -gt 0 ] || tell "$PRETTY_NAME, $(uname -m), $free GiB free"
}

# Lines `key<TAB>value` of the object in a file, values as they stand without blanks. Ends with 1 where it is no object.
members() {
  awk '
    { text = text $0 "\n" }
    END {
      for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (quoted) {
          word = word c
          if (escaped) escaped = 0
          else if (c == "\\") escaped = 1
          else if (c == "\"") quoted = 0
          continue
        }
        if (c ~ /[ \t\r\n]/) continue
        if (ended) exit bad = 1
        if (depth == 0) { if (c != "{") exit bad = 1; depth = 1; continue }
        if (depth == 1 && c == ":") { name = word; word = ""; named = 1; continue }
        if (depth == 1 && (c == "," || c == "}")) {
          if (named && word != "") print substr(name, 2, length(name) - 2) "\t" word
          else if (named || word != "" || c == ",") exit bad = 1
          named = 0; word = ""
          if (c == "}") { depth = 0; ended = 1 }
          continue
        }
        if (c == "\"") quoted = 1
        if (c == "{" || c == "[") depth++
        if (c == "}" || c == "]") depth--
        word = word c
      }
      exit bad || !ended
    }' "$1"
}

# What Docker is told, a line each: key, value, what else may stand there (an expression), and what it is for.
wanted() {
  cat <<'END'
userns-remap~"default"~"[^"]+"~root of a container is nobody on the host
live-restore~true~true~apps go on while Docker is restarted or renewed
icc~false~false~containers that somebody starts by hand do not reach each other
log-driver~"json-file"~"(json-file|local)"~logs lie where they are read and measured
log-opts~{"max-size":"10m","max-file":"3"}~.*"max-size".*~no log grows without end
default-address-pools~[{"base":"172.16.0.0/12","size":24}]~.*~4,096 networks, not 31
iptables~-~true~containers reach the world and are reached
END
}

look_at_docker() {
  docker_ran=$(runs docker)
  lacking='' conflicts=0
  : >"$scratch/members"
  if [ -e "$daemon" ] && ! members "$daemon" >"$scratch/members"; then
    refuse BAD_DOCKER_CONFIGURATION "$daemon is no JSON object: mend it, or take it away, and run this again"
    return
  fi
  wanted >"$scratch/wanted"
  while IFS='~' read -r option value also why; do
    found=$(sed -n "s/^$option	//p" "$scratch/members" | tail -n 1)
    if [ -z "$found" ]; then
      [ "$value" = - ] || lacking="$lacking $option"
    elif ! is "$found" "$also"; then
      conflicts=$((conflicts + 1))
      [ "$value" != - ] || value=$also
      refuse DOCKER_CONFLICT "$daemon says \"$option\": $found, a host needs $value ($why): change or remove that line yourself, then run this again"
    fi
  done <"$scratch/wanted"
  engine=$(docker_version)
  [ -z "$engine" ] || at_least "$engine" "$docker_oldest" ||
    refuse DOCKER_TOO_OLD "Docker is $engine; $docker_oldest or later is needed: renew it (apt-get install docker.io, or docker-ce), then run this again"
  # What is there before users are remapped is out of sight from then on.
  case "$lacking" in *userns-remap*) ;; *) return ;; esac
  held=$({ docker ps -aq 2>/dev/null; docker volume ls -q 2>/dev/null; } | grep -c .)
  [ "$held" -gt 0 ] || held=$(find /var/lib/docker/containers /var/lib/docker/volumes -mindepth 1 -maxdepth 1 -type d 2>/dev/null | grep -c .)
  [ "$held" -eq 0 ] ||
    refuse DOCKER_IN_USE "Docker here has $held containers and volumes that would be out of sight once users are remapped: take them away first (docker rm, docker volume rm), or use another machine"
}

look_at_proxy() {
  proxy_ran=$(runs caddy)
  proxy_drop=/etc/systemd/system/caddy.service.d/bottega.conf
  [ ! -e "$proxy_drop" ] || return 0
  shipped=$(dpkg-query -W -f '${Conffiles}\n' caddy 2>/dev/null | sed -n 's|^ /etc/caddy/Caddyfile \([0-9a-f]*\).*|\1|p')
  if [ -e /etc/caddy/Caddyfile ] && [ "$(md5sum </etc/caddy/Caddyfile | cut -d ' ' -f 1)" != "$shipped" ]; then
    refuse CADDY_IN_USE '/etc/caddy/Caddyfile is somebody'\''s own, and its sites would be served no more: move them to another machine, and the file away'
    return
  fi
  # A fresh Caddy of the package greets at port 80 until it has our configuration.
  ! pgrep -x caddy >/dev/null 2>&1 || return 0
  for taken in 80:0050 443:01BB; do
    ! cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v "port=:${taken#*:}$" '$4 == "0A" && $2 ~ port { found = 1 } END { exit !found }' ||
      refuse PORT_IN_USE "something listens on port ${taken%:*} already, where Caddy is to serve (ss -ltnp shows what): stop and disable it"
  done
}

# `say_kernel <file>…`: where it may be written how the kernel was built, the first that can be read counts. Without this the guard ends nothing
# that is open at an app (hack/decisions/104); nothing is refused for that.
say_kernel() {
  built='' of_it='whoever has a WebSocket or a stream open at an app keeps it, when he may not see it any more, until a later release drains it'
  for config in "$@"; do
    case "$config" in
      *.gz) built=$(gzip -dc "$config" 2>/dev/null | grep -E '^(# )?CONFIG_INET') ;;
      *) built=$(grep -E '^(# )?CONFIG_INET' "$config" 2>/dev/null) ;;
    esac
    [ -z "$built" ] || break
  done
  if [ -z "$built" ]; then
    tell "kernel: unknown whether it ends connections, for nothing here says how it was built; where it was without CONFIG_INET_DIAG_DESTROY, $of_it (the app's condition OpenConnectionsStay says so then)"
  elif printf '%s\n' "$built" | grep -qx CONFIG_INET_DIAG_DESTROY=y; then
    tell 'kernel: ends connections, so that what is open at an app ends when whoever opened it may not see it any more'
  else
    tell "kernel: ends no connections (built without CONFIG_INET_DIAG_DESTROY): $of_it; run one that was built with it"
  fi
}

look_at_login() {
  home=$(getent passwd "$login" | cut -d : -f 6)
  if [ -n "$home" ] && [ "$(id -u "$login")" -lt 1000 ]; then
    refuse LOGIN_OF_THE_SYSTEM "$login is a user of the system: choose another name with --login"
  fi
  keys=${home:-/home/$login}/.ssh/authorized_keys
  [ -n "$key" ] || [ -s "$keys" ] || [ -n "$dry" ] ||
    refuse NO_KEY "nobody could log in as $login: make a key (ssh-keygen -t ed25519 -N '' -f bottega-host) and run this with --key bottega-host.pub"
}
