import { makeVault } from '../../../api/devinstance/vault.ts'
import type { Keys } from '../../../controllers/base/keys.ts'
import { makeAppEnv } from '../../../controllers/store/app/app.ts'
import { aboutRelease } from '../../../controllers/store/app/releases.ts'
import { makeDevInstances } from '../../../controllers/store/devinstance/devinstances.ts'
import { makeCredentials } from '../../../controllers/store/host/hosts.ts'
import type { Pg } from '../../../controllers/store/pg/pg.ts'
import { makeEndpoints } from '../../../controllers/store/webhook/endpoints.ts'
import { FORM, formBody } from '../builders/account.ts'
import { makeMinter } from './callers.ts'
import { call, order, type Platform, type Reply } from './invoicing.ts'
import { siteContent } from './publishing.ts'

/** One thing of each kind that is sealed or derived, and the look whether it is still what was given out. */
export type Planted = { name: string; isGood(baseUrl: string, keys: Keys): Promise<boolean> }

const RELEASE = 'app-planted'

/** What is only sealed: opened by the stores, under the keys as they are by then. */
const plantSealed = async (pg: Pg, keys: Keys): Promise<Planted[]> => {
  const env = { DATABASE_PASSWORD: 'planted' }
  const boxes = makeDevInstances({ pg })
  await makeCredentials({ pg, keys }).put('planted', 1, 'a private key')
  await makeAppEnv({ pg, sealer: keys.sealer('app-env') }).putEnv('app-planted', () => env)
  const boxed = makeVault(keys).seal('dev-planted', env)
  const box = `insert into devbox_envs (resource, key, wrapped_key, sealed) values ('dev-planted', 'k', $1, $2)`
  await pg.query('plant_box', box, [boxed.wrappedKey, boxed.sealed])
  const sealed = keys.sealer('app-release').seal(Buffer.from('a release'), aboutRelease(RELEASE, 1))
  await pg.query(
    'plant_release',
    `insert into app_releases (app, number, id, operation, state, source, created_at, sealed)
values ('${RELEASE}', 1, 'rel-planted', 'op', 'failed', 's', now(), $1)`,
    [sealed],
  )
  const release = async (): Promise<Buffer> => {
    const text = `select sealed from app_releases where app = '${RELEASE}'`
    return (await pg.query<{ sealed: Buffer }>('planted_release', text, [])).rows[0]?.sealed ?? Buffer.alloc(0)
  }
  const isEnv = (found: object | undefined) => JSON.stringify(found) === JSON.stringify(env)
  return [
    {
      name: 'the private key of a host',
      isGood: async (_url, now) =>
        (await makeCredentials({ pg, keys: now }).open('planted', 1)) === 'a private key' &&
        (await makeCredentials({ pg, keys: now }).versionOf('planted', 'a private key')) === 1,
    },
    {
      name: 'the env of an app',
      isGood: async (_url, now) =>
        isEnv((await makeAppEnv({ pg, sealer: now.sealer('app-env') }).env('app-planted'))?.env),
    },
    {
      name: 'the env of a dev instance',
      isGood: async (_url, now) => {
        const found = await boxes.env('dev-planted', 'k')
        return found !== null && isEnv(makeVault(now).open('dev-planted', found))
      },
    },
    {
      name: 'a release of an app',
      isGood: async (_url, now) =>
        now
          .sealer('app-release')
          .open(await release(), aboutRelease(RELEASE, 1))
          .toString() === 'a release',
    },
  ]
}

const must = async (reply: Promise<Reply>): Promise<Reply> => {
  const got = await reply
  if (got.status >= 400) throw new Error(got.text)
  return got
}
const answers = (token: string | null, path = '/api/account') => ({
  isGood: async (url: string) => (await call(url, token, 'GET', path)).status === 200,
})

/** What a client of an invoice has, and whoever ordered it. */
const plantInvoice = async ({ baseUrl, owner }: Platform): Promise<Planted[]> => {
  const once = { 'idempotency-key': 'planted' }
  const ask = (url: string, headers: Record<string, string> = {}) =>
    call(url, owner, 'POST', '/api/invoices', order({ external_ref: 'planted' }), headers)
  const sent = await must(ask(baseUrl, once))
  const page = new URL(sent.json.url).pathname
  const enter = (url: string) =>
    call(url, null, 'POST', page, formBody({ password: sent.json.password }), { ...FORM, origin: baseUrl })
  const entered = await must(enter(baseUrl))
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  return [
    { name: 'the link of an invoice', ...answers(null, page) },
    { name: 'the password of a page', isGood: async (url) => (await enter(url)).status === entered.status },
    {
      name: 'the session of a page',
      isGood: async (url) => (await call(url, null, 'GET', `${page}/pdf`, undefined, { cookie })).status === 200,
    },
    {
      name: 'the answer under an idempotency key',
      isGood: async (url) => {
        const again = await ask(url, once)
        return again.headers.get('idempotency-replayed') === 'true' && again.text === sent.text
      },
    },
    {
      name: 'the invoice of a reference',
      isGood: async (url) => {
        const again = await ask(url)
        return again.status === 200 && again.json.url === sent.json.url && again.json.password === sent.json.password
      },
    },
  ]
}

/** What else is given out over REST. */
const plantGiven = async (platform: Platform, pg: Pg): Promise<Planted[]> => {
  const { baseUrl, owner } = platform
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    must(call(baseUrl, owner, 'POST', path, body, headers))
  const minter = makeMinter(platform)
  const session = await minter.session('demo')
  await minter.end()
  const later = await post('/api/invoices', order(), { prefer: 'respond-async' })
  const { secret } = (await post('/api/webhooks', { url: 'https://hooks.invalid/' })).json
  const { site } = (await post('/api/website/generate', { content: siteContent() })).json
  const preview = new URL(site.preview_url).pathname
  const review = `/review/${platform.keys.capability('review', site.id, 1)}`
  const reviewed = await must(call(baseUrl, null, 'GET', review))
  const location = later.headers.get('location') ?? ''
  const signs = `select account from webhook_endpoints where url like 'https://hooks.invalid%'`
  const { rows } = await pg.query<{ account: string }>('planted_endpoint', signs, [])
  return [
    { name: 'a token', ...answers(owner) },
    { name: 'a session', ...answers(session) },
    { name: 'a preview', ...answers(null, preview) },
    {
      name: 'a review',
      isGood: async (url) => (await call(url, null, 'GET', review)).status === reviewed.status,
    },
    { name: 'an operation', ...answers(owner, new URL(location, baseUrl).pathname) },
    {
      name: 'the secret of an endpoint',
      isGood: async (_url, keys) => {
        const endpoints = makeEndpoints({ pg, sealer: keys.sealer('webhook-secret') })
        return (await endpoints.secrets(rows[0]?.account ?? '')).some((one) => one.secret === secret)
      },
    },
  ]
}

/** @param pg of the owner of the tables */
export const plantSecrets = async (platform: Platform, pg: Pg): Promise<Planted[]> => [
  ...(await plantInvoice(platform)),
  ...(await plantGiven(platform, pg)),
  ...(await plantSealed(pg, platform.keys)),
]

/** The names of those that are no longer what was given out. */
export const spoiltOf = async (planted: readonly Planted[], baseUrl: string, keys: Keys): Promise<string[]> => {
  const spoilt: string[] = []
  for (const { name, isGood } of planted) if (!(await isGood(baseUrl, keys).catch(() => false))) spoilt.push(name)
  return spoilt
}
