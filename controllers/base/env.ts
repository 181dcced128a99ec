/**
 * The configuration of a process: environment variables with the prefix BOTTEGA_. Read once, in one place; all faults are
 * reported together, by name and by what is expected, never with the value.
 */

import { readFileSync } from 'node:fs'
import { RETENTION_DAYS_DEFAULT } from '../../crds/invoice/planning/retention.ts'
import {
  addressList,
  email,
  type Field,
  headerName,
  inDevelopment,
  integer,
  keyList,
  listen,
  mailbox,
  oneOf,
  tenantList,
  text,
  url,
  withDefault,
} from './fields.ts'

export type EnvFault = { name: string; expected: string }

/** Every variable that is missing or wrong. The caller prints `message` and exits with 2. */
export class EnvError extends Error {
  readonly faults: EnvFault[]

  constructor(faults: EnvFault[]) {
    super(['The configuration is not usable:', ...faults.map((f) => `  ${f.name}: ${f.expected}`)].join('\n'))
    this.name = 'EnvError'
    this.faults = faults
  }
}

export type Env<F> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** What was given for a field, itself or in a file. */
const givenFor = (
  { name, mayBeFile }: Field<unknown>,
  source: Record<string, string | undefined>,
): { given: string; fault?: EnvFault } => {
  const given = source[name]?.trim() ?? ''
  const [fileName, file] = [`${name}_FILE`, source[`${name}_FILE`]?.trim() ?? '']
  if (!mayBeFile || file === '') return { given }
  if (given !== '') return { given, fault: { name: fileName, expected: `is given beside ${name}; give one of them` } }
  try {
    return { given: readFileSync(file, 'utf8').trim() }
  } catch {
    return { given, fault: { name: fileName, expected: 'expected the path of a file that can be read' } }
  }
}

/** @throws EnvError naming every fault */
export const readEnv = <F extends Record<string, Field<unknown>>>(fields: F, source: Source): Env<F> => {
  const faults: EnvFault[] = []
  const values: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(fields)) {
    const { name, expected, parse, fallback } = field
    const { given, fault } = givenFor(field, source)
    const value = given === '' ? undefined : parse(given)
    if (fault) faults.push(fault)
    else if (value !== undefined) values[key] = value
    else if (given === '' && fallback) values[key] = fallback()
    else faults.push({ name, expected: given === '' ? `is missing; expected ${expected}` : `expected ${expected}` })
  }
  if (faults.length > 0) throw new EnvError(faults)
  return values as Env<F>
}

type Source = Record<string, string | undefined>

/** Names of the settings of development among `fields`. */
export const developmentNames = (fields: Record<string, Field<unknown>>): string[] =>
  Object.values(fields).flatMap((field) => (field.inProduction === undefined ? [] : [field.name]))

const LOOPBACK_URL = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/

/**
 * What one of the two processes is given, and which settings of development are among it: those are good for an installation
 * that nobody but this machine reaches, and whose database says the same (store/installation.ts).
 * @throws EnvError naming every fault
 */
export const readProcessEnv = <F extends Record<string, Field<unknown>> & { publicUrl: Field<string> }>(
  fields: F,
  source: Source,
): { env: Env<F>; development: string[] } => {
  const env = readEnv(fields, source)
  const development = Object.entries(fields).flatMap(([key, { name, inProduction }]) =>
    inProduction === undefined || env[key] === inProduction ? [] : [name],
  )
  if (!LOOPBACK_URL.test(`${env.publicUrl}`)) refuseDevelopment(development)
  return { env, development }
}

/** @throws EnvError for settings of development in any installation but that of `hack/up` */
export const refuseDevelopment = (names: readonly string[]): void => {
  const expected = 'is for development, and only an installation that hack/up made takes it: leave it out'
  if (names.length > 0) throw new EnvError(names.map((name) => ({ name, expected })))
}

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const CLUSTER = {
  /** Undefined: ~/.kube/config or the pod's service account. */
  kubeconfig: withDefault(text('KUBECONFIG', 'the path of a kubeconfig'), undefined),
}

export const DATABASE = { databaseUrl: url('BOTTEGA_DATABASE_URL', ['postgres', 'postgresql']) }

const NAMESPACES = {
  namespace: withDefault(text('BOTTEGA_NAMESPACE', 'the namespace of the resources'), 'bottega'),
  /** Where the Lease is, beside the pods, when that is another one: who edits resources has no hand in who leads. */
  home: withDefault(text('BOTTEGA_HOME_NAMESPACE', 'the namespace of the Lease'), undefined),
  /** Accounts whose resources live in a namespace of their own (hack/decisions/057). */
  tenants: withDefault(tenantList('BOTTEGA_TENANTS'), []),
}

/** Of the migration: the owner's database, and the api's way to it, whose role is made and granted what it needs. */
export const MIGRATION = { ...DATABASE, apiDatabaseUrl: url('BOTTEGA_API_DATABASE_URL', ['postgres', 'postgresql']) }

/** Of the keys, looked at and changed by hand (controllers/setupkeys.ts). */
export const KEYS = { ...DATABASE, secretKeys: keyList('BOTTEGA_SECRET_KEY') }

/** Of the reconciliation of database, cluster and key (controllers/workers/reconcile/). */
export const RECONCILE = {
  ...CLUSTER,
  ...DATABASE,
  ...NAMESPACES,
  secretKeys: keyList('BOTTEGA_SECRET_KEY'),
}

/** The keys in a text, as BOTTEGA_SECRET_KEY holds them. @throws EnvError */
export const readSecretKeys = (given: string): Buffer[] =>
  readEnv({ secretKeys: keyList('BOTTEGA_SECRET_KEY') }, { BOTTEGA_SECRET_KEY: given }).secretKeys

/** What both processes need. */
export const COMMON = {
  ...CLUSTER,
  ...DATABASE,
  ...NAMESPACES,
  publicUrl: url('BOTTEGA_PUBLIC_URL', ['https', 'http']),
  secretKeys: keyList('BOTTEGA_SECRET_KEY'),
  metricsListen: withDefault(listen('BOTTEGA_METRICS_LISTEN'), { host: '::', port: 9090 }),
  /** The development exception: what a user names may be on loopback. */
  egressAllowLoopback: inDevelopment(oneOf('BOTTEGA_EGRESS_ALLOW_LOOPBACK', ['true', 'false']), 'false'),
  logLevel: withDefault(oneOf('BOTTEGA_LOG_LEVEL', LEVELS), 'info' as const),
  /** off: no document is drawn; sends wait and drafts answer PDF_RENDER_OFF. */
  pdfRender: withDefault(oneOf('BOTTEGA_PDF_RENDER', ['on', 'off']), 'on' as const),
  /** Development only: the clock can be moved forward (runtime/clock.ts). */
  devClock: inDevelopment(oneOf('BOTTEGA_DEV_CLOCK', ['on', 'off']), 'off'),
}

/** What both processes know of the card processor. */
const CARDS = {
  stripeWebhookSecret: withDefault(
    text('BOTTEGA_STRIPE_WEBHOOK_SECRET', 'the secret of a webhook endpoint'),
    undefined,
  ),
  /** Another one is a stand-in's. */
  stripeApiBase: inDevelopment(url('BOTTEGA_STRIPE_API_BASE', ['https', 'http']), 'https://api.stripe.com'),
}

export const CONTROLLERS = {
  ...COMMON,
  smtpUrl: url('BOTTEGA_SMTP_URL', ['smtp', 'smtps']),
  mailFrom: mailbox('BOTTEGA_MAIL_FROM'),
  /** Mails under way at once. Each is one more that a crash can leave undecided (controllers/workers/mail-sender.ts). */
  mailLanes: withDefault(integer('BOTTEGA_MAIL_LANES', { min: 1, max: 4 }), 3),
  /** Documents drawn at once, each in a thread of up to 200 MB. */
  pdfThreads: withDefault(integer('BOTTEGA_PDF_THREADS', { min: 1, max: 8 }), 1),
  /** After so many days without anything happening a finished invoice leaves the cluster, and is read from its archive. */
  retentionDays: withDefault(integer('BOTTEGA_INVOICE_RETENTION_DAYS', { min: 1, max: 3650 }), RETENTION_DAYS_DEFAULT),
  /** How often the head of audit and register is told. */
  historyHeadMinutes: withDefault(integer('BOTTEGA_HISTORY_HEAD_MINUTES', { min: 1, max: 1440 }), 60),
  /** The card processor: key and webhook secret, or neither (the API has the secret, and checks what is signed by it). */
  ...CARDS,
  stripeSecretKey: withDefault(text('BOTTEGA_STRIPE_SECRET_KEY', 'a secret key of the card processor'), undefined),
  /** What a refusal to lead has named, and a person accepts (controllers/workers/truths/truths.ts). */
  acceptCluster: withDefault(text('BOTTEGA_ACCEPT_CLUSTER', 'what the refusal to lead has named'), undefined),
  /** Names this process in the lease, beside what makes it unique; undefined: the host's name. */
  identity: withDefault(text('BOTTEGA_IDENTITY', 'a name for this process'), undefined),
  /** Who is asked whether a domain is proven (net/proof.ts); undefined: the servers of the system. */
  nameServers: withDefault(addressList('BOTTEGA_DNS_SERVERS'), undefined),
  /** Of the pod, by the downward API: a container that is started again need not wait for the lease of the one before. */
  podUid: withDefault(text('BOTTEGA_POD_UID', 'the uid of the pod'), ''),
}

export const API = {
  ...COMMON,
  /** Becomes the first administrator, when there is none (api/auth/signin/first-admin.ts). */
  adminEmail: withDefault(email('BOTTEGA_ADMIN_EMAIL'), undefined),
  listen: withDefault(listen('BOTTEGA_LISTEN'), { host: '::', port: 8080 }),
  /** open: a visitor who confirms an address gets an account. */
  signUp: withDefault(oneOf('BOTTEGA_SIGN_UP', ['open', 'closed']), 'closed' as const),
  /** A session that was not used for so long is over. */
  sessionIdleMinutes: withDefault(integer('BOTTEGA_SESSION_IDLE_MINUTES', { min: 5, max: 10_080 }), 1440),
  /** OpenID Connect: all three, or none. */
  oidcIssuer: withDefault(url('BOTTEGA_OIDC_ISSUER', ['https', 'http']), undefined),
  oidcClientId: withDefault(text('BOTTEGA_OIDC_CLIENT_ID'), undefined),
  oidcClientSecret: withDefault(text('BOTTEGA_OIDC_CLIENT_SECRET'), undefined),
  /** The language model for drafts: address and name, or neither; an endpoint of one's own may want no key. */
  llmUrl: withDefault(url('BOTTEGA_LLM_URL', ['https', 'http']), undefined),
  llmModel: withDefault(text('BOTTEGA_LLM_MODEL', 'the name of a model'), undefined),
  llmKey: withDefault(text('BOTTEGA_LLM_KEY', 'a key'), undefined),
  llmTimeoutSeconds: withDefault(integer('BOTTEGA_LLM_TIMEOUT_SECONDS', { min: 1, max: 300 }), 60),
  ...CARDS,
}

const upTo = (name: string, max: number, fallback: number) => withDefault(integer(name, { min: 1, max }), fallback)

/** How fast and how much at once (api/http/stages/limits.ts says of what). */
export const LIMITS = {
  ratePerSecond: upTo('BOTTEGA_RATE_PER_SECOND', 1_000_000, 50),
  rateSpare: upTo('BOTTEGA_RATE_SPARE', 1_000_000, 150),
  ratePerSecondPerAccount: upTo('BOTTEGA_RATE_PER_SECOND_PER_ACCOUNT', 1_000_000, 200),
  rateSparePerAccount: upTo('BOTTEGA_RATE_SPARE_PER_ACCOUNT', 1_000_000, 600),
  pagesPerMinute: upTo('BOTTEGA_PAGES_PER_MINUTE', 1_000_000, 300),
  signinsPerMinute: upTo('BOTTEGA_SIGNINS_PER_MINUTE', 1_000_000, 60),
  filesPerMinute: upTo('BOTTEGA_FILES_PER_MINUTE', 1_000_000, 3_000),
  cardEventsPerMinute: upTo('BOTTEGA_CARD_EVENTS_PER_MINUTE', 1_000_000, 6_000),
  gatePerMinute: upTo('BOTTEGA_GATE_PER_MINUTE', 1_000_000, 60_000),
  wrongPerMinute: upTo('BOTTEGA_WRONG_PER_MINUTE', 1_000_000, 120),
  concurrency: upTo('BOTTEGA_CONCURRENCY', 100_000, 2000),
  concurrencyPerToken: upTo('BOTTEGA_CONCURRENCY_PER_TOKEN', 100_000, 200),
  concurrencyPerAccount: upTo('BOTTEGA_CONCURRENCY_PER_ACCOUNT', 100_000, 400),
  concurrencyPerAddress: upTo('BOTTEGA_CONCURRENCY_PER_ADDRESS', 100_000, 500),
  heldMegabytes: upTo('BOTTEGA_HELD_MEGABYTES', 100_000, 160),
  heldMegabytesPerParty: upTo('BOTTEGA_HELD_MEGABYTES_PER_PARTY', 100_000, 112),
  proxies: withDefault(integer('BOTTEGA_PROXIES', { min: 0, max: 10 }), 0),
  /** Wins over `proxies`. */
  clientAddressHeader: withDefault(headerName('BOTTEGA_CLIENT_ADDRESS_HEADER'), undefined),
}

/** Where `helm test` looks. */
export const SMOKE = {
  url: url('BOTTEGA_SMOKE_URL', ['http', 'https']),
  metrics: url('BOTTEGA_SMOKE_METRICS', ['http']),
  /** Of an account that may make invoices; undefined: no invoice is made. */
  token: withDefault(text('BOTTEGA_SMOKE_TOKEN', 'a token'), undefined),
}
