/** Ways into a dev instance, all by OpenSSH and to host keys that the registry has attested (ssh/). */
import { PREFIX } from '../../../../crds/devinstance/bootstrap/places.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { oneLine } from '../show/terminal.ts'
import { addressOf, attestedKeys, knownHostsLines, withOpenSsh } from '../ssh/attested.ts'
import { believedBox } from '../ssh/believed.ts'
import { configBlock, loginChoice, portOf, type SshTarget, sshArguments } from '../ssh/options.ts'
import { type ProgramRun, runInPlace, runProgram } from '../ssh/programs.ts'
import { readBox } from './devbox.ts'
import { refuseWords } from './looks.ts'

/** OpenSSH's own code for a login that came to nothing. */
const SSH_FAILED = 255
const OUT_BYTES_MAX = 4 * 1024 * 1024
const FORWARDS_MAX = 50

/** Whom a login goes to. @throws RefusedByApi as `attestedKeys`, and UNSAFE_ANSWER */
const loginTo = async (context: CommandContext): Promise<SshTarget> => {
  const login = loginChoice(context.flags)
  const box = believedBox(await readBox(context))
  if (box.state === 'stopped') context.terminal.say(`${box.id} is stopped, as far as the registry knows.`)
  // that one is not ready comes before that it has no address
  const { path: knownHosts } = await attestedKeys(context.surroundings, box, login.port)
  return { box, publicIp: addressOf(box), knownHosts, login }
}

/** ssh may be told to send variables along, and its helpers see all of them: the token is none of theirs. */
const withoutToken = ({ surroundings }: CommandContext): Record<string, string | undefined> => {
  const { BOTTEGA_TOKEN: _token, ...env } = surroundings.env
  return env
}

const sshFailed = ({ box, publicIp, login }: SshTarget, said: string): RefusedByApi =>
  new RefusedByApi({
    status: 0,
    code: 'SSH_FAILED',
    detail: `ssh did not get to ${login.user}@${publicIp}${said === '' ? '; it says above why' : `: ${said}`}.`,
    next: `Is your key one of its authorised ones (--identity FILE), and is it up? bottega devbox show ${box.id}`,
  })

const lastLine = (text: string): string => oneLine(text.trim().split('\n').at(-1) ?? '', 300)

/** At the terminal of the caller. @throws RefusedByApi SSH_FAILED */
const inPlace = async (context: CommandContext, to: SshTarget, args: readonly string[]): Promise<number> => {
  const { signal } = context.surroundings
  const code = await withOpenSsh(runInPlace({ program: 'ssh', args, env: withoutToken(context), signal }))
  if (signal.aborted) return EXIT.interrupted
  if (code === SSH_FAILED) throw sshFailed(to, '')
  return code ?? EXIT.failed
}

/** @param input what the command reads; null: what the client reads @throws RefusedByApi SSH_FAILED */
const captured = async (
  context: CommandContext,
  to: SshTarget,
  { command, input }: { command: readonly string[]; input: string | null },
): Promise<ProgramRun> => {
  const { signal } = context.surroundings
  const call = { program: 'ssh', args: sshArguments(to, command), input, env: withoutToken(context), signal }
  return withOpenSsh(runProgram(call, { bytesMax: OUT_BYTES_MAX }))
}

/** Ends as the command does. For scripts it is one document of what the command said. */
export const runBoxSsh = async (context: CommandContext): Promise<number> => {
  const { terminal, words } = context
  if (terminal.isJson && words.length === 0) {
    throw new UsageFault('With --json there has to be a command: bottega devbox ssh NAME --json -- uptime')
  }
  const to = await loginTo(context)
  if (!terminal.isJson) return inPlace(context, to, sshArguments(to, words))
  const { code, out, err } = await captured(context, to, { command: words, input: null })
  if (code === SSH_FAILED) throw sshFailed(to, lastLine(err))
  const isCut = Math.max(Buffer.byteLength(out), Buffer.byteLength(err)) >= OUT_BYTES_MAX
  terminal.json({ exitCode: code, stdout: out, stderr: err, ...(isCut && { truncated: true }) })
  return code ?? EXIT.failed
}

export const runBoxConfig = async (context: CommandContext): Promise<number> => {
  refuseWords(context)
  const { terminal } = context
  const to = await loginTo(context)
  const block = configBlock(to)
  if (terminal.isJson) terminal.json({ host: to.box.host, config: block, knownHosts: to.knownHosts })
  else {
    terminal.out(block)
    terminal.say(
      'It belongs before any Host *: ssh takes the first value that it reads. A start may bring another address.',
    )
  }
  return EXIT.ok
}

export const runBoxKnownHosts = async (context: CommandContext): Promise<number> => {
  refuseWords(context)
  const { terminal } = context
  const box = believedBox(await readBox(context))
  const { path: knownHosts, keys } = await attestedKeys(context.surroundings, box, loginChoice(context.flags).port)
  const lines = knownHostsLines(box, keys)
  if (terminal.isJson) terminal.json({ hostKeyAlias: box.id, lines, knownHosts })
  else for (const line of lines) terminal.out(line)
  return EXIT.ok
}

type Forward = { local: number; remote: number }

/** `3000`, or `8080:80` for one that is another here. */
const forwardOf = (word: string): Forward => {
  const [local = '', remote = local, ...more] = word.split(':')
  if (more.length > 0) throw new UsageFault(`${JSON.stringify(word.slice(0, 60))} is no port, and no HERE:THERE.`)
  return { local: portOf(local, 'ports'), remote: portOf(remote, 'ports') }
}

/** From loopback to loopback: nobody else on either network gets in by it. */
const forwardArgument = ({ local, remote }: Forward): string => `127.0.0.1:${local}:127.0.0.1:${remote}`

export const runBoxPorts = async (context: CommandContext): Promise<number> => {
  const { terminal, words, flags } = context
  if (words.length === 0) throw new UsageFault('Which ports? Say bottega devbox ports NAME 3000 8080:80')
  if (words.length > FORWARDS_MAX) throw new UsageFault(`ports takes ${FORWARDS_MAX} at most.`)
  const forwards = words.map(forwardOf)
  const options = forwards.map((one) => `-L ${forwardArgument(one)}`)
  const shown = forwards.map((one) => ({ ...one, url: `http://127.0.0.1:${one.local}` }))
  if (flags.run !== true) {
    const { host } = believedBox(await readBox(context))
    if (terminal.isJson) terminal.json({ host, forwards: shown, options })
    else for (const option of options) terminal.out(option)
    return EXIT.ok
  }
  const to = await loginTo(context)
  if (terminal.isJson) terminal.json({ host: to.box.host, forwards: shown, options }, { line: true })
  else for (const { remote, url } of shown) terminal.say(`${url} is port ${remote} of ${to.box.name}`)
  const more = ['-N', '-o', 'ExitOnForwardFailure=yes', ...forwards.flatMap((one) => ['-L', forwardArgument(one)])]
  return inPlace(context, to, sshArguments(to, [], more))
}

/** The connection may end before ssh could tell how the command did, so it says so itself. */
const TURN_OFF = ['sudo', '-n', 'systemctl', '--no-block', 'poweroff', '&&', 'echo', 'stopping']

/** Needs no call: a machine that is turned off says that it stops, and the provisioner confirms it. */
export const runBoxStop = async (context: CommandContext): Promise<number> => {
  refuseWords(context)
  const { terminal } = context
  const to = await loginTo(context)
  const { code, out, err } = await captured(context, to, { command: TURN_OFF, input: '' })
  const isStopping = out.split('\n').includes('stopping')
  if (!isStopping && code === SSH_FAILED) throw sshFailed(to, lastLine(err))
  if (!isStopping) {
    const detail = `The machine did not turn itself off (${code}): ${lastLine(err)}`
    throw new RefusedByApi({ status: 0, code: 'NOT_STOPPED', detail, next: `Log in: bottega devbox ssh ${to.box.id}` })
  }
  if (terminal.isJson) terminal.json({ id: to.box.id, stopping: true })
  else
    terminal.say(`It turns itself off; its disk and its address go on to cost. Look: bottega devbox show ${to.box.id}`)
  return EXIT.ok
}

/** From the registry to the machine, on no disk and in no argument. */
export const runBoxEnvSend = async (context: CommandContext): Promise<number> => {
  refuseWords(context)
  const { api, terminal } = context
  const to = await loginTo(context)
  const { body } = await api.call({ method: 'POST', path: `/api/devboxes/${to.box.id}/env/reveal` })
  const env: Record<string, string> = body?.env ?? {}
  const input = JSON.stringify({ env })
  const { code, err } = await captured(context, to, { command: [`${PREFIX}/bin/env`], input })
  if (code === SSH_FAILED) throw sshFailed(to, lastLine(err))
  if (code !== 0) {
    const detail = `The machine did not take it (${code}): ${lastLine(err)}`
    throw new RefusedByApi({ status: 0, code: 'NOT_TAKEN', detail, next: `Log in: bottega devbox ssh ${to.box.id}` })
  }
  const names = Object.keys(env)
  if (terminal.isJson) terminal.json({ id: to.box.id, keys: names })
  else terminal.say(`${names.length} names are there, in memory until it stops; new logins have them.`)
  return EXIT.ok
}
