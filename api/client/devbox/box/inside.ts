/** What is asked of a machine over SSH, and what is handed to it. It is spoken to through the programs of its bootstrap. */
import { PREFIX } from '../../../../crds/devinstance/bootstrap/places.ts'
import { fingerprintOf, type ProgramRun } from '../../cli/ssh/programs.ts'
import { CloudFault } from '../cloud/driver.ts'
import type { InsideLook, MachineFacts } from '../plan/world.ts'
import type { BoxShell } from './shell.ts'

/** Where the bootstrap's programs keep the report token. */
const TOKEN_FILE = '/etc/bottega/token'

/** Attests once cloud-init has ended, however it has ended: how is one of the facts. */
const LOOK = `set -eu
status=$(cloud-init status 2>/dev/null | sed -n 's/^status: *//p')
printf 'df %s\\n' "$(df -BM --output=size / | tail -n 1 | tr -d ' ')"
# the reporter fails where its token is not good any more; one that is at work is waited for
case $(systemctl is-active bottega-report.service || :) in
  activating*) sudo -n systemctl start bottega-report.service || : ;;
esac
if sudo -n test -s ${TOKEN_FILE} && ! systemctl is-failed --quiet bottega-report.service; then echo 'token'; fi
case $status in
  '' | *running* | 'not '*) ;;
  *) printf 'attested %s\\n' "$(sudo -n ${PREFIX}/bin/attest)" ;;
esac
`

/** Grows the last partition of the root disk and what is on it; where both fill it already, or it is on no disk, it changes nothing. */
const GROW = `set -eu
source=$(findmnt -no SOURCE /)
case $source in /dev/*) ;; *) exit 0 ;; esac
disk=/dev/$(lsblk -no PKNAME "$source" | head -n 1)
sudo -n growpart "$disk" "$(lsblk -no PARTN "$source" | tr -d ' ')" || [ $? -eq 1 ]
case $(findmnt -no FSTYPE /) in
  xfs) sudo -n xfs_growfs / ;;
  *) sudo -n resize2fs "$source" ;;
esac
`

const KEYS_BEGIN = '-----BEGIN SSH HOST KEY KEYS-----'
const KEYS_END = '-----END SSH HOST KEY KEYS-----'

/** Public keys between the marks that cloud-init writes on the console; before them on the line may stand when it was. */
export const consoleKeys = (text: string): string[] => {
  const from = text.indexOf(KEYS_BEGIN)
  const to = text.indexOf(KEYS_END, from)
  if (from < 0 || to < 0) return []
  return text
    .slice(from + KEYS_BEGIN.length, to)
    .split('\n')
    .flatMap((line) => {
      const words = line.trim().split(' ')
      const at = words.findIndex((word) => /^(?:ssh|ecdsa|sk)-/.test(word))
      const key = words[at + 1]
      return at < 0 || key === undefined ? [] : [`${words[at]} ${key}`]
    })
}

const lookFrom = (out: string): InsideLook => {
  const lines = out.split('\n')
  const found = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1)
  const df = found('df')
  if (df === undefined) throw new Error('the machine did not say how large its disk is')
  const attested = found('attested')
  return {
    df,
    hasToken: lines.includes('token'),
    attested: attested === undefined ? null : (JSON.parse(attested) as MachineFacts),
  }
}

export type InsideTarget = { publicIp: string; trusted: readonly string[] }

/** OpenSSH's own code for a connection that came to nothing. */
const SSH_FAILED = 255

const ran = ({ code, out, err }: ProgramRun, what: string): string => {
  if (code === 0) return out
  const why = err.trim().split('\n').at(-1) ?? ''
  if (code === SSH_FAILED || code === null) throw new CloudFault('busy', 'UNREACHABLE', `${what}: ${why}`)
  throw new CloudFault('refused', 'MACHINE_REFUSED', `${what} ended with ${code}: ${why}`)
}

/** @throws CloudFault busy while nothing answers, refused when somebody else does */
const speak = async (shell: BoxShell, { publicIp, trusted }: InsideTarget, command: string, input: string) => {
  const answering = await shell.scan(publicIp)
  if (answering.length === 0) throw new CloudFault('busy', 'UNREACHABLE', `nothing answers at ${publicIp} yet`)
  const hostKeys = answering.filter((key) => trusted.includes(fingerprintOf(key)))
  if (hostKeys.length === 0) {
    const detail = `what answers at ${publicIp} has none of the host keys ${trusted.join(', ')}`
    throw new CloudFault('refused', 'HOST_KEY_MISMATCH', detail)
  }
  return ran(await shell.run({ publicIp, hostKeys }, command, input), `the machine at ${publicIp}`)
}

export const lookInside = async (shell: BoxShell, at: InsideTarget): Promise<InsideLook> =>
  lookFrom(await speak(shell, at, 'sh -s', LOOK))

/** @param serviceUrl where the machine is to report to */
export const handToken = async (
  shell: BoxShell,
  at: InsideTarget,
  token: string,
  serviceUrl: string,
): Promise<void> => {
  await speak(shell, at, `sudo -n ${PREFIX}/bin/token '${serviceUrl}'`, `${token}\n`)
}

export const growFileSystem = async (shell: BoxShell, at: InsideTarget): Promise<void> => {
  await speak(shell, at, 'sh -s', GROW)
}
