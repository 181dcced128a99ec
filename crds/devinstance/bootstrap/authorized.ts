/**
 * Who may log in to a dev instance. The service says it with each answer to a report, by its digest, and whole where the machine has
 * another one; the machine keeps it among the lines of authorized_keys that are its user's own.
 * Source: rules/devinstance.md#who-may-log-in; sshd(8) (authorized_keys).
 */
import { createHash } from 'node:crypto'
import { PUBLIC_KEY_TYPES } from '../../text/sshkeys.ts'

/** Of one instance: its owner's, and those of its teams. */
export const AUTHORIZED_KEYS_MAX = 200

/** `line` as it was read (crds/text/sshkeys.ts). */
export type AuthorizedKey = { account: string; name: string; line: string; fingerprint: string }

/** What a line of ours ends with: whose it is. */
const MARK = 'bottega:'

/** The lines that the machine has of us, each with the account as its comment; the same key twice is one. */
export const authorizedLines = (keys: readonly AuthorizedKey[]): string => {
  const byLine = new Map<string, string>()
  for (const { line, account } of keys) {
    if (!byLine.has(line)) byLine.set(line, `${line} ${MARK}${account.replace(/[^A-Za-z0-9._-]/g, '_')}\n`)
  }
  return [...byLine.values()].join('')
}

/** sha256 of the lines, in hex. */
export const linesDigest = (lines: string): string => createHash('sha256').update(lines).digest('hex')

/** What an answer says of them. `file`: the lines in base64, where the machine has others. */
export type AuthorizedAnswer = { sha256: string; file?: string }

/** @param held digest of what the machine says that it has */
export const authorizedAnswer = (keys: readonly AuthorizedKey[], held: string): AuthorizedAnswer => {
  const lines = authorizedLines(keys)
  const sha256 = linesDigest(lines)
  return held === sha256 ? { sha256 } : { sha256, file: Buffer.from(lines, 'utf8').toString('base64') }
}

const escaped = (type: string): string => type.replaceAll('.', '[.]')

/** Sets `$keys_held` to the digest of our lines as they lie there. */
export const HELD_KEYS = `
keys=$home/.ssh/authorized_keys
ours=' ${MARK}[A-Za-z0-9._-]*$'
keys_held=$(grep -e "$ours" "$keys" 2>/dev/null | sha256sum | cut -c 1-64)
`

/**
 * Takes our lines out of the answer to a report, in place of those of before; whatever else is in the file stays as it is. All of them are
 * looked at before one is written, and the file is another one at once.
 */
export const TAKE_KEYS = `
take_keys() {
  told=$(sed -n 's/.*"authorizedKeys":{"sha256":"\\([0-9a-f]\\{64\\}\\)","file":"\\([A-Za-z0-9+/=]*\\)"}.*/\\1 \\2/p' "$work/answer")
  if [ -z "$told" ]; then return 0; fi
  printf %s "\${told#* }" | base64 -d > "$work/keys"
  if [ "$(sha256sum < "$work/keys" | cut -c 1-64)" != "\${told%% *}" ] ||
    grep -qvE '^(${PUBLIC_KEY_TYPES.map(escaped).join('|')}) [A-Za-z0-9+/=]+ ${MARK}[A-Za-z0-9._-]+$' "$work/keys"; then
    echo 'what was answered is no list of keys, and is dropped' >&2
    return 0
  fi
  (
    umask 077
    mkdir -p "$home/.ssh"
    { grep -ve "$ours" "$keys" 2>/dev/null; cat "$work/keys"; } > "$keys.new"
    mv "$keys.new" "$keys"
  )
}
`
