import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { mintToken, parseToken } from '../../api/auth/tokens.ts'
import { readSecretKeys } from '../../controllers/base/env.ts'
import { ROOTS, rootsIn } from '../../controllers/runtime/keptroots.ts'
import { type KeptRoots, openKeys } from '../../controllers/store/installation/open.ts'
import { makePg } from '../../controllers/store/pg/pg.ts'
import {
  accessTo,
  jobObjects,
  LEASE_NAME,
  platformIn,
  platformObjects,
  RECONCILE_ACCOUNT,
  reconcileTenantAccess,
  SETUP_ACCOUNT,
  tenantAccess,
} from '../../crds/kernel/platform.ts'
import { writeWhole } from '../lib/files.ts'
import { waitFor } from '../lib/processes.ts'
import { CommandRefusal, messageOf } from '../lib/refusal.ts'
import { asList, type Kubectl } from './kubectl.ts'
import { kubeconfigText } from './pki.ts'
import { query } from './postgres.ts'

/** Everything that a fresh cluster and database need before the two processes can start. All of it may be done again. */

export const namespace = 'default'
const platform = platformIn(namespace)
const serviceAccounts = {
  controllers: platform.controllersAccount,
  api: platform.apiAccount,
  setup: SETUP_ACCOUNT,
  reconcile: RECONCILE_ACCOUNT,
}
/** Who runs: the two processes and the chart's Jobs, each with an identity of its own. */
export type ProcessName = keyof typeof serviceAccounts

const fieldManager = 'bottega-setup'
const crdWait = '60s'
const policyWaitMs = 20_000
const tokenLifetime = '8760h'

/** Applies CRDs, policies, accounts of the two processes and of the Jobs and their rights, and returns once they are in force. */
export async function applyPlatform(kubectl: Kubectl): Promise<void> {
  const objects = [...platformObjects(platform), ...jobObjects(platform)]
  await apply(kubectl, asList(objects))
  const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
  const names = definitions.map(({ metadata }) => `crd/${metadata.name}`)
  await kubectl(['wait', '--for=condition=Established', `--timeout=${crdWait}`, ...names])
  await policiesInForce(kubectl)
}

/** The Jobs alone, where no definition is yet. */
export async function applyJobs(kubectl: Kubectl): Promise<void> {
  await apply(kubectl, asList(jobObjects(platform)))
}

/** Another namespace than their own, which the two processes may serve. */
export async function applyNamespace(kubectl: Kubectl, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await apply(kubectl, asList([namespace, ...accessTo(name, platform)]))
}

/** A namespace of a tenant: nothing of accounts or hosts is in it, nor the Lease. */
export async function applyTenantNamespace(kubectl: Kubectl, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await apply(kubectl, asList([namespace, ...tenantAccess(name, platform), ...reconcileTenantAccess(name, platform)]))
}

async function apply(kubectl: Kubectl, manifests: unknown): Promise<void> {
  const options = ['--server-side', '--force-conflicts', `--field-manager=${fieldManager}`]
  await kubectl(['apply', ...options, '-f', '-'], manifests)
}

/** A new admission policy acts up to half a second after its creation: ask until it denies, never assume. */
async function policiesInForce(kubectl: Kubectl): Promise<void> {
  await apply(kubectl, manifestOf(account('policy-probe', {})))
  const target = ['patch', 'account.bottega.dev/policy-probe', '-n', namespace]
  const forbidden = [...target, '--subresource=status', '--type=merge', '--dry-run=server', '-p', '{"status":{}}']
  const deadlineMs = performance.now() + policyWaitMs
  try {
    while (await isAllowed(kubectl, forbidden)) {
      if (performance.now() > deadlineMs)
        throw new CommandRefusal('The policy that keeps status for the operator does not come into force.')
      await sleep(100)
    }
  } finally {
    await kubectl(['delete', 'account.bottega.dev/policy-probe', '-n', namespace, '--wait=false'])
  }
}

async function isAllowed(kubectl: Kubectl, args: readonly string[]): Promise<boolean> {
  try {
    await kubectl(args)
    return true
  } catch (error) {
    if (error instanceof CommandRefusal && /denied|forbidden/i.test(error.detail)) return false
    throw error
  }
}

type AccountSpec = { email: string; name: string; plan: string; role: string; capabilities: string[]; teams: string[] }
type DemoAccount = { name: string; spec: AccountSpec }

/** A member on the free plan without any grant, but for what is said. */
function account(name: string, spec: Partial<AccountSpec>): DemoAccount {
  const plain = { email: `${name}@demo.test`, name, plan: 'free', role: 'member', capabilities: [], teams: [] }
  return { name, spec: { ...plain, ...spec } }
}

function manifestOf({ name, spec }: DemoAccount) {
  return { apiVersion: 'bottega.dev/v1alpha1', kind: 'Account', metadata: { name, namespace }, spec }
}

const capabilities = ['app.deploy', 'devbox.manage']
const teams = ['studio']
const demoAccounts = {
  owner: account('demo', { email: 'owner@demo.test', name: 'Demo Studio', plan: 'team', capabilities, teams }),
  free: account('free', { name: 'Free Account', teams }),
  other: account('other', { name: 'Other Account', plan: 'pro' }),
  reviewer: account('reviewer', { name: 'Compliance', plan: 'pro', role: 'reviewer' }),
  admin: account('admin', { name: 'Operator', plan: 'pro', role: 'admin', capabilities }),
}

export type TokenHolder = keyof typeof demoAccounts
export type Tokens = Record<TokenHolder, string>

/** Makes the demo accounts that are absent; one that is there may have been changed by its admin and is left alone. */
export async function createDemoAccounts(kubectl: Kubectl): Promise<void> {
  const present = new Set((await kubectl(['get', 'accounts.bottega.dev', '-n', namespace, '-o', 'name'])).split('\n'))
  const absent = Object.values(demoAccounts).filter(({ name }) => !present.has(`account.bottega.dev/${name}`))
  if (absent.length === 0) return
  await kubectl(['create', '-f', '-'], asList(absent.map(manifestOf)))
}

/** The roots that a cluster keeps for a database that was lost. */
export const rootsKeptBy =
  (kubectl: Kubectl): KeptRoots =>
  async () => {
    const text = await kubectl(['get', 'lease', LEASE_NAME, '-n', namespace, '--ignore-not-found', '-o', 'json'])
    return rootsIn(text.trim() === '' ? undefined : JSON.parse(text).metadata.annotations?.[ROOTS])
  }

/** A full-access token for each demo account. @param key the text of BOTTEGA_SECRET_KEY */
export async function mintDemoTokens(databaseUrl: string, key: string, kept: KeptRoots): Promise<Tokens> {
  const mint = async (holder: TokenHolder) =>
    mintToken(databaseUrl, { account: demoAccounts[holder].name, name: holder, key, kept })
  return {
    owner: await mint('owner'),
    free: await mint('free'),
    other: await mint('other'),
    reviewer: await mint('reviewer'),
    admin: await mint('admin'),
  }
}

const openTokens = `
select id, secret_hash from tokens
where id = any($1::text[]) and revoked_at is null and (expires_at is null or expires_at > now())`

async function tokenHashOf(databaseUrl: string, key: string, kept: KeptRoots) {
  const pg = makePg({ url: databaseUrl, max: 1 })
  try {
    const opened = await openKeys({ pg, secretKeys: readSecretKeys(key), makes: true, kept })
    opened.stop()
    return opened.keys.tokenHash
  } finally {
    await pg.close()
  }
}

/** Whether tokens that were kept still open: their owners may have rotated or revoked them. */
export async function tokensOpen(databaseUrl: string, tokens: Tokens, key: string, kept: KeptRoots): Promise<boolean> {
  const hash = await tokenHashOf(databaseUrl, key, kept)
  const parts = Object.values(tokens).map(parseToken)
  const rows = await query(databaseUrl, openTokens, [parts.flatMap((one) => (one.ok ? [one.id] : []))])
  return parts.every(
    (one) =>
      one.ok && rows.some(({ id, secret_hash }) => id === one.id && hash(one.secret).equals(secret_hash as Buffer)),
  )
}

/** Writes a kubeconfig (0600) with which a process is its own service account and nobody else: never a cluster admin. */
export async function writeServiceKubeconfig(kubectl: Kubectl, process: ProcessName, path: string): Promise<void> {
  const token = await kubectl([
    'create',
    'token',
    serviceAccounts[process],
    '-n',
    namespace,
    `--duration=${tokenLifetime}`,
  ])
  const { server, ca } = await clusterOf(kubectl)
  writeWhole(path, kubeconfigText({ server, ca, user: { token: token.trim() }, namespace }))
}

async function clusterOf(kubectl: Kubectl): Promise<{ server: string; ca: string }> {
  const config = JSON.parse(await kubectl(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json']))
  const cluster: { server: string; 'certificate-authority-data'?: string } = config.clusters[0].cluster
  return { server: cluster.server, ca: cluster['certificate-authority-data'] ?? '' }
}

/** A stand-alone kubeconfig of one context of somebody's own, namespace `default`, so that all later calls are alike. */
export async function copyContext(kubectl: Kubectl, context: string | undefined, path: string): Promise<void> {
  const chosen = context === undefined ? [] : [`--context=${context}`]
  const text = await kubectl(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json', ...chosen])
  const config = JSON.parse(text)
  config.contexts[0].context.namespace = namespace
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
}

const accountsKnownMs = 60_000

/** Waits until the API knows the demo accounts: a token is worth something once the controllers have seen its account. */
export async function accountsKnown(baseUrl: string, tokens: Tokens): Promise<void> {
  let last = ''
  const isKnown = async (token: string) => {
    const response = await fetch(`${baseUrl}/api/invoices?limit=1`, { headers: { authorization: `Bearer ${token}` } })
    last = await response.text()
    return response.status === 200
  }
  const areKnown = async () => (await Promise.all(Object.values(tokens).map(isKnown))).every((known) => known)
  await waitFor('the demo accounts to be known', areKnown, { timeoutMs: accountsKnownMs }).catch((cause) => {
    throw new CommandRefusal(`${messageOf(cause)} The API last said what stands above.`, { detail: last, cause })
  })
}

export type Welcome = { number: string; url: string; password: string | undefined }

/** Sends the first invoice. Its `external_ref` is fixed, so every later start gets the same invoice back, and no mail. */
export async function sendWelcomeInvoice(baseUrl: string, token: string): Promise<Welcome> {
  const invoice = {
    external_ref: 'welcome',
    send: true,
    client_name: 'ACME',
    client_email: 'billing@acme.test',
    currency: 'EUR',
    items: [{ description: 'Welcome to Bottega', qty: 1, unit_cents: 10_000 }],
  }
  const response = await fetch(`${baseUrl}/api/invoices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(invoice),
    signal: AbortSignal.timeout(30_000),
  }).catch((cause) => {
    throw new CommandRefusal(`The first invoice could not be sent: ${messageOf(cause)}.`, { cause })
  })
  const text = await response.text()
  if (response.status !== 200 && response.status !== 201) {
    throw new CommandRefusal(`The first invoice was answered with ${response.status} (see above).`, { detail: text })
  }
  const answer: { number: string; url: string; password?: string } = JSON.parse(text)
  return { number: answer.number, url: answer.url, password: answer.password }
}
