# Reads the sites' folder (or an empty line) and says what it finds, one `name=value` on a line. Changes nothing.
IFS= read -r site_root
say() { printf '%s=%s\n' "$1" "$2"; }
first() { head -n 1 2>/dev/null; }
say arch "$(uname -m)"
say kernel "$(uname -r)"
say docker "$(docker version --format '{{.Server.Version}}' 2>/dev/null | first)"
say compose "$(docker compose version --short 2>/dev/null | first)"
say processors "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
say memory "$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)"
for caddy in caddy /usr/bin/caddy /usr/local/bin/caddy; do
  if found=$("$caddy" version 2>/dev/null); then say caddy "${found%% *}"; break; fi
done
for program in flock setsid timeout tar mktemp sync seq; do command -v "$program" >/dev/null || say missing "$program"; done
root=$(docker info --format '{{.DockerRootDir}}' 2>/dev/null)
df -Pk "${root:-.}" 2>/dev/null || df -Pk .
read -r lives options <<INFO
$(docker info --format '{{.LiveRestoreEnabled}} {{.SecurityOptions}}' 2>/dev/null)
INFO
say lives "$lives"
case "$options" in *name=userns*) say users remapped;; *) say users plain;; esac
case "$options" in *name=rootless*) ;; *) ! PATH="$PATH:/usr/sbin:/sbin" command -v bridge >/dev/null || say links ok;; esac
if PATH="$PATH:/usr/sbin:/sbin" command -v iptables >/dev/null; then say guard "$(guard_state)"; else say guard unable; fi
say guarddigest "$(docker inspect --format '{{index .Config.Labels "dev.bottega.guard"}}' bottega-guard 2>/dev/null)"
if [ -n "$site_root" ]; then
  mkdir -p "$site_root" 2>/dev/null
  [ -d "$site_root" ] && [ -w "$site_root" ] && say sites ok
fi
exit 0
