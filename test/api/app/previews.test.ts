import { query } from '../../../hack/platform/postgres.ts'
import { addAwayHost } from '../../support/builders/app/awayhost.ts'
import { type ServedRepository, startRepository } from '../../support/builders/sources/repository.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Previews over REST, on a host that is approved and cannot be reached: their names, their limits, and what a refusal leaves. */

const COMPOSE = 'services:\n  web:\n    image: docker.io/library/nginx:1.29\n    expose: ["80"]\n'
const MACHINE = { arch: 'amd64', capacity: { cpuMillis: 64_000, memoryMib: 131_072, diskGib: 2_000 } }
/** Of one app and not of two. */
const SMALL = { arch: 'amd64', capacity: { cpuMillis: 64_000, memoryMib: 1_500, diskGib: 2_000 } }
const DAY_MS = 86_400_000
const LIMIT = 10

spec('previews over REST', (t) => {
  let platform: Platform
  let other: string
  let served: ServedRepository
  let shop: Json
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const sql = (text: string) => query(platform.database.url, text)
  const host = (name: string, machine: typeof MACHINE) =>
    addAwayHost(platform, {
      ...{ name, machine },
      spec: { approved: true, class: 'shared', overcommit: { memoryPercent: 100 } },
    })
  const app = (slug: string, hostId: string, token = platform.owner) =>
    eventually(`the app ${slug}`, async () => {
      const { status, json } = await call(platform.baseUrl, token, 'POST', '/api/apps', { slug, host_id: hostId })
      return status === 201 && (json.app as Json)
    })
  const branch = (...names: string[]) => {
    for (const name of names) served.git('branch', '-f', name)
  }
  const ask = (ref: string, more: object = {}, of = shop) =>
    api('POST', `/api/apps/${of.id}/previews`, { ref, git: { url: served.url }, ...more })
  const made = async (ref: string, more: object = {}): Promise<Json> => {
    const { status, json, text } = await ask(ref, more)
    assert.is(status, 201, text)
    return json.preview
  }
  /** All that a preview takes before it is one. */
  const taken = async () => {
    const tables = ['app_previews', 'app_slugs', 'app_rooms', 'app_uploads', 'app_env', 'app_passwords']
    const counts = tables.map(async (table) => {
      const [row] = await sql(`select count(*)::int as n from ${table}`)
      return `${table} ${row?.n}`
    })
    return (await Promise.all(counts)).sort()
  }

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    other = await platform.token('other')
    for (const account of ['demo', 'other']) {
      await platform.kubectl([
        'patch',
        'acct',
        account,
        '--type=merge',
        '-p',
        '{"spec":{"capabilities":["app.deploy"]}}',
      ])
    }
    await host('large', MACHINE)
    await host('small', SMALL)
    served = await startRepository()
    served.commit({ 'compose.yaml': COMPOSE })
    shop = await app('shop', 'large')
  })
  t.after(async () => {
    await served.end()
    await platform.end()
  })

  t('say what is wrong with what was asked, where, and leave nothing', async () => {
    branch('fine')
    const before = await taken()
    const soon = (ms: number) => new Date(Date.now() + ms).toISOString()
    const bad: [object, string, string][] = [
      [{ ref: '' }, 'INVALID_FIELD', '/ref'],
      [{ ref: 'r'.repeat(201) }, 'INVALID_FIELD', '/ref'],
      [{ ref: 7 }, 'INVALID_FIELD', '/ref'],
      [{ ref: 'fine', ttl: '0m' }, 'INVALID_FIELD', '/ttl'],
      [{ ref: 'fine', ttl: '4m' }, 'INVALID_FIELD', '/ttl'],
      [{ ref: 'fine', ttl: '31d' }, 'INVALID_FIELD', '/ttl'],
      [{ ref: 'fine', ttl: '99999d' }, 'INVALID_FIELD', '/ttl'],
      [{ ref: 'fine', ttl: '1h', expires_at: soon(DAY_MS) }, 'INVALID_FIELD', '/expires_at'],
      [{ ref: 'fine', expires_at: soon(-DAY_MS) }, 'INVALID_FIELD', '/expires_at'],
      [{ ref: 'fine', expires_at: soon(31 * DAY_MS) }, 'INVALID_FIELD', '/expires_at'],
      [{ ref: 'fine', expires_at: 'tomorrow' }, 'INVALID_FIELD', '/expires_at'],
      [{ ref: 'fine', git: {} }, 'INVALID_FIELD', '/git/url'],
      [{ ref: 'fine', access: 'secret' }, 'INVALID_FIELD', '/access'],
      [{ ref: 'fine', password: 'short' }, 'INVALID_FIELD', '/password'],
      [{ ref: 'fine', env: { 'NOT A NAME': 'x' } }, 'BAD_ENV', '/env/NOT A NAME'],
      [{ ref: 'fine', until: 'then' }, 'UNKNOWN_FIELD', '/until'],
    ]
    for (const [body, code, pointer] of bad) {
      const { status, json } = await ask('fine', body)
      assert.equal([status, json.code, json.errors?.[0]?.pointer], [400, code, pointer], JSON.stringify(body))
    }
    const instant = await ask('fine', { expires_at: '2026-02-30T10:00:00Z' })
    assert.match(instant.json.errors[0].detail, 'must be an instant with its zone, as 2026-12-20T10:00:00Z')
    const gone = await ask('no-such-branch')
    assert.equal([gone.status, gone.json.code], [409, 'GIT_FAILED'], gone.text)
    assert.match(gone.text, 'no-such-branch')
    const theirs = await call(platform.baseUrl, other, 'POST', `/api/apps/${shop.id}/previews`, { ref: 'fine' })
    assert.equal([theirs.status, theirs.json.code], [404, 'NOT_FOUND'])
    assert.equal(await taken(), before)
  })

  t('have names of their own, also where branches are left with the same, or another app has it', async () => {
    branch('feature/basket', 'feature-basket', 'FEATURE.basket', 'tall')
    await app('tall--shop', 'large', other)
    const names: string[] = []
    for (const ref of ['feature/basket', 'feature-basket', 'FEATURE.basket', 'tall']) {
      names.push((await made(ref)).hostname)
    }
    assert.is(names[0], 'feature-basket--shop.large.test')
    for (const name of names.slice(1, 3)) assert.match(name, /^feature-basket-[0-9a-f]{4}--shop\.large\.test$/)
    assert.match(names[3] ?? '', /^tall-[0-9a-f]{4}--shop\.large\.test$/)
    assert.is(new Set(names).size, 4)
  })

  t('are made where their app lives, whatever host it was wished to and did not come to', async () => {
    const settled = await app('settled', 'large')
    await platform.kubectl(['patch', 'bapp', settled.id, '--type=merge', '-p', '{"spec":{"hostId":"small"}}'])
    await eventually('the wish to be refused', async () => {
      const [row] = await sql(`select state from app_operations where kind = 'move' and app = '${settled.id}'`)
      return row?.state === 'failed'
    })
    branch('stays')
    const { status, json, text } = await ask('stays', {}, settled)
    assert.is(status, 201, text)
    assert.is(json.preview.hostname, 'stays--settled.large.test')
    const preview = (await api('GET', `/api/apps/${json.preview.id}`)).json.app
    assert.is(preview.host_id, 'large')
    const [room] = await sql(`select host from app_rooms where app = '${json.preview.id}'`)
    assert.is(room?.host, 'large')
  })

  t('are one of a branch, whoever asks at the same moment', async () => {
    branch('race')
    const replies = await Promise.all(Array.from({ length: 6 }, () => ask('race')))
    const told = replies.map(({ status, json }) => `${status} ${json.preview?.id ?? json.code}`)
    const ids = new Set(replies.flatMap(({ json }) => json.preview?.id ?? []))
    assert.is(ids.size, 1, told.join(', '))
    assert.ok(
      replies.every(({ status, json }) => status < 300 || ['PREVIEW_TAKEN', 'TOO_MANY_REQUESTS'].includes(json.code)),
      told.join(', '),
    )
    const { json } = await api('GET', `/api/apps/${shop.id}/previews`)
    assert.is(json.previews.filter(({ ref }: Json) => ref === 'race').length, 1)
  })

  t('are made by whoever asks next, where nobody came back after the first word of one', async () => {
    branch('lost')
    const name = `app-${'5'.repeat(32)}`
    // all that a process which died at once has left
    const taken = `select outcome from take_app_preview('${name}', '${shop.id}', 'demo', 'lost', ${LIMIT}, now() + interval '1 hour', now())`
    assert.equal(await sql(taken), [{ outcome: 'taken' }])
    const preview = await made('lost')
    assert.is(preview.id, name)
    const again = await ask('lost')
    assert.equal([again.status, again.json.preview?.id], [200, name], again.text)
  })

  t('tell whoever repeats a request under its key the same, with the password that opens them', async () => {
    branch('kept')
    const key = { 'idempotency-key': 'preview-of-kept' }
    const body = { ref: 'kept', git: { url: served.url } }
    const first = await api('POST', `/api/apps/${shop.id}/previews`, body, key)
    assert.is(first.status, 201, first.text)
    // as if its process had died before it could note what it answered
    await sql(
      `update idempotency set state = 'running', sealed = null, lease_until = now() - interval '1 second' where state = 'answered'`,
    )
    const again = await api('POST', `/api/apps/${shop.id}/previews`, body, key)
    assert.equal(
      [again.status, again.json.preview?.id, again.json.password],
      [201, first.json.preview.id, first.json.password],
      again.text,
    )
  })

  t('are ended where nobody has made more than the first word of one', async () => {
    const name = `app-${'6'.repeat(32)}`
    await sql(
      `select take_app_preview('${name}', '${shop.id}', 'demo', 'never', ${LIMIT}, now() + interval '1 hour', now())`,
    )
    const gone = await api('DELETE', `/api/apps/${shop.id}/previews/${name}`)
    assert.is(gone.status, 204, gone.text)
    assert.equal(await sql(`select app from app_previews where ref = 'never'`), [])
  })

  t('are ten of an app, none of a preview, and again the same branch goes on beside that', async () => {
    const { json } = await api('GET', `/api/apps/${shop.id}/previews`)
    for (let n = json.total; n < LIMIT; n++) {
      branch(`filler-${n}`)
      await made(`filler-${n}`)
    }
    branch('one-more')
    const before = await taken()
    const full = await ask('one-more', { env: { A: 'b' } })
    assert.equal([full.status, full.json.code], [409, 'PREVIEW_LIMIT'], full.text)
    assert.equal(
      (await taken()).filter((line) => !line.startsWith('app_uploads')),
      before.filter((line) => !line.startsWith('app_uploads')),
    )
    const again = await ask('race', { ttl: '2h' })
    assert.is(again.status, 200, again.text)
    const nested = await ask('race', {}, { id: again.json.preview.id })
    assert.equal([nested.status, nested.json.code], [409, 'BAD_PREVIEW'], nested.text)
  })

  t('need room on the host of their app, and leave nothing where it has none', async () => {
    const little = await app('little', 'small')
    const before = await taken()
    const { status, json, text } = await ask('fine', {}, little)
    assert.equal([status, json.code], [409, 'HOST_FULL'], text)
    const kept = (lines: string[]) => lines.filter((line) => !line.startsWith('app_uploads'))
    assert.equal(kept(await taken()), kept(before))
  })

  t(
    'of an app that never got its name leave nothing when that is deleted: what is sealed for it goes too',
    async () => {
      const name = 'app-nameless'
      const spec = { account: 'demo', slug: shop.slug, hostId: 'large', access: 'public', applicationPolicy: 'none' }
      const manifest = { apiVersion: 'bottega.dev/v1alpha1', kind: 'App', metadata: { name }, spec }
      await platform.kubectl(['apply', '-f', '-'], manifest)
      await eventually('it to be stalled', async () => {
        const { json } = await api('GET', `/api/apps/${name}`)
        return json.app?.stalled?.code === 'SLUG_TAKEN'
      })
      const env = await api('PUT', `/api/apps/${name}/env`, { env: { SECRET: 'of nobody any more' } })
      assert.ok(env.status < 300 || env.json.code === 'SLUG_TAKEN', env.text)
      const held = async () => {
        const tables = await sql(`select table_name as name from information_schema.columns
        where column_name = 'app' and table_name like 'app\\_%' and table_schema = 'public'`)
        const counts = tables.map(async ({ name: table }) => {
          const [row] = await sql(`select count(*)::int as n from ${table} where app = '${name}'`)
          return Number(row?.n) > 0 ? [String(table)] : []
        })
        return (await Promise.all(counts)).flat().sort()
      }
      assert.ok((await held()).includes('app_env'), 'there is something to be taken away')
      await platform.kubectl(['delete', 'bapp', name])
      await eventually('it to be gone', async () => (await api('GET', `/api/apps/${name}`)).status === 404)
      assert.equal(await held(), [])
      assert.is((await api('GET', `/api/apps/${shop.id}`)).json.app.stalled?.code === 'SLUG_TAKEN', false)
    },
  )
})
