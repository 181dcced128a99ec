import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { demandDisk, readJson, writeWhole } from '../lib/files.ts'
import { tryLock } from '../lib/lock.ts'
import {
  describe,
  type Ending,
  endProcesses,
  findOwned,
  refuseLaunches,
  type Service,
  startOf,
} from '../lib/processes.ts'
import { failing, type Progress } from '../lib/progress.ts'
import { CommandRefusal, messageOf } from '../lib/refusal.ts'
import {
  type CardsEnvironment,
  type LlmEnvironment,
  makeStateFolders,
  ownerName,
  type Ports,
  paths,
  readSecretKey,
  readSecrets,
  rotateLogs,
  stateDir,
  type UpEnvironment,
  writeSecrets,
} from '../lib/state.ts'
import { ensureTools } from '../lib/tools.ts'
import type { BoxStage } from '../stage/boxes/boxes.ts'
import { openUpBoxes, removeUpBoxes } from '../stage/boxes/upboxes.ts'
import { makeDns, type SettableDns } from '../stage/dns.ts'
import { type Cluster, type ClusterChoice, openCluster, toolsFor } from './cluster.ts'
import { removeSockets } from './controlplane.ts'
import { migrateDatabase, type OpenDatabase, openDatabase } from './database.ts'
import { whenJudged } from './disagreements.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import {
  type Addresses,
  cardsOf,
  chooseAddresses,
  type ExtraPart,
  endingOrder,
  extraServices,
  llmOf,
  nodeServices,
  partTools,
  wantsHosts,
} from './parts.ts'
import {
  accountsKnown,
  applyPlatform,
  createDemoAccounts,
  mintDemoTokens,
  namespace,
  rootsKeptBy,
  sendWelcomeInvoice,
  type Tokens,
  tokensOpen,
  type Welcome,
  writeServiceKubeconfig,
} from './platform.ts'
import { hostEnvironment, openUpHost, registerUpHost, removeUpHost, type UpHost } from './uphost.ts'

export type UpOptions = { cluster: ClusterChoice; strictEgress: boolean; parts: readonly ExtraPart[] }

const neededMib = 1_024
const firstBackoffMs = 1_000
const longestBackoffMs = 30_000
/** A process that lived this long has earned a fresh back-off. */
const steadyMs = 60_000

/**
 * Runs the platform until `signal`: starts everything in order, keeps it running, writes env.json when it is ready, and
 * takes it all down again. Throws a Refusal, with nothing left running, when it does not come up.
 */
export async function supervise(
  options: UpOptions,
  { progress, signal, onReady }: { progress: Progress; signal: AbortSignal; onReady: OnReady },
): Promise<void> {
  makeStateFolders()
  const owner = ownerName()
  const lock = await tryLock(owner)
  if (lock === null) throw new CommandRefusal('Another hack/up of this checkout is running or starting.')
  rmSync(paths.env, { force: true })
  await endLeftovers(owner, progress)
  writeWhole(paths.supervisor, JSON.stringify({ pid: process.pid, start: startOf(process.pid) }))
  rotateLogs()
  const watched: Service[] = []
  try {
    const stopped = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)))
    const starting = startAll(options, { owner, progress, watched, onReady })
    starting.catch(() => {}) // after a Ctrl-C its failure is of our own making
    if (!signal.aborted) await Promise.race([starting, stopped])
    if (!signal.aborted) await stopped
    progress.line('· stopping')
  } finally {
    refuseLaunches()
    rmSync(paths.env, { force: true })
    for (const service of watched.toReversed()) await service.stop().catch((error) => progress.line(messageOf(error)))
    await endOwned(owner)
    await removeUpHost(owner, { purge: false })
    await removeUpBoxes({ purge: false })
    rmSync(paths.supervisor, { force: true })
    await lock.release()
  }
}

/** How it came up: with a first invoice, or with kept data of which the parts disagree. */
export type Greeting = Welcome | { disagreements: readonly string[] }
type OnReady = (env: UpEnvironment, greeting: Greeting) => void

type Starting = {
  owner: string
  progress: Progress
  /** In the order of starting; stopped from the end. */
  watched: Service[]
  onReady: OnReady
}

async function startAll(options: UpOptions, { owner, progress, watched, onReady }: Starting): Promise<void> {
  for (const folder of [stateDir, '/tmp']) demandDisk(folder, neededMib)
  const withHosts = wantsHosts(options.parts)
  const names = [...toolsFor(options.cluster), ...partTools(options.parts)]
  const tools = await ensureTools(names, { progress })
  const kept = readJson<Ports>(paths.ports) ?? {}
  const serversStep = progress.step('control plane and PostgreSQL')
  const [cluster, database] = await Promise.all([
    openCluster(options.cluster, tools, owner),
    openDatabase(owner, kept),
  ]).catch(failing(serversStep))
  serversStep.done()
  watched.push(...database.services, ...cluster.services.toReversed())

  const addresses = await chooseAddresses(kept, database.port)
  writeWhole(paths.ports, JSON.stringify(addresses.ports))
  const platformStep = progress.step('schema, policies, rights, demo accounts')
  const kubectl = createKubectl(tools.path('kubectl'), cluster.kubeconfig)
  const { tokens, secretKey } = await setUpPlatform(kubectl, database).catch(failing(platformStep))
  platformStep.done()

  const host = withHosts ? await openUpHost(owner, tools, progress) : null
  const boxes = await openUpBoxes({ parts: options.parts, owner, apiPort: addresses.ports.api, progress })
  watched.push(...(host?.services ?? []), ...(boxes?.services ?? []))
  const ownDns =
    !host && options.parts.includes('dns') ? await makeDns({ owner, logDir: paths.logs, tool: tools.path }) : null
  const dns = host?.stage.acme.dns ?? ownDns
  const partsStep = progress.step('mail catcher, controllers, api')
  const cards = options.parts.includes('cards') ? cardsOf(addresses, secretKey) : null
  const llm = options.parts.includes('llm') ? llmOf(addresses) : null
  const provisioner = boxes && { env: boxes.env, token: tokens.admin }
  const given = { owner, addresses, cards, llm }
  const extra = extraServices({ ...given, dns: ownDns, provisioner })
  const { strictEgress } = options
  const services = nodeServices({ ...given, dns, databaseUrl: database.url, strictEgress })
  watched.push(...extra, services.mail, services.controllers, services.api)
  const starting = [...extra, ...Object.values(services)]
  await Promise.all(starting.map((service) => service.start())).catch(failing(partsStep))
  partsStep.done()

  const parts = { cluster, host, boxes, dns, cards, llm }
  const running: Running = { addresses, tokens, databaseUrl: database.url, ...parts, ...services }
  for (const service of watched) keepRunning(service, progress, () => writeEnvironment(running))
  const invoiceStep = progress.step('the first invoice')
  const disagreements = await whenJudged(addresses.metricsUrls)
  if (disagreements.length > 0) {
    invoiceStep.done('left out: what is kept does not fit together')
    onReady(writeEnvironment(running), { disagreements })
    return
  }
  await accountsKnown(addresses.baseUrl, tokens).catch(failing(invoiceStep))
  const asAdmin = { baseUrl: addresses.baseUrl, token: tokens.admin }
  if (host) await registerUpHost(host, asAdmin).catch(failing(invoiceStep))
  const welcome = await sendWelcomeInvoice(addresses.baseUrl, tokens.owner).catch(failing(invoiceStep))
  invoiceStep.done(welcome.number)
  onReady(writeEnvironment(running), welcome)
}

async function setUpPlatform(kubectl: Kubectl, database: OpenDatabase): Promise<{ tokens: Tokens; secretKey: string }> {
  await Promise.all([migrateDatabase(database.url), applyPlatform(kubectl)])
  await Promise.all([
    createDemoAccounts(kubectl),
    writeServiceKubeconfig(kubectl, 'controllers', paths.controllersKubeconfig),
    writeServiceKubeconfig(kubectl, 'api', paths.apiKubeconfig),
  ])
  const secrets = readSecrets()
  const [secretKey, roots] = [readSecretKey(), rootsKeptBy(kubectl)]
  const kept = secrets.tokensOf === database.clusterId ? secrets.tokens : undefined
  if (kept !== undefined && (await tokensOpen(database.url, kept, secretKey, roots))) {
    return { tokens: kept, secretKey: secrets.secretKey }
  }
  const tokens = await mintDemoTokens(database.url, secretKey, roots)
  writeSecrets({ secretKey: secrets.secretKey, tokens, tokensOf: database.clusterId })
  return { tokens, secretKey: secrets.secretKey }
}

type Running = {
  addresses: Addresses
  tokens: Tokens
  databaseUrl: string
  cluster: Cluster
  api: Service
  controllers: Service
  host: UpHost | null
  boxes: BoxStage | null
  dns: SettableDns | null
  cards: CardsEnvironment | null
  llm: LlmEnvironment | null
}

function writeEnvironment(running: Running): UpEnvironment {
  const { addresses, tokens, databaseUrl, cluster, api, controllers, host, boxes, dns, cards, llm } = running
  const environment: UpEnvironment = {
    baseUrl: addresses.baseUrl,
    metricsUrls: addresses.metricsUrls,
    kubeconfig: cluster.kubeconfig,
    databaseUrl,
    mailDir: paths.mail,
    namespace,
    tokens,
    operatorPid: controllers.pid() ?? 0,
    apiPid: api.pid() ?? 0,
    supervisorPid: process.pid,
    ...(host && { hosts: hostEnvironment(host) }),
    ...(boxes && { boxes: { identityFile: boxes.identityFile, dockerHost: `unix://${boxes.docker.socket}` } }),
    ...(dns && { dns: { server: dns.server, controlUrl: dns.controlUrl } }),
    ...(cards && { cards }),
    ...(llm && { llm }),
  }
  writeWhole(paths.env, `${JSON.stringify(environment, null, 2)}\n`)
  return environment
}

/** Starts a process again whenever it dies, after a pause that doubles while it keeps dying. */
function keepRunning(service: Service, progress: Progress, onRestart: () => void): void {
  let backoffMs = firstBackoffMs
  let startedMs = performance.now()
  const restart = async (ending: Ending) => {
    if (performance.now() - startedMs > steadyMs) backoffMs = firstBackoffMs
    progress.line(`! ${service.name} died (${describe(ending)}); again in ${backoffMs / 1000} s`)
    await sleep(backoffMs)
    backoffMs = Math.min(2 * backoffMs, longestBackoffMs)
    startedMs = performance.now()
    try {
      await service.start()
      progress.line(`✓ ${service.name} runs again (pid ${service.pid()})`)
      onRestart()
    } catch (error) {
      progress.line(messageOf(error))
      if (service.pid() === null) await restart({ code: null, signal: null })
    }
  }
  service.onDeath((ending) => void restart(ending))
}

/** After a `kill -9` of the supervisor or a crash, its processes are still there, or its sockets are. */
async function endLeftovers(owner: string, progress: Progress): Promise<void> {
  const left = findOwned(owner).length
  if (left > 0) progress.line(`· ending ${left} processes that an earlier run left behind`)
  await endOwned(owner)
  await removeUpHost(owner, { purge: false })
  await removeUpBoxes({ purge: false })
}

const endingGraceMs = 27_000

/** Ends everything that carries this checkout's mark; a stray that was being launched meanwhile is caught by the second look. */
export async function endOwned(owner: string): Promise<void> {
  for (let left = findOwned(owner); left.length > 0; left = findOwned(owner)) {
    const ordered = left.sort((a, b) => endingOrder.indexOf(a.name) - endingOrder.indexOf(b.name))
    for (const one of ordered) {
      // to PostgreSQL SIGTERM means: wait until every client has left
      await endProcesses([one], endingGraceMs, one.name === 'postgres' ? 'SIGINT' : 'SIGTERM')
    }
  }
  removeSockets(paths.controlPlane)
}
