/**
 * The way into a dev instance: the operator's own OpenSSH, with his agent and his keys. Whom it may lead to is known before: only
 * host keys whose fingerprints the console or the row has told are let through, never those that answer first.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_USER } from '../../../../crds/devinstance/bootstrap/places.ts'
import { type ProgramRun, runProgram, scanKeys } from '../../cli/ssh/programs.ts'

export type BoxShell = {
  /** Host keys that answer at an address, as `type base64`; none while nothing answers. */
  scan(publicIp: string): Promise<string[]>
  /** @param hostKeys the ones that may answer; @param input what the command reads */
  run(at: { publicIp: string; hostKeys: readonly string[] }, command: string, input: string): Promise<ProgramRun>
}

export type SshSettings = {
  /** Beside the agent's. */
  identityFile?: string
  port: number
}

const CONNECT_SECONDS = 10
const RUN_MS = 120_000
const OUT_BYTES_MAX = 256 * 1024

/** An address that was given back leads to somebody else some day, so nobody's known_hosts is read or written. */
export const makeOpenSsh = ({ identityFile, port }: SshSettings): BoxShell => ({
  scan: (publicIp) => scanKeys(publicIp, port),
  async run({ publicIp, hostKeys }, command, input) {
    const folder = mkdtempSync(join(tmpdir(), 'bottega-devbox-'))
    try {
      const known = join(folder, 'known_hosts')
      writeFileSync(known, hostKeys.map((key) => `box ${key}\n`).join(''))
      const options = [
        'BatchMode=yes',
        'StrictHostKeyChecking=yes',
        `UserKnownHostsFile=${known}`,
        'GlobalKnownHostsFile=/dev/null',
        'HostKeyAlias=box',
        `ConnectTimeout=${CONNECT_SECONDS}`,
      ].flatMap((option) => ['-o', option])
      const identity = identityFile === undefined ? [] : ['-i', identityFile]
      const args = [...options, ...identity, '-p', String(port), `${DEV_USER}@${publicIp}`, command]
      return await runProgram({ program: 'ssh', args, input }, { timeoutMs: RUN_MS, bytesMax: OUT_BYTES_MAX })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})
