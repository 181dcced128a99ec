/** The real cloud-init and the real sshd, asked about files that were written for them. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePackages } from '../../../hack/lib/apt.ts'

const CLOUD_INIT = '/usr/bin/cloud-init'
const SSHD = '/usr/sbin/sshd'
const SCHEMA = '/usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json'

const ensureProgram = (name: string, path: string): string => {
  ensurePackages([{ name, files: [path] }], { what: 'A test of the bootstrap' })
  return path
}

/** The verdict of `cloud-init schema` on a file of user data, with its words; errors name their lines. */
export const checkUserData = async (file: string): Promise<{ ok: boolean; output: string }> => {
  const cloudInit = ensureProgram('cloud-init', CLOUD_INIT)
  const ask = async (...more: string[]) => {
    const asked = await promisify(execFile)(cloudInit, ['schema', '-c', file, ...more]).catch((error) => error)
    return { ok: !(asked instanceof Error), output: `${asked.stdout}${asked.stderr}` }
  }
  const { ok, output } = await ask()
  // with --annotate Debian's 22.4 exits 0 whatever it finds, so the verdict is of the plain call
  return { ok, output: ok ? output : (await ask('--annotate')).output }
}

type JsonSchema = { $ref?: string; allOf?: JsonSchema[]; properties?: Record<string, unknown> }

/** Every top-level key that cloud-init's own schema knows: the program itself lets misspelt ones pass. */
export const knownUserDataKeys = (): Set<string> => {
  ensureProgram('cloud-init', CLOUD_INIT)
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as JsonSchema & { $defs: Record<string, JsonSchema> }
  const keysOf = (part: JsonSchema): string[] => {
    const target = part.$ref === undefined ? part : (schema.$defs[part.$ref.replace('#/$defs/', '')] ?? {})
    return [...Object.keys(target.properties ?? {}), ...(target.allOf ?? []).flatMap(keysOf)]
  }
  return new Set(keysOf(schema))
}

/** Makes a host key in `folder`, so that sshd can be asked; gives its path. */
export const makeHostKey = (folder: string): string => {
  ensureProgram('openssh-server', SSHD) // whose package depends on the client's, where ssh-keygen is
  const path = join(folder, 'host_key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  return path
}

/** What sshd says of a configuration: `test` is `sshd -t`, `settings` is `sshd -T` for one visitor, lists joined by a space. */
export const askSshd = (config: string, user: string): { test: string; settings: Record<string, string> } => {
  const sshd = ensureProgram('openssh-server', SSHD)
  if (process.getuid?.() === 0) spawnSync('mkdir', ['-p', '/run/sshd'])
  const test = spawnSync(sshd, ['-t', '-f', config], { encoding: 'utf8' })
  const visitor = `user=${user},addr=203.0.113.7,host=h,laddr=127.0.0.1,lport=22`
  const said = spawnSync(sshd, ['-T', '-f', config, '-C', visitor], { encoding: 'utf8' })
  if (said.status !== 0) throw new Error(`sshd -T ended with ${said.status}: ${said.stderr}`)
  const settings: Record<string, string> = {}
  for (const line of said.stdout.trim().split('\n')) {
    const [key = '', ...words] = line.split(' ')
    const value = words.join(' ')
    settings[key] = key in settings ? `${settings[key]} ${value}` : value
  }
  return { test: test.status === 0 ? '' : `${test.status}: ${test.stderr}`, settings }
}
