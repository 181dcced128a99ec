import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { mintToken } from '../../api/auth/tokens.ts'
import { readSecretKeys } from '../../controllers/base/env.ts'
import type { Keys } from '../../controllers/base/keys.ts'
import { openKeys } from '../../controllers/store/installation/open.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import { type Bundled, ensureBundle } from '../container/bundle.ts'
import { memoryEnv } from '../container/memory.ts'
import { freePort, isListening } from '../lib/ports.ts'
import { createService, type Service, waitFor } from '../lib/processes.ts'
import { root } from '../lib/state.ts'
import { disagreementsOf } from './disagreements.ts'
import { apiUrlOf } from './postgres.ts'

/**
 * The processes of the platform on parts that somebody else started: what end-to-end tests and benchmarks stand on.
 * Each is a real process with a log of its own, to be killed and started again at will.
 */

export type StackOptions = {
  /** For logs and mails. */
  folder: string
  owner: string
  namespace: string
  /** The owner's; the api goes by its own role (apiUrlOf), which the migration has made. */
  databaseUrl: string
  kubeconfigs: { api: string; controllers: string }
  env?: Record<string, string>
  /** Where the API listens; any free port when absent. */
  apiPort?: number
  /** Mails are taken and not kept: a benchmark counts what sending costs, and no file system of ours. */
  discardsMails?: boolean
}

export type Stack = {
  baseUrl: string
  metricsUrls: { api: string; controllers: string }
  mailDir: string
  /** The newest key first, one a line; who is started reads it. */
  secretKeyFile: string
  secretKey: string
  /** The keys of its processes; makes the first root where there is none. */
  openKeys(): Promise<Keys>
  /** With a password. */
  smtpUrl: string
  mail: Service
  controllers: Service
  /** The controllers once more, in another pod as it were; whoever wants it starts it. */
  standby: Service
  standbyMetricsUrl: string
  api: Service
  /** A full-access token for an account. */
  token(account: string): Promise<string>
  start(): Promise<void>
  stop(): Promise<void>
}

const readyMs = 120_000
const drainMs = 27_000

const answersOk = async (url: string): Promise<boolean> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
  await response?.body?.cancel()
  return response?.status === 200
}

/** `script`: absolute, or seen from the root. */
type Part = { name: string; script: string; args?: string[]; env?: Record<string, string>; isReady(): Promise<boolean> }
type Ports = { api: number; apiMetrics: number; controllersMetrics: number; standbyMetrics: number; mail: number }

const serviceOf = ({ folder, owner }: StackOptions, { name, script, args = [], env = {}, isReady }: Part): Service => {
  const logFile = join(folder, `${name}.log`)
  const command = process.execPath
  const all = ['--disable-warning=ExperimentalWarning', resolve(root, script), ...args]
  return createService({
    name,
    logFile,
    graceMs: drainMs,
    launch: () => ({ name, owner, logFile, cwd: root, env, command, args: all }),
    ready: (signal) => waitFor(`${name} to be ready (its log is ${logFile})`, isReady, { timeoutMs: readyMs, signal }),
  })
}

const nodeOf = (
  options: StackOptions,
  { room, name = room, bundle }: { room: Bundled; name?: string; bundle: string },
  metricsPort: number,
  env: Record<string, string>,
): Service =>
  serviceOf(options, {
    name,
    script: join(bundle, `${room}.js`),
    env: {
      ...memoryEnv,
      ...env,
      KUBECONFIG: options.kubeconfigs[room],
      BOTTEGA_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
    },
    // one that says what is wrong has come up
    isReady: async () => {
      const url = `http://127.0.0.1:${metricsPort}/readyz`
      return (await answersOk(url)) || (await disagreementsOf(url)).length > 0
    },
  })

/** Settings of both processes. */
const sharedEnv = (
  options: StackOptions,
  { ports, smtpUrl, secretKeyFile }: { ports: Ports; smtpUrl: string; secretKeyFile: string },
): Record<string, string> => ({
  BOTTEGA_NAMESPACE: options.namespace,
  BOTTEGA_DATABASE_URL: options.databaseUrl,
  BOTTEGA_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
  BOTTEGA_SECRET_KEY_FILE: secretKeyFile,
  BOTTEGA_SMTP_URL: smtpUrl,
  BOTTEGA_MAIL_FROM: 'Bottega <billing@bottega.test>',
  // What a test or a benchmark does with one token in a second is no measure of what one account may.
  BOTTEGA_RATE_PER_SECOND: '1000000',
  BOTTEGA_CONCURRENCY_PER_TOKEN: '10000',
  BOTTEGA_CONCURRENCY_PER_ADDRESS: '10000',
  BOTTEGA_PAGES_PER_MINUTE: '100000',
  BOTTEGA_SIGNINS_PER_MINUTE: '100000',
  BOTTEGA_FILES_PER_MINUTE: '100000',
  BOTTEGA_WRONG_PER_MINUTE: '100000',
  ...options.env,
})

type Services = Pick<Stack, 'mail' | 'controllers' | 'standby' | 'api'>

const stopAll = async ({ mail, controllers, standby, api }: Services): Promise<void> => {
  await Promise.all([api.stop(), standby.stop(), controllers.stop()])
  await mail.stop()
}

const startAll = async (services: Services): Promise<void> => {
  await services.mail.start()
  // Both are waited for, so that a failure of one leaves nobody behind.
  const started = await Promise.allSettled([services.controllers.start(), services.api.start()])
  const failed = started.find((one) => one.status === 'rejected')
  if (failed === undefined) return
  await stopAll(services)
  throw failed.reason
}

const keysOf = async (databaseUrl: string, secretKey: string): Promise<Keys> => {
  const pg = makePg({ url: databaseUrl, max: 1 })
  try {
    const opened = await openKeys({ pg, secretKeys: readSecretKeys(secretKey), makes: true })
    opened.stop()
    return opened.keys
  } finally {
    await pg.close()
  }
}

/** Draws the ports and describes the processes; `start` runs them: mail, then controllers and api. */
export async function createStack(options: StackOptions): Promise<Stack> {
  const ports: Ports = {
    api: options.apiPort ?? (await freePort()),
    apiMetrics: await freePort(),
    controllersMetrics: await freePort(),
    standbyMetrics: await freePort(),
    mail: await freePort(),
  }
  const mailDir = join(options.folder, 'mail')
  mkdirSync(mailDir, { recursive: true })
  const { BOTTEGA_SECRET_KEY: secretKey = randomBytes(32).toString('base64'), ...env } = options.env ?? {}
  const secretKeyFile = join(options.folder, 'secret-key')
  writeFileSync(secretKeyFile, secretKey, { mode: 0o600 })
  const smtpUrl = `smtp://bottega:${randomBytes(18).toString('hex')}@127.0.0.1:${ports.mail}`
  const shared = sharedEnv({ ...options, env }, { ports, smtpUrl, secretKeyFile })
  const mail = serviceOf(options, {
    name: 'mail',
    script: 'hack/commands/mailcatcher.ts',
    args: ['--port', String(ports.mail), ...(options.discardsMails ? ['--discard'] : ['--dir', mailDir])],
    isReady: () => isListening(ports.mail),
  })
  // each a pod of its own: neither can see whether the other lives
  const leading = (pod: string) => ({ ...shared, BOTTEGA_POD_UID: pod })
  const bundle = await ensureBundle()
  const controllers = nodeOf(options, { room: 'controllers', bundle }, ports.controllersMetrics, leading('pod-a'))
  const other = { room: 'controllers', name: 'standby', bundle } as const
  const standby = nodeOf(options, other, ports.standbyMetrics, leading('pod-b'))
  const api = nodeOf(options, { room: 'api', bundle }, ports.apiMetrics, {
    ...shared,
    BOTTEGA_DATABASE_URL: apiUrlOf(options.databaseUrl),
    BOTTEGA_LISTEN: `127.0.0.1:${ports.api}`,
  })
  const services: Services = { mail, controllers, standby, api }
  const metricsUrl = (port: number) => `http://127.0.0.1:${port}/metrics`

  return {
    baseUrl: `http://127.0.0.1:${ports.api}`,
    metricsUrls: { api: metricsUrl(ports.apiMetrics), controllers: metricsUrl(ports.controllersMetrics) },
    standbyMetricsUrl: metricsUrl(ports.standbyMetrics),
    mailDir,
    secretKeyFile,
    secretKey,
    smtpUrl,
    openKeys: () => keysOf(options.databaseUrl, readFileSync(secretKeyFile, 'utf8')),
    ...services,
    token: (account) => mintToken(options.databaseUrl, { account, name: 'stack', key: secretKey }),
    start: () => startAll(services),
    stop: () => stopAll(services),
  }
}
