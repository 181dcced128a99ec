#!/bin/sh
# Prepares a Debian or Ubuntu machine as a host for apps and sites, and says what it did. Runs there as root; a second run changes nothing.
#   hack/host-setup root@MACHINE --key FILE.pub      or by hand:
#   hack/host-setup --print | ssh root@MACHINE "sh -s -- --key 'ssh-ed25519 AAAA…'"
# It looks at everything first: where something stands in the way it says all of it and changes nothing. Why it does what it does:
# hack/decisions/081. Lines: ✓ stands or was done, · is told or would be done, ✗ is in the way, with its code and what to do.
# Ends with 0 when the host is ready, 1 when a step failed, 2 when it was typed wrong, 3 when it refused.
set -u
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
umask 022

# As crds/host/inspect.ts asks (the test compares them).
docker_oldest=20.10.0 compose_oldest=2.20.0 caddy_oldest=2.11.5
free_gib_least=2
# A repository, its key, and the only fingerprint that the key may have.
docker_from='https://download.docker.com/linux/@ID https://download.docker.com/linux/@ID/gpg 9DC858229FC7DD38854AE2D88D81803C0EBFCD88'
caddy_from='https://dl.cloudsmith.io/public/caddy/stable/deb/debian https://dl.cloudsmith.io/public/caddy/stable/gpg.key 65760C51EDEA2017CEA2CA15155B6D79CA56EA34'

daemon=/etc/docker/daemon.json
admin=/run/caddy/admin.sock
sites=/srv/bottega/sites
usage='Usage: host-setup.sh [--key PUBLICKEY] [--login NAME] [--class shared|isolated|owned|platform] [--account NAME] [--name NAME] [--address ADDRESS] [--port N] [--base-domain NAME] [--docker-from "REPOSITORY KEY FINGERPRINT"] [--caddy-from "REPOSITORY KEY FINGERPRINT"] [--dry-run]'

stands() { printf '✓ %s: nothing to do\n' "$*"; }
tell() { printf '· %s\n' "$*"; }
made() { changes=$((changes + 1)); printf '✓ %s\n' "$*"; }
# `would <what>`: of a dry run, which does not go on to do it.
would() { [ -n "$dry" ] && { changes=$((changes + 1)); tell "$*"; }; }
refuse() { faults=$((faults + 1)); printf '✗ %s: %s\n' "$1" "$2"; }
fail() { printf '✗ %s: %s\n' "$1" "$2"; [ ! -s "${3:-}" ] || tail -n 8 "$3" | sed 's/^/    /'; exit 1; }

main() {
  arguments "$@"
  changes=0 faults=0
  scratch=$(mktemp -d) || exit 1
  trap 'rm -rf "$scratch"' EXIT
  look_at_machine
  look_at_docker
  look_at_proxy
  look_at_login
  if [ "$faults" -gt 0 ]; then echo 'Nothing was changed.'; exit 3; fi
  # Configurations come before the packages, so that nothing ever starts without its own.
  put_daemon_file
  put_proxy_files
  put_programs
  put_login
  put_ssh
  put_sites
  put_kernel
  say_kernel /proc/config.gz "/boot/config-$(uname -r)" "/lib/modules/$(uname -r)/config"
  start_services
  look_as_login
  say_registration
}

arguments() {
  dry='' login=bottega key='' class=shared account='' name=$(uname -n) address='' port='' base_domain='' docker_asked=''
  # As whoever called over SSH reached it.
  if [ -n "${SSH_CONNECTION:-}" ]; then address=$(echo "$SSH_CONNECTION" | cut -d ' ' -f 3) port=${SSH_CONNECTION##* }; fi
  while [ $# -gt 0 ]; do
    option=$1
    shift
    if [ "$option" = --dry-run ]; then dry=yes; continue; fi
    [ $# -gt 0 ] || wrong "$option needs a value"
    case "$option" in
      --key) key=$1 ;;
      --login) login=$1 ;;
      --class) class=$1 ;;
      --account) account=$1 ;;
      --name) name=$1 ;;
      --address) address=$1 ;;
      --port) port=$1 ;;
      --base-domain) base_domain=$1 ;;
      --docker-from) docker_from=$1 docker_asked=yes ;;
      --caddy-from) caddy_from=$1 ;;
      *) wrong "there is no option $option" ;;
    esac
    shift
  done
  is "$class" '(shared|isolated|owned|platform)' || wrong "--class is shared, isolated, owned or platform, not $class"
  is "$login" '[a-z_][a-z0-9_-]{0,31}' || wrong "--login: $login is no name of a user"
  is "$key" '((ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa) [A-Za-z0-9+/]+={0,2}( .*)?)?' ||
    wrong '--key takes the line of a public key, as ssh-keygen writes it into FILE.pub'
  is "${port:=22}" '[0-9]{1,5}' || wrong "--port: $port is no number"
  for value in "$account" "$name" "$address" "$base_domain"; do
    is "$value" '[A-Za-z0-9._:-]*' || wrong "$value is no name or address"
  done
  for from in "$docker_from" "$caddy_from"; do
    is "$from" '[^ ]+ [^ ]+ [0-9A-F]{40}' || wrong "'$from' is not 'REPOSITORY KEY FINGERPRINT'"
  done
  # Without what people write behind it.
  key=$(printf '%s\n' "$key" | cut -d ' ' -f 1,2)
}
wrong() { printf '✗ %s\n%s\n' "$1" "$usage" >&2; exit 2; }
# `is <text> <expression>`: all of it, and of one line.
is() { printf '%s\n' "$(printf '%s' "$1" | tr '\n' '\001')" | grep -Eqx -- "$2"; }
