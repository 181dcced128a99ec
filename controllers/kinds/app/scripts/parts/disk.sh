# `disk_of <slug>`: what the meter of apps says of one: MiB used, MiB of its budget, 'within' or 'stopped', and when it was. Nothing
# where it has not seen it.
disk_of() { docker exec bottega-meter /bin/cat "/run/apps/$1" 2>/dev/null; }
# `is_over_disk`: whether the meter has stopped the app since `began`; what it did before says nothing of this release. Sets used, budget.
is_over_disk() {
  read -r used budget word at <<DISK
$(disk_of "$metered")
DISK
  [ "$word" = stopped ] && [ "$at" -ge "$began" ]
}
say_disk() {
  disk=$(disk_of "$1")
  [ -z "$disk" ] || say disk "$1" "$disk"
}
# `tell_budget <slug> <MiB>`: what the app may have from now on, whatever its containers were labelled with when they were made.
tell_budget() { docker exec bottega-meter /bin/sh -c "mkdir -p /var/meter/.budgets && echo $2 > /var/meter/.budgets/$1"; }
