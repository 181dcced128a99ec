/** The provisioner as it is started: words and surroundings in, an exit code out (hack/decisions/083). */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Log, makeLog } from '../../../controllers/base/log.ts'
import { VERSION } from '../../../controllers/base/version.ts'
import { isReport } from '../../../crds/devinstance/life/table.ts'
import type { CliSurroundings } from '../cli/context.ts'
import { openApi } from '../cli/context.ts'
import { EXIT, type ExitCode, exitCodeFor, GaveUp, RefusedByApi, UsageFault } from '../cli/net/outcome.ts'
import { refusalLines, tableLines } from '../cli/show/show.ts'
import { makeTerminal, oneLine, type Terminal } from '../cli/show/terminal.ts'
import { durationMs } from '../cli/show/words.ts'
import { makeOpenSsh } from './box/shell.ts'
import { CloudFault } from './cloud/driver.ts'
import { type DevboxTyped, devboxHelp, goalFor, readDevboxCommand, reservationOf } from './commands.ts'
import { inventoryReport } from './plan/orphans.ts'
import type { BoxStep } from './plan/world.ts'
import { type Converged, type Converging, converge } from './run/converge.ts'
import { runDaemon } from './run/daemon.ts'
import { listenFrom, openPort } from './run/port.ts'
import { idOf, makeRegistry } from './run/registry.ts'
import { newStanding, type RunStanding } from './run/standing.ts'
import { loggingTerminal, tellingSteps } from './run/telling.ts'
import { cloudFrom, logLevelFrom, sshSettingsFrom } from './settings.ts'

const TIMEOUT_DEFAULT = '30m'
const EVERY_DEFAULT = '15s'

const msOf = (text: string, flag: string): number => {
  const ms = durationMs(text)
  if (ms === null) throw new UsageFault(`--${flag} takes a time as 90s, 15m or 1h, not ${text}.`)
  return ms
}

/** What is done, in a word and what it is done to; never what is said in it. */
const stepWords = (step: BoxStep): string => {
  if (step.do === 'say') return `${isReport(step.word) ? 'tells of' : 'asks for'} ${step.word}`
  if (step.do === 'wait') return `waits: ${step.why}`
  const of = Object.entries(step).filter(([name]) => name !== 'do')
  return [step.do, ...of.map(([, value]) => String(value))].join(' ')
}

const tellingOn =
  (terminal: Terminal): Converging['tell'] =>
  (id, step) => {
    const line = `${id} ${oneLine(stepWords(step), 300)}`
    if (step.do === 'wait') terminal.passing(line)
    else if (step.do !== 'done' && step.do !== 'stuck') terminal.say(line)
  }

const partsFor = async (typed: DevboxTyped, surroundings: CliSurroundings, terminal: Terminal): Promise<Converging> => {
  const { flags, command } = typed
  const { env, signal } = surroundings
  const { driver, installation } = cloudFrom(env)
  const asked = { url: flags.url, token: flags.token, token_file: flags['token-file'], timeout: flags.timeout }
  const api = await openApi(surroundings, asked, terminal, { lasts: command === 'run' })
  return {
    driver,
    registry: makeRegistry(api),
    shell: makeOpenSsh(sshSettingsFrom(env)),
    installation,
    nowMs: () => Date.now(),
    sleep: (ms) => sleep(ms, undefined, { signal }),
    tell: tellingOn(terminal),
  }
}

const showInventory = async ({ driver, registry, installation }: Converging, terminal: Terminal): Promise<ExitCode> => {
  const inventory = await driver.inventory({ machineIds: [], allocationIds: [] })
  const report = inventoryReport(inventory, await registry.list(), installation)
  if (terminal.isJson) terminal.json(report)
  else {
    const columns = ['id', 'kind', 'box', 'label', 'state', 'monthlyUsd', 'verdict', 'command']
    for (const line of tableLines(report.lines, columns)) terminal.out(line)
    const [all, orphans] = [report.monthlyUsd.toFixed(2), report.orphanMonthlyUsd.toFixed(2)]
    terminal.out(`${all} USD a month, ${orphans} of it for what is nobody's`)
  }
  return EXIT.ok
}

const concluded = (terminal: Terminal, ended: Converged): ExitCode => {
  switch (ended.state) {
    case 'done':
      if (terminal.isJson) terminal.json({ devbox: ended.row })
      else if (ended.row)
        terminal.out(`${ended.row.id} ${ended.row.name} is ${ended.row.state} at ${ended.row.publicIp ?? 'no address'}`)
      else terminal.out('nothing is left of it')
      return EXIT.ok
    case 'waiting':
      terminal.fail(`It is not done yet: ${oneLine(ended.why, 300)}. The same command goes on with it.`)
      return EXIT.timedOut
    case 'stuck':
      throw new RefusedByApi({ status: 0, code: ended.code, detail: ended.detail, next: ended.next })
    default:
      return ended satisfies never
  }
}

/** By name or id. What has no row any more is known by its id alone. */
const subjectOf = async ({ registry }: Converging, typed: DevboxTyped): Promise<string> => {
  const [word = ''] = typed.words
  if (typed.flags.orphan === true) return word
  const asked = typed.command === 'up' ? reservationOf(typed) : null
  const isThere = asked === null || (await registry.list()).some(({ id, name }) => id === word || name === word)
  return isThere ? idOf(registry, word) : registry.reserve(asked)
}

/** Within a pod's grace period it has ended, whatever the cloud or a machine keeps it waiting for: what was begun is found again. */
const END_MS = 20_000

const openPortFrom = async (standing: RunStanding, parts: Converging, { env, version }: CliSurroundings) => {
  const address = env.BOTTEGA_METRICS_LISTEN
  return address ? openPort(standing, { listen: listenFrom(address), version, nowMs: parts.nowMs }) : null
}

const endInTime = (log: Log): void => {
  const forced = () => {
    log.warn({ next: 'the next run sees the same row and the same machines' }, 'what is under way does not end')
    process.exit(EXIT.ok)
  }
  setTimeout(forced, END_MS).unref()
}

/** A process like the others: it logs, and has nothing to show. */
const runUntilTold = async (typed: DevboxTyped, surroundings: CliSurroundings): Promise<ExitCode> => {
  const { env, signal, version } = surroundings
  const everyMs = msOf(typed.flags.every ?? EVERY_DEFAULT, 'every')
  const level = typed.flags.quiet === true ? 'warn' : logLevelFrom(env)
  const log = makeLog({ level, base: { process: 'provisioner' } })
  const parts = { ...(await partsFor(typed, surroundings, loggingTerminal(log))), tell: tellingSteps(log) }
  const standing = newStanding()
  const port = await openPortFrom(standing, parts, surroundings)
  const end = () => {
    log.info('provisioner ends')
    port?.leave()
    endInTime(log)
  }
  signal.addEventListener('abort', end, { once: true })
  log.info({ version, installation: parts.installation, everyMs }, 'provisioner runs')
  await runDaemon({ parts, log, everyMs, signal, standing })
  await port?.stop()
  return EXIT.ok
}

const runCommand = async (typed: DevboxTyped, surroundings: CliSurroundings, terminal: Terminal): Promise<ExitCode> => {
  const { command, flags } = typed
  if (command === 'run') return runUntilTold(typed, surroundings)
  const parts = await partsFor(typed, surroundings, terminal)
  if (command === 'inventory') return showInventory(parts, terminal)
  const id = await subjectOf(parts, typed)
  const present = (await parts.registry.read(id))?.sizeClass ?? 'S'
  const endMs = parts.nowMs() + msOf(flags.timeout ?? TIMEOUT_DEFAULT, 'timeout')
  const ask = { id, goal: goalFor(typed, present), endMs, takesOrphans: flags.orphan === true }
  return concluded(terminal, await converge(parts, ask))
}

const tell = (terminal: Terminal, error: unknown): ExitCode => {
  const detail = oneLine(error instanceof Error ? error.message : String(error), 2_000)
  const isUsage = error instanceof UsageFault
  const code = error instanceof CloudFault ? error.code : isUsage ? 'USAGE' : 'FAILED'
  const refusal = error instanceof RefusedByApi ? error.refusal : { status: 0, code, detail }
  if (terminal.isJson) terminal.json({ problem: refusal })
  else for (const line of refusalLines(terminal, refusal)) terminal.fail(line)
  if (isUsage) return EXIT.usage
  return error instanceof GaveUp ? error.exitCode : exitCodeFor(refusal.code, refusal.status)
}

const run = async (argv: readonly string[]): Promise<number> => {
  const { env, stdout, stderr } = process
  const terminal = makeTerminal(
    { stdout, stderr },
    {
      isJson: argv.includes('--json'),
      isQuiet: argv.includes('--quiet'),
      noColour: (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb',
      nowMs: () => performance.now(),
    },
  )
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  const readInput = async () => {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  }
  try {
    const typed = readDevboxCommand(argv)
    if (typed === null) {
      terminal.out(devboxHelp())
      return EXIT.ok
    }
    return await runCommand(
      typed,
      { env, cwd: process.cwd(), readInput, version: VERSION, signal: stop.signal },
      terminal,
    )
  } catch (error) {
    if (!stop.signal.aborted) return tell(terminal, error)
    terminal.fail('Interrupted; the same command goes on with it.')
    return EXIT.interrupted
  }
}

process.exitCode = await run(process.argv.slice(2))
