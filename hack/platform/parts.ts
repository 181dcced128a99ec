import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { freePort, isListening } from '../lib/ports.ts'
import { createService, type Service, waitFor } from '../lib/processes.ts'
import { type CardsEnvironment, type LlmEnvironment, type Ports, paths, root } from '../lib/state.ts'
import { hostTools } from '../lib/tooltable.ts'
import type { SettableDns } from '../stage/dns.ts'
import { disagreementsOf } from './disagreements.ts'
import { namespace } from './platform.ts'
import { apiUrlOf } from './postgres.ts'

/** The Node processes of the platform: mail catcher, controllers, api, and the ports they listen on. */

/** What more than the platform is started. `acme` is part of `hosts`, whose Caddy it serves, and has the `dns`. */
export const extraParts = ['cards', 'hosts', 'acme', 'dns', 'llm', 'boxes'] as const
export type ExtraPart = (typeof extraParts)[number]
/** Whether an app host is among the parts. */
export const wantsHosts = (parts: readonly ExtraPart[]): boolean =>
  parts.some((part) => part === 'hosts' || part === 'acme')

/** The Go-built tools of the parts. */
export const partTools = (parts: readonly ExtraPart[]): readonly string[] =>
  wantsHosts(parts) ? hostTools : parts.includes('dns') ? ['pebble-challtestsrv'] : []

export type Addresses = { baseUrl: string; metricsUrls: string[]; ports: Required<Ports> }

/** Users of a server go before the server, and the API server before etcd, without which it never ends. */
export const endingOrder = [
  'provisioner',
  'api',
  'controllers',
  'mail',
  'cards',
  'llm',
  'sshd',
  'caddy',
  'pebble',
  'pebble-challtestsrv',
  'dockerd',
  'kube-apiserver',
  'etcd',
  'postgres',
  '',
]
const readyMs = 60_000
/** Processes drain within 25 s of SIGTERM (rules/platform.md#processes); then they are made to. */
const drainMs = 27_000

/** Draws the ports, keeping those of the last start where they are still free, so that links stay good. */
export async function chooseAddresses(kept: Ports, postgresPort: number): Promise<Addresses> {
  const ports = {
    api: await freePort(kept.api),
    apiMetrics: await freePort(kept.apiMetrics),
    controllersMetrics: await freePort(kept.controllersMetrics),
    mail: await freePort(kept.mail),
    cards: await freePort(kept.cards),
    llm: await freePort(kept.llm),
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
  strictEgress: boolean
  /** Who is asked whether a domain is proven; null: the servers of the system. */
  dns: SettableDns | null
  /** The card processor's stand-in; null: no card collection. */
  cards: CardsEnvironment | null
  /** The language model's stand-in; null: what the environment names, or none. */
  llm: LlmEnvironment | null
}

/** How the platform and the card processor's stand-in know each other: secrets that last as long as the data do. */
export function cardsOf({ ports }: Addresses, secretKey: string): CardsEnvironment {
  const derived = (name: string) => createHmac('sha256', secretKey).update(name).digest('hex').slice(0, 32)
  return {
    secretKey: `sk_test_${derived('card key')}`,
    webhookSecret: `whsec_${derived('card webhook')}`,
    webhookPath: '/api/collect/stripe/webhook',
    apiBase: `http://127.0.0.1:${ports.cards}`,
  }
}

/** The card processor's stand-in, which reports to the api what was paid. */
function cardService(owner: string, { ports, baseUrl }: Addresses, cards: CardsEnvironment): Service {
  return nodeService(owner, {
    name: 'cards',
    script: 'hack/commands/standins/cards.ts',
    args: ['--port', String(ports.cards), '--webhook', `${baseUrl}${cards.webhookPath}`],
    env: cardSecrets(cards),
    isReady: () => answersOk(`${cards.apiBase}/healthz`),
  })
}

export const llmOf = ({ ports }: Addresses): LlmEnvironment => ({ url: `http://127.0.0.1:${ports.llm}/v1` })

/** The language model's stand-in, which drafts by simple rules. */
function llmService(owner: string, { ports }: Addresses): Service {
  return nodeService(owner, {
    name: 'llm',
    script: 'hack/commands/standins/llm.ts',
    args: ['--port', String(ports.llm)],
    env: {},
    isReady: () => answersOk(`http://127.0.0.1:${ports.llm}/healthz`),
  })
}

type ProvisionerPart = { env: Record<string, string>; token: string }

/** The provisioner of dev instances, by the token of an administrator. It waits for the api by itself. */
function provisionerService(owner: string, { baseUrl }: Addresses, { env, token }: ProvisionerPart): Service {
  return nodeService(owner, {
    name: 'provisioner',
    script: 'hack/commands/devbox.ts',
    args: ['run', '--every', '5s'],
    env: { ...env, BOTTEGA_URL: baseUrl, BOTTEGA_TOKEN: token },
    isReady: async () => true,
  })
}

type ExtraOptions = Pick<PartOptions, 'owner' | 'addresses' | 'cards' | 'llm'> & {
  dns: { service: Service } | null
  provisioner: ProvisionerPart | null
}

/** What is started beside the platform; `dns` where no host has it. */
export function extraServices({ owner, addresses, cards, llm, dns, provisioner }: ExtraOptions): Service[] {
  return [
    ...(cards ? [cardService(owner, addresses, cards)] : []),
    ...(llm ? [llmService(owner, addresses)] : []),
    ...(dns ? [dns.service] : []),
    ...(provisioner ? [provisionerService(owner, addresses, provisioner)] : []),
  ]
}

const cardSecrets = ({ secretKey, webhookSecret }: CardsEnvironment) => ({
  BOTTEGA_STRIPE_SECRET_KEY: secretKey,
  BOTTEGA_STRIPE_WEBHOOK_SECRET: webhookSecret,
})

/** The three, in the order in which they are started; each is a node of the pinned version with a log of its own. */
export function nodeServices(options: PartOptions): { mail: Service; controllers: Service; api: Service } {
  const { ports } = options.addresses
  const shared = sharedEnvironment(options)
  const metrics = (port: number) => ({ BOTTEGA_METRICS_LISTEN: `127.0.0.1:${port}` })
  const ready = (port: number) => `http://127.0.0.1:${port}/readyz`
  return {
    mail: nodeService(options.owner, {
      name: 'mail',
      script: 'hack/commands/mailcatcher.ts',
      args: ['--port', String(ports.mail), '--dir', paths.mail],
      env: {},
      isReady: () => isListening(ports.mail),
    }),
    controllers: nodeService(options.owner, {
      name: 'controllers',
      script: 'controllers/main.ts',
      args: [],
      env: {
        ...shared,
        ...metrics(ports.controllersMetrics),
        KUBECONFIG: paths.controllersKubeconfig,
        ...(options.dns ? { BOTTEGA_DNS_SERVERS: options.dns.server } : given(['BOTTEGA_DNS_SERVERS'])),
        ...given(['BOTTEGA_ACCEPT_CLUSTER']),
      },
      // it serves no requests, and says what is wrong: the platform comes up all the same
      isReady: async () =>
        (await answersOk(ready(ports.controllersMetrics))) ||
        (await disagreementsOf(ready(ports.controllersMetrics))).length > 0,
    }),
    api: nodeService(options.owner, {
      name: 'api',
      script: 'api/main.ts',
      args: [],
      env: {
        ...shared,
        ...metrics(ports.apiMetrics),
        BOTTEGA_DATABASE_URL: apiUrlOf(options.databaseUrl),
        KUBECONFIG: paths.apiKubeconfig,
        BOTTEGA_LISTEN: `127.0.0.1:${ports.api}`,
        ...given(passedOn),
        ...(options.llm && { BOTTEGA_LLM_URL: options.llm.url, BOTTEGA_LLM_MODEL: 'stand-in' }),
      },
      isReady: () => answersOk(ready(ports.apiMetrics)),
    }),
  }
}

/** Settings of the api that the caller of `hack/up` may give it. */
const passedOn = [
  'BOTTEGA_SIGN_UP',
  'BOTTEGA_ADMIN_EMAIL',
  'BOTTEGA_SESSION_IDLE_MINUTES',
  'BOTTEGA_OIDC_ISSUER',
  'BOTTEGA_OIDC_CLIENT_ID',
  'BOTTEGA_OIDC_CLIENT_SECRET',
  'BOTTEGA_LLM_URL',
  'BOTTEGA_LLM_MODEL',
  'BOTTEGA_LLM_KEY',
  'BOTTEGA_LLM_TIMEOUT_SECONDS',
  'BOTTEGA_RATE_PER_SECOND',
  'BOTTEGA_RATE_SPARE',
  'BOTTEGA_RATE_PER_SECOND_PER_ACCOUNT',
  'BOTTEGA_RATE_SPARE_PER_ACCOUNT',
  'BOTTEGA_PAGES_PER_MINUTE',
  'BOTTEGA_SIGNINS_PER_MINUTE',
  'BOTTEGA_FILES_PER_MINUTE',
  'BOTTEGA_CARD_EVENTS_PER_MINUTE',
  'BOTTEGA_GATE_PER_MINUTE',
  'BOTTEGA_WRONG_PER_MINUTE',
  'BOTTEGA_CONCURRENCY_PER_ACCOUNT',
  'BOTTEGA_CONCURRENCY_PER_ADDRESS',
  'BOTTEGA_HELD_MEGABYTES',
  'BOTTEGA_HELD_MEGABYTES_PER_PARTY',
  'BOTTEGA_PROXIES',
  'BOTTEGA_CLIENT_ADDRESS_HEADER',
]

function given(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function sharedEnvironment(options: PartOptions): Record<string, string> {
  const { addresses, databaseUrl, strictEgress, cards } = options
  return {
    BOTTEGA_NAMESPACE: namespace,
    BOTTEGA_DATABASE_URL: databaseUrl,
    BOTTEGA_PUBLIC_URL: addresses.baseUrl,
    BOTTEGA_SECRET_KEY_FILE: paths.secretKey,
    BOTTEGA_SMTP_URL: `smtp://127.0.0.1:${addresses.ports.mail}`,
    BOTTEGA_MAIL_FROM: 'Bottega <billing@bottega.test>',
    BOTTEGA_LOG_LEVEL: 'info',
    BOTTEGA_DEV_CLOCK: 'on',
    ...(cards && { ...cardSecrets(cards), BOTTEGA_STRIPE_API_BASE: cards.apiBase }),
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
