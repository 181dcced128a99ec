/** A real sshd on loopback, with host keys of its own and one key that opens it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { freePort, isListening } from '../../../hack/lib/ports.ts'

export type RealSshd = {
  port: number
  user: string
  /** Opens it. */
  identityFile: string
  /** `type base64`. */
  hostKeys: string[]
  fingerprints: string[]
  end(): Promise<void>
}

const keyPair = (path: string, type: string): string => {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', '', '-f', path])
  return readFileSync(`${path}.pub`, 'utf8').trim().split(' ').slice(0, 2).join(' ')
}

const fingerprint = (path: string): string =>
  execFileSync('ssh-keygen', ['-lf', `${path}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? ''

const started = async (sshd: ChildProcess, port: number): Promise<void> => {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isListening(port)) return
    if (sshd.exitCode !== null) throw new Error(`sshd ended with ${sshd.exitCode}`)
    await sleep(50)
  }
  throw new Error(`sshd does not listen on ${port}`)
}

const PACKAGES = [
  { name: 'openssh-server', files: ['/usr/sbin/sshd'] },
  { name: 'openssh-client', files: ['/usr/bin/ssh-keygen'] },
]

export const startSshd = async (): Promise<RealSshd> => {
  ensurePackages(PACKAGES, { what: 'A login by SSH' })
  const folder = mkdtempSync(join(tmpdir(), 'bottega-sshd-'))
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  const port = await freePort()
  const paths = ['ed25519', 'ecdsa'].map((type) => join(folder, type))
  const hostKeys = paths.map((path, at) => keyPair(path, ['ed25519', 'ecdsa'][at] ?? ''))
  const identityFile = join(folder, 'identity')
  writeFileSync(join(folder, 'authorized'), `${keyPair(identityFile, 'ed25519')}\n`)
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...paths.map((path) => `HostKey ${path}`),
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    `PidFile ${join(folder, 'pid')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'StrictModes no',
    'UsePAM no',
  ]
  writeFileSync(join(folder, 'config'), `${settings.join('\n')}\n`)
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-f', join(folder, 'config')], { stdio: 'ignore' })
  await started(sshd, port)
  return {
    port,
    user: userInfo().username,
    identityFile,
    hostKeys,
    fingerprints: paths.map(fingerprint),
    async end() {
      const isOver = new Promise((resolve) => sshd.once('exit', resolve))
      sshd.kill('SIGTERM')
      await isOver
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
