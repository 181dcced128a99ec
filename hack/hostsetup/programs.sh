# Of host-setup: packages, from where they are new enough.

apt() { apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" >"$scratch/apt" 2>&1 </dev/null; }
update() { [ -n "${updated:-}" ] || { apt update && updated=yes; }; }
install_packages() { apt install -y --no-install-recommends "$@"; }

# `repository <name> <suite> <component> <REPOSITORY KEY FINGERPRINT>`: lets apt trust one key, for that repository alone.
repository() {
  repository_name=$1 suite=$2 component=$3
  # shellcheck disable=SC2086
  set -- $4
  ring=/etc/apt/keyrings/bottega-$repository_name.asc
  install_packages gpg ca-certificates curl || fail CANNOT_INSTALL 'gpg, ca-certificates, curl: see what apt says' "$scratch/apt"
  curl -fsSL --max-time 60 -o "$scratch/key" "$2" 2>"$scratch/apt" || fail NO_REPOSITORY "$2 cannot be read: let this machine reach it, or name a mirror (--$repository_name-from)" "$scratch/apt"
  mkdir -m 700 "$scratch/gpg-$repository_name"
  seen=$(gpg --homedir "$scratch/gpg-$repository_name" --batch --show-keys --with-colons "$scratch/key" 2>/dev/null |
    awk -F : '$1 == "pub" { of = 1 } of && $1 == "fpr" { print $10; of = 0 }')
  [ "$seen" = "$3" ] || fail WRONG_KEY "$2 holds ${seen:-no key}, not $3: somebody is between, or the key was replaced; nothing of that repository was trusted"
  put "$ring" 644 <"$scratch/key"
  echo "deb [signed-by=$ring] $1 $suite $component" | put "/etc/apt/sources.list.d/bottega-$repository_name.list" 644
  updated=''
  update || fail NO_REPOSITORY "apt cannot read $1" "$scratch/apt"
}

# `program <what> <version> <oldest> <packages>`: installs, and sees to it that it is new enough.
program() {
  # shellcheck disable=SC2086
  install_packages $4 || fail CANNOT_INSTALL "$4: see what apt says, mend it (apt-get -f install), and run this again" "$scratch/apt"
  got=$($2)
  at_least "$got" "$3" || fail TOO_OLD "$1 is ${got:-still missing} after $4 was installed; $3 or later is needed: see apt-cache policy $4"
  made "$1 $got: installed ($4)"
}

put_programs() {
  absent=''
  for pair in sshd:openssh-server ssh-keygen:openssh-client iptables:iptables bridge:iproute2 curl:curl flock:util-linux awk:mawk find:findutils pgrep:procps; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%:*}" >/dev/null || absent="$absent ${pair#*:}"
  done
  [ -s /etc/ssl/certs/ca-certificates.crt ] || absent="$absent ca-certificates"
  engine_lacks='' compose_lacks='' caddy_lacks=''
  engine=$(docker_version) compose=$(compose_version) proxy=$(caddy_version)
  at_least "$engine" "$docker_oldest" || engine_lacks=yes
  at_least "$compose" "$compose_oldest" || compose_lacks=yes
  at_least "$proxy" "$caddy_oldest" && [ -e /usr/bin/caddy ] || caddy_lacks=yes
  # The distribution's own where it is new enough: renewed with everything else, and no further key is trusted (decision 081).
  ours=yes
  case "$ID $VERSION_ID" in 'debian 12') ours='' ;; esac
  [ -z "$docker_asked" ] || ours=''
  docker_from=$(echo "$docker_from" | sed "s/@ID/$ID/g")
  docker_packages=''
  if [ -n "$ours" ]; then
    [ -z "$engine_lacks" ] || docker_packages=docker.io
    [ -z "$engine_lacks" ] || [ "$ID" != debian ] || docker_packages="$docker_packages docker-cli"
    [ -z "$compose_lacks" ] || docker_packages="$docker_packages $compose_package"
  else
    [ -z "$engine_lacks" ] || docker_packages='docker-ce docker-ce-cli containerd.io'
    [ -z "$compose_lacks" ] || docker_packages="$docker_packages docker-compose-plugin"
  fi
  docker_packages=${docker_packages# }
  if [ -n "$dry" ]; then
    if [ -n "$absent" ]; then would "packages$absent: would be installed"; else stands 'programs of the system'; fi
    if [ -n "$docker_packages" ]; then would "$docker_packages: would be installed from ${ours:+the distribution}$([ -n "$ours" ] || echo "${docker_from%% *}")"
    else stands "Docker $engine, Compose $compose"; fi
    if [ -n "$caddy_lacks" ]; then would "caddy: would be installed from ${caddy_from%% *}"; else stands "Caddy $proxy"; fi
    return
  fi
  [ -z "$absent$docker_packages$caddy_lacks" ] || update || fail NO_PACKAGES 'apt-get update fails: see its words, mend /etc/apt, and run this again' "$scratch/apt"
  if [ -n "$absent" ]; then
    # shellcheck disable=SC2086
    install_packages $absent || fail CANNOT_INSTALL "$absent: see what apt says" "$scratch/apt"
    made "packages$absent: installed"
  else
    stands 'programs of the system'
  fi
  if [ -n "$docker_packages" ]; then
    [ -n "$ours" ] || repository docker "$VERSION_CODENAME" stable "$docker_from"
    program Docker docker_version "$docker_oldest" "$docker_packages"
    at_least "$(compose_version)" "$compose_oldest" || fail TOO_OLD "Compose is $(compose_version); $compose_oldest or later is needed"
  else
    stands "Docker $engine, Compose $compose"
  fi
  if [ -n "$caddy_lacks" ]; then
    repository caddy any-version main "$caddy_from"
    program Caddy caddy_version "$caddy_oldest" caddy
  else
    stands "Caddy $proxy"
  fi
}
