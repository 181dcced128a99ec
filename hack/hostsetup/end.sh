# Of host-setup: services, a look at what stands, and how the host is registered.

start_services() {
  [ -z "$dry" ] || return 0
  if ! has_systemd; then
    tell 'systemd does not run here: start ssh, docker and caddy yourself, with what stands in their units'
    return
  fi
  systemctl daemon-reload
  if [ -n "$docker_ran" ] && [ -n "$daemon_changed" ]; then
    # Told first to let containers live, it leaves them alone when it goes then; not before it has come to read that.
    systemctl reload docker
    waited=0
    until lets_live || [ "$waited" -ge 60 ]; do sleep 1; waited=$((waited + 1)); done
    lets_live || fail NOT_READY 'Docker does not take up live-restore, so that its restart would end what runs: see journalctl -u docker; it was not restarted'
    restart docker
  fi
  if [ -n "$proxy_ran" ] && [ -n "$proxy_changed" ]; then restart caddy; fi
  if [ -n "$ssh_changed" ] && systemctl -q is-active ssh; then
    systemctl reload ssh && made 'service ssh: told its configuration'
  fi
  for unit in docker caddy; do
    if systemctl -q is-enabled "$unit" && systemctl -q is-active "$unit"; then stands "service $unit"; continue; fi
    systemctl enable --now "$unit" >"$scratch/apt" 2>&1 || { journalctl -q -n 8 -u "$unit" >"$scratch/apt" 2>&1; fail NOT_STARTED "$unit: see journalctl -u $unit" "$scratch/apt"; }
    made "service $unit: enabled and started"
  done
}
restart() {
  # Whoever restarted it a few times within a minute has used up what systemd allows, and this one would leave it down.
  systemctl reset-failed "$1" 2>/dev/null
  systemctl restart "$1" || { journalctl -q -n 8 -u "$1" >"$scratch/apt" 2>&1; fail NOT_STARTED "$1: see journalctl -u $1" "$scratch/apt"; }
  made "service $1: restarted, with its configuration"
}
lets_live() { [ "$(docker info --format '{{.LiveRestoreEnabled}}' 2>/dev/null)" = true ]; }
users_remapped() { docker info --format '{{.SecurityOptions}}' 2>/dev/null | grep -q name=userns; }

# The same questions as the platform's inspection, as the user that it logs in as.
look_as_login() {
  if [ -n "$dry" ]; then return; fi
  if ! has_systemd && ! docker info >/dev/null 2>&1; then return; fi
  as() { runuser -u "$login" -- "$@"; }
  waited=0
  until [ -S "$admin" ] || [ "$waited" -ge 10 ]; do sleep 1; waited=$((waited + 1)); done
  [ -n "$(as docker version --format '{{.Server.Version}}' 2>"$scratch/apt")" ] || fail NOT_READY "$login cannot use Docker" "$scratch/apt"
  users_remapped || fail NOT_READY 'Docker does not remap users, in spite of its configuration: see systemctl cat docker for options of its own'
  iptables -w 5 -t mangle -S >/dev/null 2>"$scratch/apt" || fail NOT_READY 'the packet filter gives no table mangle, in which apps are kept apart' "$scratch/apt"
  as curl -fsS --max-time 5 --unix-socket "$admin" -o /dev/null http://localhost:2019/config/ 2>"$scratch/apt" || fail NOT_READY "$login does not reach the admin endpoint of Caddy ($admin)" "$scratch/apt"
  as test -w "$sites" || fail NOT_READY "$login may not write $sites"
  # As crds/host/restart.ts says of it; nothing is refused for that.
  restarts=''
  if ! lets_live; then
    tell 'a restart of Docker stops all apps until it is back, in spite of its configuration: see systemctl cat docker for options of its own'
  elif ! PATH="$PATH:/usr/sbin:/sbin" command -v bridge >/dev/null; then
    tell 'a restart of Docker cuts WebSockets, event streams and uploads: install iproute2'
  else
    restarts=' and cuts nothing when it is restarted'
  fi
  printf '✓ looked as %s: Docker remaps users%s, Caddy answers, sites can be written\n' "$login" "$restarts"
}

say_registration() {
  if [ -n "$dry" ]; then
    if [ "$changes" -eq 0 ]; then echo 'Nothing would be done.'; else echo "$changes things would be done; nothing was changed."; fi
    return
  fi
  [ "$changes" -gt 0 ] || echo 'Nothing was to be done.'
  for file in /etc/ssh/ssh_host_ed25519_key.pub /etc/ssh/ssh_host_ecdsa_key.pub /etc/ssh/ssh_host_rsa_key.pub; do
    [ ! -r "$file" ] || { pinned=${pinned:-$(cut -d ' ' -f 1,2 "$file")}; tell "host key $(ssh-keygen -lf "$file" | cut -d ' ' -f 2,4)"; }
  done
  [ -n "${pinned:-}" ] || fail NO_HOST_KEY 'the machine has no host key: ssh-keygen -A, then run this again'
  if PATH="$PATH:/usr/sbin" command -v ufw >/dev/null && ufw status 2>/dev/null | grep -q '^Status: active'; then
    tell 'ufw is active and was left alone: visitors need ports 80 and 443 (ufw allow 80,443/tcp)'
  fi
  tell "$login may use Docker, which is as much as being root here: keep its private key as such"
  id=$(printf '%s' "$name" | cut -d . -f 1 | tr 'A-Z_' 'a-z-')
  [ "$class" != isolated ] || [ -n "$account" ] || tell 'class isolated without --account: it is nobody'\''s until it has one'
  of_admin="\"id\": \"$id\", \"class\": \"$class\", ${account:+\"account\": \"$account\", }"
  [ "$class" != owned ] || of_admin=''
  cat <<END

Register it over REST: POST /api/apps/hosts
{$of_admin"name": "$name", "address": "${address:-ADDRESS}", "port": $port, "user": "$login", "host_key": "$pinned",${base_domain:+ \"base_domain\": \"$base_domain\",} "takes_sites": true, "site_root": "$sites", "proxy": {"admin": "$admin"}, "private_key": "PRIVATE KEY OF THE KEY GIVEN"}

or by kubectl, and its private key with PATCH /api/apps/hosts/$id {"private_key": "…"}:
apiVersion: bottega.dev/v1alpha1
kind: Host
metadata: { name: $id }
spec:
  class: $class${account:+
  account: $account}
  address: ${address:-ADDRESS}
  port: $port
  user: $login
  hostKey: $pinned${base_domain:+
  baseDomain: $base_domain}
  takesSites: true
  siteRoot: $sites
  proxy: { admin: $admin }
END
}

# The whole text is read before anything begins: a line that was cut runs nothing.
main "$@" </dev/null
