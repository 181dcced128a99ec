# `disk_of <slug>`: what the meter of apps says of one: MiB used, MiB of its budget, 'within' or 'stopped', and when it was. Nothing
# where it has not seen it.
disk_of() { docker exec bottega-meter /bin/cat "/run/apps/$1" 2>/dev/null; }
# `is_over_disk`: whether the meter has stopped the app since `began`; what it did before says nothing of this release. Sets used, budget.
is_over_disk() {
  read -r used budget word at <<DISK
$(disk_of "$slug")
DISK
  [ "$word" = stopped ] && [ "$at" -ge "$began" ]
}
say_disk() {
  disk=$(disk_of "$1")
  [ -z "$disk" ] || say disk "$disk"
}
