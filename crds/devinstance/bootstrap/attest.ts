/**
 * What a dev instance says of itself for finalize, as JSON: the half of its facts that only the machine knows, and what sshd would do to
 * each sort of visitor. Where it would not do the same to all of them, each answer stands in the value, so that a block for one
 * user alone is seen. Source: rules/devinstance.md#assertions; sshd(8), -T with -C.
 */
import { ACCOUNTS_MAX, HOST_KEYS_MAX } from '../protocol.ts'
import { BAKED, DEV_USER } from './places.ts'
import { type InstalledAgent, versionsScript } from './shell.ts'
import { SSHD_SETTINGS } from './sshd.ts'
import { ENABLED } from './units.ts'

/** Who works here, who must not get in, and one that nobody knows. */
export const VISITORS = [DEV_USER, 'root', 'nobody-there'] as const

const KEYS = SSHD_SETTINGS.map(({ keyword }) => keyword.toLowerCase())

/** Of an assertion, in bytes: a report takes no longer one, and what was cut off is as little what it shall be. */
const VALUE_MAX = 250

/**
 * Prints `{facts, assertions}`, as root; the provisioner adds what the cloud says. Where sshd does not answer for every visitor it fails:
 * nothing is said of what nobody knows.
 */
export const attestScript = (agents: readonly InstalledAgent[]): string => `#!/bin/sh
# Says what only this machine knows.
set -eu
export LC_ALL=C
root=\${ROOT:-}
config=$root/etc/ssh/sshd_config
assertions=$(for user in ${VISITORS.join(' ')}; do
  sshd -T -f "$config" -C "user=$user,addr=203.0.113.7,host=h,laddr=127.0.0.1,lport=22"
  echo "end $user"
done | awk -v wanted='${KEYS.join(' ')}' '
  $1 == "end" {
    ends++
    for (key in said) if (index(" | " all[key] " | ", " | " said[key] " | ") == 0) all[key] = all[key] (all[key] == "" ? "" : " | ") said[key]
    split("", said)
    next
  }
  {
    value = substr($0, length($1) + 2)
    gsub(/["\\\\[:cntrl:]]/, "?", value)
    # a key that comes again is a list
    if ($1 in said) value = said[$1] " " value
    said[$1] = value
  }
  END {
    if (ends < ${VISITORS.length}) exit 1
    count = split(wanted, keys, " ")
    for (i = 1; i <= count; i++) printf "%s\\"%s\\":\\"%s\\"", (i > 1 ? "," : ""), keys[i], substr(all[keys[i]], 1, ${VALUE_MAX})
  }')
keys=$(for key in "$root"/etc/ssh/ssh_host_*_key.pub; do ssh-keygen -lf "$key"; done | awk 'NR <= ${HOST_KEYS_MAX} { printf "%s\\"%s\\"", (NR > 1 ? "," : ""), $2 }')
ports=$(ss -tlnH | awk '$4 !~ /^(127[.]|\\[::1\\])/ { sub(/.*:/, "", $4); print $4 }' | sort -nu | paste -sd, -)
units=$(for unit in ${ENABLED.join(' ')}; do
  if systemctl is-enabled --quiet "$unit"; then printf '"%s"\\n' "$unit"; fi
done | paste -sd, -)
# whom a password opens, or nothing at all is asked of
open=$(awk -F: '$2 !~ /^[!*]/ && count < ${ACCOUNTS_MAX} { gsub(/["\\\\]/, "?", $1); printf "%s\\"%s\\"", (count++ ? "," : ""), $1 }' "$root/etc/shadow")
baked=$(sed -n 's/^\\([0-9a-f]\\{64\\}\\)$/,"bakedSha256":"\\1"/p' "$root${BAKED}" 2>/dev/null || :)
status=0
cloud-init status > /dev/null 2>&1 || status=$?
${versionsScript(agents)}printf '{"facts":{"cloudInitStatus":%s,"hostKeys":[%s],"listeners":[%s],"units":[%s],"openAccounts":[%s],"agents":{%s}%s},"assertions":{%s}}\\n' \\
  "$status" "$keys" "$ports" "$units" "$open" "$versions" "$baked" "$assertions"
`
