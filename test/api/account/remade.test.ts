/** An account that is made again under an old name: it opens with nothing of the former, and sees nothing of it. */
import { newToken } from '../../../api/auth/tokens.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Minter, makeMinter } from '../../support/stage/callers.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

const TENANT = 'tenant'
const FIRST = 'first@tenant.test'
const SECOND = 'second@tenant.test'

spec('an account made again', (t) => {
  let platform: Platform
  let minter: Minter
  let admin: string
  const ask = (token: string | null, method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body, headers)
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const apply = (name: string, own: object, annotations: Record<string, string> = {}) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name, annotations },
      spec: { name, plan: 'pro', ...own },
    })
  const remove = (name: string) => platform.kubectl(['delete', 'acct', name])
  const uidOf = (name: string) => platform.kubectl(['get', 'acct', name, '-o', 'jsonpath={.metadata.uid}'])
  const status = async (token: string) => (await ask(token, 'GET', '/api/account')).status
  const isIn = (token: string) => eventually('the account', async () => (await status(token)) === 200)
  const isOut = (token: string) => eventually('the refusal', async () => (await status(token)) === 401)
  const remade = async (name: string): Promise<Json> => {
    const { conditions = [] } = JSON.parse(await platform.kubectl(['get', 'acct', name, '-o', 'json'])).status ?? {}
    return conditions.find(({ type }: Json) => type === 'Remade')
  }

  /** What the first tenant has, and opens with. */
  const former = { uid: '', token: '', reader: '', session: '', invoice: '', number: '' }
  const KEYED = { 'idempotency-key': 'the-same-key' }
  const body = order({ external_ref: 'order-1', client_name: 'Client of the first' })
  const draft = order({ send: false, client_name: 'Draft of the first' })

  t.before(async () => {
    platform = await startPlatform()
    minter = makeMinter(platform)
    await apply('admin', { email: 'admin@demo.test', role: 'admin' })
    admin = await platform.token('admin')
    await isIn(admin)

    await apply(TENANT, { email: FIRST })
    former.token = await platform.token(TENANT)
    await isIn(former.token)
    former.uid = await uidOf(TENANT)
    former.reader = (await minter.token(TENANT)).secret
    former.session = await minter.session(TENANT)
    await ask(former.token, 'PATCH', '/api/invoices/settings/profile', {
      legal_name: 'First Ltd',
      iban: 'DE89370400440532013000',
    })
    await ask(former.token, 'PUT', '/api/website/brand-tokens', { accent: '#aa0000' })
    const made = await ask(former.token, 'POST', '/api/invoices', body)
    assert.is(made.status, 201, made.text)
    Object.assign(former, { invoice: made.json.invoice.id, number: made.json.number })
    assert.is((await ask(former.token, 'POST', '/api/invoices', draft, KEYED)).status, 201)
    const hook = await ask(former.token, 'POST', '/api/webhooks', { url: `https://${newToken().id}.invalid/` })
    assert.is(hook.status, 201, hook.text)
    for (const account of [TENANT, 'demo']) await possess(account)
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  /** A host, a dev instance that reports, an operation, and what was laid ready for resources that never came. */
  const possess = async (account: string): Promise<void> => {
    const hostKey = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
    const of = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Host', metadata: { name: `host-of-${account}` } }
    const spec = { account, address: '192.0.2.1', user: 'deploy', hostKey }
    await sql(`insert into host_credentials (host, version, sealed) values ($1, 1, 'x')`, [of.metadata.name])
    await platform.kubectl(['apply', '-f', '-'], { ...of, spec })
    await eventually('the host', async () => {
      const rows = await sql(`select from mirror where kind = 'Host' and name = $1`, [of.metadata.name])
      return rows.length === 1
    })
    await sql(
      `insert into devboxes (resource, account, name, committed_micro_usd, pricing_version, box, token_hash, reserved_at)
      values ($1, $2, 'box', 1, '1', '{}', decode(repeat('ab', 32), 'hex'), now()), ($1 || '-never', $2, 'never', 1, '1', null, null, now())`,
      [`dev-of-${account}`, account],
    )
    await sql(
      `insert into operations (id, account, method, path, scope, kind, name, resource, command, goal, state, created_at)
      values ($1, $2, 'POST', '/api/invoices', '{}', 'Invoice', 'inv-1', '/api/invoices/inv-1', 'x', 'x', 'pending', now())`,
      [`op-of-${account}`, account],
    )
    await sql(`insert into site_places (site, account) values ($1, $2)`, [`site-of-${account}`, account])
    await sql(`insert into site_names (name, site, account) values ($1, $2, $3)`, [
      `name-of-${account}`,
      `site-of-${account}`,
      account,
    ])
    await sql(
      `insert into app_slugs (host, slug, account, app) values ('local', $1, $2, $3), ('local', $1 || '-kept', $2, null)`,
      [`slug-of-${account}`, account, `app-of-${account}`],
    )
  }
  /** What of it is there, by name. */
  const possessions = async (account: string): Promise<Record<string, number>> => {
    const [counted] = await sql(
      `select (select count(*)::int from host_credentials where host = 'host-of-' || $1) as keys,
        (select count(*)::int from devboxes where account = $1 and token_hash is not null) as "report tokens",
        (select count(*)::int from devboxes where account = $1 and box is null) as reserved,
        (select count(*)::int from operations where account = $1) as operations,
        (select count(*)::int from site_places where account = $1) + (select count(*)::int from site_names where account = $1)
          as sites,
        (select count(*)::int from app_slugs where account = $1 and app is not null) as slugs,
        (select count(*)::int from app_slugs where account = $1 and app is null) as volumes`,
      [account],
    )
    return counted as Record<string, number>
  }
  const ALL = { keys: 1, 'report tokens': 1, reserved: 1, operations: 1, sites: 2, slugs: 1, volumes: 1 }

  t('ends at its deletion: tokens, sessions, endpoints and kept answers', async () => {
    await remove(TENANT)
    for (const credential of [former.token, former.reader, former.session]) await isOut(credential)
    await eventually('the end of all', async () => {
      const [left] = await sql(
        `select (select count(*) from tokens where account = $1 and revoked_at is null)
          + (select count(*) from sessions where account = $1 and revoked_at is null)
          + (select count(*) from webhook_endpoints where account = $1)
          + (select count(*) from idempotency where account = $1) as n`,
        [TENANT],
      )
      return Number(left?.n) === 0
    })
  })

  t(
    'and report tokens, operations, keys of hosts and what was laid ready; nobody gets the names of its volumes',
    async () => {
      const none = Object.fromEntries(Object.keys(ALL).map((name) => [name, 0]))
      await eventually('the end of all', async () => (await possessions(TENANT)).keys === 0).catch(() => {})
      assert.equal(await possessions(TENANT), { ...none, volumes: 1 })
      assert.equal(await possessions('demo'), ALL)
    },
  )

  t('is another one where it is made for somebody else, and says so', async () => {
    const made = await ask(admin, 'POST', '/api/admin/accounts', { id: TENANT, email: SECOND, plan: 'pro' })
    assert.equal([made.status, made.json.account?.id], [201, TENANT], made.text)
    for (const credential of [former.token, former.reader, former.session]) assert.is(await status(credential), 401)
    const found = await eventually('the condition', () => remade(TENANT))
    assert.is(found.reason, 'FormerAccountKept')
    assert.match(found.message, new RegExp(`had the uid ${former.uid}.*account: tenant\\.\\.2`))
  })

  t('sees nothing of the former one, and does what it does as if there had been none', async () => {
    const token = await platform.token(TENANT)
    await isIn(token)
    const read = async (path: string) => {
      const reply = await ask(token, 'GET', path)
      assert.is(reply.status, 200, `${path}: ${reply.text}`)
      assert.not.match(reply.text, /First Ltd|of the first|first@tenant|DE8937|aa0000/, path)
      return reply.json
    }
    assert.is((await read('/api/account')).account.email, SECOND)
    assert.is((await read('/api/invoices')).total, 0)
    assert.equal((await read('/api/invoices/numbering')).series, [])
    assert.equal((await read('/api/invoices/reconciliation')).rollup, [])
    assert.is((await read('/api/events')).last, 0)
    assert.is((await read('/api/webhooks')).total, 0)
    assert.is((await read('/api/website')).total, 0)
    assert.is((await read('/api/auth/tokens')).total, 1)
    for (const path of ['/api/invoices/settings/profile', '/api/invoices/issuers', '/api/audit']) await read(path)
    assert.is((await ask(token, 'GET', `/api/invoices/${former.invoice}`)).status, 404)
    const again = await ask(token, 'POST', '/api/invoices', { ...draft, client_name: 'Draft of the second' }, KEYED)
    assert.equal([again.status, again.json.invoice?.client_name], [201, 'Draft of the second'], again.text)
    const made = await ask(token, 'POST', '/api/invoices', { ...body, client_name: 'Client of the second' })
    assert.equal([made.status, made.json.number], [201, former.number], made.text)
    assert.is.not(made.json.invoice.id, former.invoice)
    assert.is((await ask(token, 'POST', '/api/webhooks', { url: `https://${newToken().id}.invalid/` })).status, 201)
    const register = await read('/api/invoices/numbering')
    assert.equal([register.series.length, register.series[0].count, register.series[0].verified], [1, 1, true])
  })

  t('leaves the records of the former one to whom an administrator names as the one that continues it', async () => {
    await apply('tenant-records', { email: 'archive@demo.test' }, { 'bottega.dev/continues': former.uid })
    await eventually('the condition', async () => (await remade('tenant-records'))?.reason === 'Continued')
    const token = await platform.token('tenant-records')
    await isIn(token)
    const { json } = await ask(token, 'GET', '/api/invoices')
    assert.equal(json.invoices.map(({ client_name }: Json) => client_name).sort(), [
      'Client of the first',
      'Draft of the first',
    ])
    const register = (await ask(token, 'GET', '/api/invoices/numbering')).json.series
    assert.equal([register.length, register[0].verified], [1, true])
    for (const credential of [former.token, former.reader, former.session]) assert.is(await status(credential), 401)
  })

  t('goes on where nobody saw it deleted and its owner has the same address; a stranger does not', async () => {
    for (const name of ['kept', 'lost']) await apply(name, { email: `${name}@tenant.test` })
    const [kept, lost] = [await platform.token('kept'), await platform.token('lost')]
    await Promise.all([isIn(kept), isIn(lost)])
    const [before] = [await uidOf('kept')]
    await platform.controllers.stop()
    for (const name of ['kept', 'lost']) await remove(name)
    await apply('kept', { email: 'KEPT@tenant.test' })
    await apply('lost', { email: 'stranger@tenant.test' })
    await platform.controllers.start()
    const found = await eventually('the condition', () => remade('kept'))
    assert.equal([found.reason, found.message.includes(before)], ['Continued', true])
    await isIn(kept)
    assert.is((await eventually('the condition', () => remade('lost'))).reason, 'FormerAccountKept')
    await isOut(lost)
  })

  t('is another one however fast it is made again', async () => {
    await apply('quick', { email: 'quick@tenant.test' })
    const token = await platform.token('quick')
    await isIn(token)
    const uid = await uidOf('quick')
    await platform.kubectl(['replace', '--force', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'quick' },
      spec: { email: 'quick@tenant.test' },
    })
    assert.is.not(await uidOf('quick'), uid)
    await isOut(token)
    assert.is((await eventually('the condition', () => remade('quick'))).reason, 'FormerAccountKept')
    assert.is(await status(token), 401)
  })
})
