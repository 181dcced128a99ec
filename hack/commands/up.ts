import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { tryLock } from '../lib/lock.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { makeStateFolders, ownerName, paths, readEnvironment, root, type UpEnvironment } from '../lib/state.ts'
import { ensureTools } from '../lib/tools.ts'
import { type ClusterChoice, demandDocker, toolsFor } from '../platform/cluster.ts'
import { whenJudged } from '../platform/disagreements.ts'
import { type ExtraPart, extraParts, partTools } from '../platform/parts.ts'
import { sendWelcomeInvoice } from '../platform/platform.ts'
import { type Greeting, supervise, type UpOptions } from '../platform/supervisor.ts'

const usage =
  'Usage: hack/up [--detach] [--with cards,hosts,acme,dns,llm,boxes|all] [--kubeconfig F [--context C] | --kind] [--strict-egress]'
const startLimitMs = 20 * 60_000
const pollMs = 100
const interrupted = 130

async function main(): Promise<number> {
  const { detach, supervised, options } = readArguments()
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort())
  makeStateFolders()
  if (!supervised && !(await claimStart())) return await greetRunning(abort.signal)
  if (options.cluster.kind === 'kind') demandDocker()
  const progress = createProgress()
  if (detach) {
    await ensureTools([...toolsFor(options.cluster), ...partTools(options.parts)], { progress }) // here, where there may be a terminal to draw a bar on
    return await startDetached(abort.signal)
  }
  let ready = false
  const onReady = (env: UpEnvironment, greeting: Greeting) => {
    ready = true
    if (!supervised) console.log(`${summary(env, greeting)}\nCtrl-C stops everything.`)
  }
  await supervise(options, { progress, signal: abort.signal, onReady })
  return ready ? 0 : interrupted
}

function readArguments(): { detach: boolean; supervised: boolean; options: UpOptions } {
  try {
    const { values } = parseArgs({
      options: {
        detach: { type: 'boolean', default: false },
        supervised: { type: 'boolean', default: false }, // how --detach starts itself again in the background
        kubeconfig: { type: 'string' },
        context: { type: 'string' },
        kind: { type: 'boolean', default: false },
        with: { type: 'string', default: '' },
        'strict-egress': { type: 'boolean', default: false },
      },
    })
    if (values.kind && values.kubeconfig !== undefined) throw new Error('--kind and --kubeconfig exclude each other.')
    if (values.context !== undefined && values.kubeconfig === undefined)
      throw new Error('--context needs --kubeconfig.')
    const cluster = chooseCluster(values)
    return {
      detach: values.detach && !values.supervised,
      supervised: values.supervised,
      options: { cluster, strictEgress: values['strict-egress'], parts: choosePart(values.with) },
    }
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

function choosePart(given: string): readonly ExtraPart[] {
  if (given === 'all') return extraParts
  return given
    .split(',')
    .filter((name) => name !== '')
    .map((name) => {
      const part = extraParts.find((known) => known === name)
      if (part === undefined) throw new Error(`There is no part ${name}; known are ${extraParts.join(', ')}.`)
      return part
    })
}

function chooseCluster({
  kind,
  kubeconfig,
  context,
}: {
  kind: boolean
  kubeconfig?: string
  context?: string
}): ClusterChoice {
  if (kind) return { kind: 'kind' }
  return kubeconfig === undefined ? { kind: 'own' } : { kind: 'given', kubeconfig, context }
}

const startLock = () => `${ownerName()} start`

/** Of two calls at the same moment one starts the platform, and the other waits for it. Kept until this command ends. */
async function claimStart(): Promise<boolean> {
  return (await tryLock(startLock())) !== null && !(await isHeld(ownerName()))
}

/** Somebody is starting the platform of this checkout, or supervises it: that one holds its lock to the last moment. */
async function isRunning(): Promise<boolean> {
  return (await isHeld(startLock())) || (await isHeld(ownerName()))
}

async function isHeld(key: string): Promise<boolean> {
  const lock = await tryLock(key)
  await lock?.release()
  return lock === null
}

/** A second call finds the running one, waits for it while it is still starting, and says the same. */
async function greetRunning(signal: AbortSignal): Promise<number> {
  const deadlineMs = performance.now() + startLimitMs
  let environment = readEnvironment()
  if (environment === null) console.error('· another hack/up of this checkout is starting; waiting for it')
  while (environment === null) {
    await sleep(pollMs)
    if (signal.aborted) return interrupted
    if (!(await isRunning()))
      throw new CommandRefusal('The other hack/up ended before it was ready; run hack/up again.')
    if (performance.now() > deadlineMs)
      throw new CommandRefusal('The other hack/up does not become ready; hack/down stops it.')
    environment = readEnvironment()
  }
  console.log(`${summary(environment, await greetingOf(environment))}\nIt was running already. hack/down stops it.`)
  return 0
}

/** Starts this command again in a session of its own, shows what it says, and returns when it is ready or has failed. */
async function startDetached(signal: AbortSignal): Promise<number> {
  const logFile = join(paths.logs, 'supervisor.log')
  const log = openSync(logFile, 'w', 0o600)
  const args = process.argv.slice(2).filter((argument) => argument !== '--detach')
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(root, 'hack', 'commands', 'up.ts'), '--supervised', ...args],
    {
      cwd: root,
      detached: true,
      stdio: ['ignore', log, log],
    },
  )
  closeSync(log)
  child.unref()
  let code: number | null = null
  child.once('exit', (ended) => {
    code = ended ?? 1
  })
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const show = follow(logFile)
  let environment: UpEnvironment | null = null
  while (code === null && environment === null) {
    await sleep(pollMs)
    show()
    environment = readEnvironment()
    if (environment?.supervisorPid !== child.pid) environment = null
  }
  show()
  if (environment === null) return signal.aborted ? interrupted : (code ?? 1)
  console.log(`${summary(environment, await greetingOf(environment))}\nIt runs in the background. hack/down stops it.`)
  return 0
}

/** Prints what was added to a file since the last call. */
function follow(file: string): () => void {
  let shown = 0
  return () => {
    const { size } = statSync(file)
    if (size <= shown) return
    process.stderr.write(readFileSync(file).subarray(shown, size))
    shown = size
  }
}

/** The first invoice, which is the same at every start; where truths disagree nothing is sent. */
async function greetingOf({ metricsUrls, baseUrl, tokens }: UpEnvironment): Promise<Greeting> {
  const disagreements = await whenJudged(metricsUrls)
  return disagreements.length > 0 ? { disagreements } : await sendWelcomeInvoice(baseUrl, tokens.owner)
}

function greetingText(greeting: Greeting): string {
  if ('disagreements' in greeting) {
    const all = greeting.disagreements.map((one) => `  ${one}\n`).join('')
    return `What was kept does not fit together; reads are served, see README "When truths disagree":\n\n${all}\n  what would be done about it: hack/reconcile --plan\n`
  }
  const { number, url, password } = greeting
  return `  first invoice  ${number}\n  link           ${url}\n  password       ${password ?? '(none: the client has an account)'}\n`
}

/** How one is had; nothing is reserved before somebody asks for it (README, "Get a dev box"). */
const boxText = (identityFile: string): string => `
  a dev box      export BOTTEGA_URL=… BOTTEGA_TOKEN=… of ${paths.env} (tokens.owner), then with api/client/bottega.mjs:
                 node bottega.mjs devbox reserve october --size-class XS --arch ${process.arch === 'arm64' ? 'arm64' : 'x86_64'} --agents gemini-cli
                 node bottega.mjs devbox show october       # until it is running: a minute
                 node bottega.mjs devbox ssh october --identity ${identityFile}`

function summary(environment: UpEnvironment, greeting: Greeting): string {
  const { baseUrl, kubeconfig, mailDir, metricsUrls, hosts, boxes, dns, cards, llm } = environment
  const host = hosts
    ? `\n  host           local, names under ${hosts.baseDomain} on port ${hosts.httpsPort}, CA ${hosts.caCert}`
    : ''
  const names = dns ? `\n  DNS            ${dns.server}, records are set at ${dns.controlUrl}` : ''
  const card = cards ? `\n  cards          ${cards.apiBase}, a stand-in of the card processor` : ''
  const model = llm ? `\n  llm            ${llm.url}, a stand-in of a language model` : ''
  const box = boxes ? boxText(boxes.identityFile) : ''
  return `
Bottega runs at ${baseUrl}

${greetingText(greeting)}
  tokens         ${paths.env}
  kubectl        export KUBECONFIG=${kubeconfig} PATH="$(dirname "$(hack/tools path kubectl)"):$PATH"; kubectl get bottega
  mails          ${mailDir}
  metrics        ${metricsUrls.join(' ')}
  logs           ${paths.logs}${host}${names}${card}${model}${box}
`
}

await runCommand(main)
process.exit()
