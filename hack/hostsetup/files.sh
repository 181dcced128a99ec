# Of host-setup: configurations of Docker and Caddy, the login, sshd, the folder of sites.

# `put <file> <mode>`: takes what stdin says, unless it stands there already.
put() {
  cat >"$scratch/next"
  if [ -f "$1" ] && cmp -s "$scratch/next" "$1"; then stands "$1"; return; fi
  if [ -e "$1" ]; then word=replaced; else word=written; fi
  ! would "$1: would be $word" || return 0
  mkdir -p "${1%/*}" || fail CANNOT_WRITE "${1%/*}"
  place "$1" "$2" <"$scratch/next"
  made "$1: $word"
}

# `place <file> <mode>`: whole, or not at all.
place() {
  if cat >"$1.next" && chmod "$2" "$1.next" && mv "$1.next" "$1"; then return; fi
  rm -f "$1.next"
  fail CANNOT_WRITE "$1: see that its disk has room and is not read-only"
}

put_daemon_file() {
  daemon_changed=''
  if [ -z "$lacking" ]; then stands "$daemon"; return; fi
  daemon_changed=yes
  kept=$(cut -f 1 "$scratch/members" | tr '\n' ' ' | sed 's/ $//; s/ /, /g')
  while IFS='~' read -r option value _; do
    case "$lacking " in *" $option "*) printf '  "%s": %s,\n' "$option" "$value" ;; esac
  done <"$scratch/wanted" >"$scratch/added"
  if [ -z "$kept" ]; then
    { echo '{'; sed '$ s/,$//' "$scratch/added"; echo '}'; } >"$scratch/daemon"
  else
    # What stands there stays as it is written: ours comes before it, behind the brace that opens the object.
    awk -v "added=$scratch/added" '
      !opened && sub(/[{]/, "{\n@") { opened = 1 }
      { text = text $0 "\n" }
      END {
        while ((getline line < added) > 0) ours = ours line "\n"
        at = index(text, "@")
        printf "%s%s%s", substr(text, 1, at - 1), ours, substr(text, at + 1)
      }' "$daemon" >"$scratch/daemon"
  fi
  said="$(echo "$lacking" | sed 's/^ //; s/ /, /g')${kept:+; kept: $kept}"
  ! would "$daemon: would get $said" || return 0
  mkdir -p /etc/docker
  [ ! -e "$daemon" ] || cp -p "$daemon" "$daemon.before-bottega"
  place "$daemon" 644 <"$scratch/daemon"
  made "$daemon: got $said"
}

put_proxy_files() {
  before=$changes
  # It takes up what the platform told it last, so that a restart of the machine needs nobody; at first, where it is administered.
  put /etc/caddy/bottega.json 644 <<END
{"admin": {"listen": "unix/$admin|0660"}}
END
  put "$proxy_drop" 644 <<'END'
# Written by host-setup: routes come over the socket, whose group may use it, and are kept over restarts.
[Service]
RuntimeDirectory=caddy
ExecStart=
ExecStart=/usr/bin/caddy run --environ --resume --config /etc/caddy/bottega.json
ExecReload=
END
  proxy_changed=$([ "$changes" -eq "$before" ] || echo yes)
}

put_login() {
  if [ -z "$home" ]; then
    if ! would "user $login: would be made, without a password"; then
      useradd -m -U -s /bin/sh -p '*' "$login" 2>"$scratch/apt" || fail CANNOT_MAKE_USER "$login" "$scratch/apt"
      made "user $login: made, without a password"
    fi
  else
    stands "user $login"
  fi
  for group in docker caddy; do
    if id -nG "$login" 2>/dev/null | tr ' ' '\n' | grep -qx "$group"; then stands "$login in group $group"; continue; fi
    ! would "$login: would join the group $group" || continue
    usermod -aG "$group" "$login" 2>"$scratch/apt" || fail CANNOT_JOIN_GROUP "$login, $group" "$scratch/apt"
    made "$login in group $group: joined"
  done
  if [ -z "$key" ]; then
    if [ -s "$keys" ]; then stands "keys of $login"; else tell "keys of $login: none was given (--key)"; fi
  elif grep -qF -- "$key" "$keys" 2>/dev/null; then
    stands "key of $login"
  elif ! would "key of $login: would be let in"; then
    home=$(getent passwd "$login" | cut -d : -f 6) keys=$home/.ssh/authorized_keys
    [ -d "$home/.ssh" ] || install -d -m 700 -o "$login" -g "$(id -gn "$login")" "$home/.ssh"
    # Commands and forwarded sockets, which the platform uses; no terminal, no agent, no X11.
    { cat "$keys" 2>/dev/null; printf 'restrict,port-forwarding %s bottega\n' "$key"; } >"$scratch/keys"
    place "$keys" 600 <"$scratch/keys"
    chown "$login:" "$keys"
    made "key of $login: let in"
  fi
}

put_ssh() {
  ssh_drop=/etc/ssh/sshd_config.d/50-bottega.conf
  before=$changes
  # One user alone is spoken of, and gets less than others.
  put "$ssh_drop" 644 <<END
# Written by host-setup: the login of the platform comes with a key, runs commands and reaches sockets of this machine.
Match User $login
  AuthenticationMethods publickey
  AllowTcpForwarding local
  AllowStreamLocalForwarding local
  AllowAgentForwarding no
  X11Forwarding no
  PermitTTY no
END
  ssh_changed=$([ "$changes" -eq "$before" ] || echo yes)
  [ -z "$dry" ] || return 0
  mkdir -p /run/sshd
  if ! /usr/sbin/sshd -t 2>"$scratch/apt"; then
    [ -z "$ssh_changed" ] || rm -f "$ssh_drop"
    fail BAD_SSH_CONFIGURATION 'sshd refuses its configuration: mend it and run this again' "$scratch/apt"
  fi
  /usr/sbin/sshd -T -C "user=$login,host=localhost,addr=127.0.0.1" >"$scratch/sshd" 2>/dev/null
  for need in 'pubkeyauthentication yes' 'allowtcpforwarding (yes|all|local)' 'allowstreamlocalforwarding (yes|all|local)' 'maxsessions [1-9][0-9]+'; do
    grep -Eqx -- "$need" "$scratch/sshd" || fail SSH_CONFLICT "sshd says '$(grep -- "^${need%% *} " "$scratch/sshd")' for $login, a host needs '$need': change it in /etc/ssh, then run this again"
  done
  lists=$(sed -n 's/^\(allow\|deny\)\(users\|groups\) /&/p' "$scratch/sshd")
  [ -z "$lists" ] || tell "sshd lets in whom a list names ($(echo "$lists" | head -n 1 | head -c 200)): see that it lets $login in"
}

put_kernel() {
  before=$changes
  put /etc/sysctl.d/60-bottega.conf 644 <<'END'
# Written by host-setup: the proxy listens anew with each configuration, and whoever waits where it listened is handed on (ip-sysctl.rst).
net.ipv4.tcp_migrate_req = 1
END
  if [ -n "$dry" ] || [ "$changes" -eq "$before" ]; then return 0; fi
  { echo 1 >/proc/sys/net/ipv4/tcp_migrate_req; } 2>/dev/null ||
    tell 'the kernel is older than Linux 5.14, or a container of somebody: some visitors are turned away each time the proxy takes a new configuration'
}

put_sites() {
  if [ "$(stat -c %U "$sites" 2>/dev/null)" = "$login" ]; then stands "$sites of $login"; return; fi
  ! would "$sites: would be made, for $login" || return 0
  install -d -m 755 "${sites%/*}"
  install -d -m 755 -o "$login" -g "$(id -gn "$login")" "$sites" || fail CANNOT_WRITE "$sites: see that its disk has room"
  made "$sites: made, for $login"
}
