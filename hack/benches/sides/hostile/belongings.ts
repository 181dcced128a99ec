import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { Kubectl } from '../../../platform/kubectl.ts'

/** An account on the free plan that may all that an administrator grants, and one of each thing, so that its bodies get as far as they can. */

/** What a path means by its places, by where the path begins; the first that fits. */
export type Belongings = { places: readonly (readonly [start: string, id: string])[]; link: string }

type Attacker = { baseUrl: string; token: string; account: string; kubectl: Kubectl }

const CAPABILITIES = ['app.deploy', 'devbox.manage']
const WAIT_MS = 60_000
const INVOICE = {
  ...{ client_name: 'ACME', client_email: 'billing@acme.test', currency: 'EUR', due_date: '2027-12-20' },
  items: [{ description: 'Retainer', qty: 1, unit_cents: 100 }],
}
const BOX = {
  ...{ name: 'hostile-box', sizeClass: 'XS', arch: 'arm64', agents: ['claude-code'] },
  repo: { url: 'https://git.acme.test/shop.git', ref: 'main' },
  policy: { idleMinutes: 30, autoscale: 'ask' },
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, field by field
type Json = any

const asking =
  ({ baseUrl, token }: Attacker) =>
  async (method: 'GET' | 'POST', path: string, sent?: unknown): Promise<{ status: number; json: Json }> => {
    const { statusCode, body } = await request(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(sent !== undefined && { 'content-type': 'application/json' }) },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    })
    const text = await body.text()
    return { status: statusCode, json: text === '' ? {} : JSON.parse(text) }
  }

/** Until it is granted, known or seen. @throws Error with the last answer */
const until = async (what: string, look: () => Promise<{ status: number; json: Json }>): Promise<Json> => {
  for (const endMs = performance.now() + WAIT_MS; ; await sleep(200)) {
    const { status, json } = await look()
    if (status < 300) return json
    if (performance.now() > endMs) throw new Error(`${what} was answered ${status}: ${JSON.stringify(json)}`)
  }
}

/** On a host that nobody reaches. */
const makeApp = async ({ kubectl, account }: Attacker): Promise<void> => {
  const apply = (kind: string, name: string, spec: object) =>
    kubectl(['apply', '-n', 'default', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind,
      metadata: { name },
      spec,
    })
  const hostKey = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
  const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey }
  await apply('Host', 'hostile-host', { ...at, baseDomain: 'away.test', class: 'owned', account })
  await apply('App', 'app-hostile', { account, slug: 'hostile', hostId: 'hostile-host' })
}

export const makeBelongings = async (attacker: Attacker): Promise<Belongings> => {
  const { kubectl, account } = attacker
  const granted = JSON.stringify({ spec: { capabilities: CAPABILITIES } })
  await kubectl(['patch', `account.bottega.dev/${account}`, '-n', 'default', '--type=merge', '-p', granted])
  await makeApp(attacker)
  const ask = asking(attacker)
  const made = (path: string, body: unknown) => until(`POST ${path}`, () => ask('POST', path, body))
  const { invoice } = await made('/api/invoices', INVOICE)
  const sent = await made('/api/invoices', { ...INVOICE, send: true })
  const { issuer } = await made('/api/invoices/issuers', {})
  const { endpoint } = await made('/api/webhooks', { url: 'https://hostile.invalid/' })
  const { site } = await made('/api/website/generate', { content: { meta: { company_name: 'Hostile' } } })
  const { devbox } = await made('/api/devboxes', BOX)
  const { token } = await made('/api/auth/tokens', { name: 'second', preset: 'invoicing' })
  for (const path of ['/api/apps/app-hostile', '/api/apps/hosts/hostile-host'])
    await until(`GET ${path}`, () => ask('GET', path))
  return {
    link: new URL(sent.url).pathname.split('/')[2] ?? '',
    places: [
      ['/api/invoices/issuers/', issuer.id],
      ['/api/invoices/', invoice.id],
      ['/api/webhooks/', endpoint.id],
      ['/api/website/', site.id],
      ['/api/devboxes/', devbox.id],
      ['/api/apps/hosts/', 'hostile-host'],
      ['/api/apps/registries/', 'registry.hostile.test'],
      ['/api/apps/', 'app-hostile'],
      ['/api/auth/tokens/', token.id],
    ],
  }
}

/** @param path `/api/invoices/{id}` or `/api/invoices/:id` */
export const pathAmong = ({ places, link }: Belongings, path: string): string => {
  const [, id = 'unknown'] = places.find(([start]) => path.startsWith(start)) ?? []
  const values: Record<string, string> = { id, host: id, token: link, name: 'data' }
  return path.replace(/\{(\w+)\}|:(\w+)/g, (_, one?: string, other?: string) => values[one ?? other ?? ''] ?? 'unknown')
}
