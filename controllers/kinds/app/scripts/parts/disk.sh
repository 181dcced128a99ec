# `disk_of <slug>`: what the meter of apps says of one: MiB used, MiB of its budget, and 'within' or 'stopped'. Nothing where it
# has not seen it.
disk_of() { docker exec bottega-meter /bin/grep "^$1 " /run/apps 2>/dev/null | cut -d ' ' -f 2-; }
say_disk() {
  disk=$(disk_of "$1")
  [ -z "$disk" ] || say disk "$disk"
}
