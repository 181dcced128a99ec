import { join } from 'node:path'
import { namespace } from './platform.ts'
import { freePort, isFree } from './ports.ts'
import { createService, type Service, waitFor } from './processes.ts'
import { type Ports, paths, root } from './state.ts'

/** The Node processes of the platform: mail catcher, controllers, api, and the ports they listen on. */

export type Addresses = { baseUrl: string; metricsUrls: string[]; ports: Required<Ports> }

const readyMs = 60_000
/** Processes drain within 25 s of SIGTERM (CONTRACT section 2); then they are made to. */
const drainMs = 27_000

/** Draws the ports, keeping those of the last start where they are still free, so that links stay good. */
export async function chooseAddresses(kept: Ports, postgresPort: number): Promise<Addresses> {
  const ports = {
    api: await freePort(kept.api),
    apiMetrics: await freePort(kept.apiMetrics),
    controllersMetrics: await freePort(kept.controllersMetrics),
    mail: await freePort(kept.mail),
    postgres: postgresPort,
  }
  const local = (port: number) => `http://127.0.0.1:${port}`
  return {
    ports,
    baseUrl: local(ports.api),
    metricsUrls: [`${local(ports.apiMetrics)}/metrics`, `${local(ports.controllersMetrics)}/metrics`],
  }
}

export type PartOptions = {
  owner: string
  addresses: Addresses
  databaseUrl: string
  secretKey: string
  strictEgress: boolean
}

/** The three, in the order in which they are started; each is a node of the pinned version with a log of its own. */
export function nodeServices(options: PartOptions): { mail: Service; controllers: Service; api: Service } {
  const { ports } = options.addresses
  const shared = sharedEnvironment(options)
  const metrics = (port: number) => ({ BOTTEGA_METRICS_LISTEN: `127.0.0.1:${port}` })
  const ready = (port: number) => `http://127.0.0.1:${port}/readyz`
  return {
    mail: nodeService(options.owner, {
      name: 'mail',
      script: 'hack/mailcatcher.ts',
      args: ['--port', String(ports.mail), '--dir', paths.mail],
      env: {},
      isReady: async () => !(await isFree(ports.mail)),
    }),
    controllers: nodeService(options.owner, {
      name: 'controllers',
      script: 'controllers/main.ts',
      args: [],
      env: { ...shared, ...metrics(ports.controllersMetrics), KUBECONFIG: paths.controllersKubeconfig },
      isReady: () => answersOk(ready(ports.controllersMetrics)),
    }),
    api: nodeService(options.owner, {
      name: 'api',
      script: 'api/main.ts',
      args: [],
      env: {
        ...shared,
        ...metrics(ports.apiMetrics),
        KUBECONFIG: paths.apiKubeconfig,
        BOTTEGA_LISTEN: `127.0.0.1:${ports.api}`,
        ...givenSettings(),
      },
      isReady: () => answersOk(ready(ports.apiMetrics)),
    }),
  }
}

/** Settings of the api that whoever runs `hack/up` may give it. */
const passedOn = [
  'BOTTEGA_SIGN_UP',
  'BOTTEGA_ADMIN_EMAIL',
  'BOTTEGA_OIDC_ISSUER',
  'BOTTEGA_OIDC_CLIENT_ID',
  'BOTTEGA_OIDC_CLIENT_SECRET',
  'BOTTEGA_LLM_URL',
  'BOTTEGA_LLM_MODEL',
  'BOTTEGA_LLM_KEY',
  'BOTTEGA_LLM_TIMEOUT_SECONDS',
  'BOTTEGA_RATE_PER_SECOND',
  'BOTTEGA_RATE_SPARE',
  'BOTTEGA_PAGES_PER_MINUTE',
  'BOTTEGA_SIGNINS_PER_MINUTE',
  'BOTTEGA_PROXIES',
]

function givenSettings(): Record<string, string> {
  return Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function sharedEnvironment({ addresses, databaseUrl, secretKey, strictEgress }: PartOptions): Record<string, string> {
  return {
    BOTTEGA_NAMESPACE: namespace,
    BOTTEGA_DATABASE_URL: databaseUrl,
    BOTTEGA_PUBLIC_URL: addresses.baseUrl,
    BOTTEGA_SECRET_KEY: secretKey,
    BOTTEGA_SMTP_URL: `smtp://127.0.0.1:${addresses.ports.mail}`,
    BOTTEGA_MAIL_FROM: 'Bottega <billing@bottega.test>',
    BOTTEGA_LOG_LEVEL: 'info',
    BOTTEGA_DEV_CLOCK: 'on',
    // the development exception: webhooks may reach loopback
    ...(strictEgress ? {} : { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' }),
  }
}

type NodePart = {
  name: string
  script: string
  args: readonly string[]
  env: Record<string, string>
  isReady: () => Promise<boolean>
}

function nodeService(owner: string, { name, script, args, env, isReady }: NodePart): Service {
  const logFile = join(paths.logs, `${name}.log`)
  return createService({
    name,
    logFile,
    graceMs: drainMs,
    launch: () => ({
      name,
      owner,
      logFile,
      cwd: root,
      env,
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', join(root, script), ...args],
    }),
    ready: (signal) => waitFor(`${name} to be ready (its log is ${logFile})`, isReady, { timeoutMs: readyMs, signal }),
  })
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
