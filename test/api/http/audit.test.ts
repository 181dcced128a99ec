import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange } from '../../../api/http/exchange.ts'
import { Problem } from '../../../api/http/problem.ts'
import { makeAudit, makeAuditStage, recordAudit } from '../../../api/http/stages/audit.ts'
import { type AuditEntry, makeAppendAudit, makeAuditReader } from '../../../controllers/store/audit.ts'
import { DatabaseUnavailable, makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query, withConnection } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const AT = '2026-11-21T12:00:00.000Z'
const entry = (once: string, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  account: 'demo',
  once,
  at: AT,
  who: { kind: 'token', id: 't1' },
  what: { verb: 'POST /api/things', resource: '/api/things/1', fields: ['name'] },
  ip: '127.0.0.1',
  requestId: once,
  status: 201,
  ...changes,
})

/** As somebody who may do everything on the server would: past the trigger. */
const tamper = (url: string, statement: string) =>
  withConnection(url, async (run) => {
    await run("set session_replication_role = 'replica'")
    await run(statement)
  })

spec('the audit', (t) => {
  let database: Database
  let pg: Pg
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.apiUrl })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('chains each account by itself, whoever writes at once, and leaves out what it has', async () => {
    const writers = [makeAppendAudit({ pg }), makeAppendAudit({ pg })]
    const of = (n: number) => entry(`e${n % 100}`, { account: n % 2 ? 'demo' : 'other' })
    await Promise.all(Array.from({ length: 200 }, (_, n) => writers[n % 2]?.(of(n))))
    const reader = makeAuditReader({ pg })
    for (const account of ['demo', 'other']) {
      const verdict = await reader.verify(account)
      assert.equal([verdict.count, verdict.firstBad], [50, null])
    }
  })

  t('can be recomputed by anybody with sha256', async () => {
    const sha = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')
    let hash = sha('audit/demo')
    const rows = await query(database.url, "select seq, once, entry from audit where account = 'demo' order by seq")
    for (const { seq, once, entry } of rows) hash = sha([hash, 'demo', seq, AT, once, entry].join('\n'))
    assert.is((await makeAuditReader({ pg }).verify('demo')).headHash, hash)
  })

  t('refuses update, delete and truncate', async () => {
    for (const statement of [
      'update audit set entry = entry',
      'delete from audit',
      'truncate audit',
      'delete from audit_heads',
    ]) {
      await assert.rejects(query(database.url, statement), /append-only/)
    }
  })

  t('an entry holds one line of each text and names at most', async () => {
    const append = makeAppendAudit({ pg })
    const what = { verb: 'PATCH /x', resource: `a\nb${'x'.repeat(1000)}\ud800`, fields: Array(500).fill('f') }
    await append(entry('long', { account: 'long', what }))
    const { rows } = await makeAuditReader({ pg }).list({ account: 'long', since: null }, { limit: 1, offset: 0 })
    assert.match(rows[0]?.what.resource ?? '', /^a bx+$/)
    assert.is(rows[0]?.what.fields.length, 100)
    assert.is((await makeAuditReader({ pg }).verify('long')).firstBad, null)
  })

  const spoiled: [string, string, number][] = [
    ['an altered entry', "update audit set entry = replace(entry, '127.0.0.1', '10.0.0.1') where seq = 3", 3],
    ['an altered instant', "update audit set at = at + interval '1 ms' where seq = 2", 2],
    ['a missing entry', 'delete from audit where seq = 4', 4],
    ['a cut tail', 'delete from audit where seq > 8', 9],
    ['two entries that changed places', 'update audit set seq = 11 - seq where seq in (5, 6)', 5],
    ['an altered hash', "update audit set hash = decode(repeat('00', 32), 'hex') where seq = 10", 10],
  ]
  for (const [say, statement, firstBad] of spoiled) {
    t(`finds ${say}`, async () => {
      const own = await makeDatabase()
      const ownPg = makePg({ url: own.apiUrl })
      const append = makeAppendAudit({ pg: ownPg })
      await Promise.all(Array.from({ length: 10 }, (_, n) => append(entry(`e${n}`))))
      assert.is((await makeAuditReader({ pg: ownPg }).verify('demo')).firstBad, null)
      await tamper(own.url, statement.replace('seq = 11 - seq', 'seq = 100 + 11 - seq'))
      if (statement.includes('11 - seq')) await tamper(own.url, 'update audit set seq = seq - 100 where seq > 100')
      assert.is((await makeAuditReader({ pg: ownPg }).verify('demo')).firstBad, firstBad)
      await ownPg.close()
      await own.drop()
    })
  }
})

spec('the audit stage', (t) => {
  const exchange = (changes: object = {}) =>
    ({
      route: { method: 'PATCH', path: '/api/things/:id', scope: { kind: 'token' } },
      method: 'PATCH',
      url: '/api/things/7?secret=x',
      params: { id: '7' },
      caller: { account: 'demo', by: { kind: 'session', id: 's1' } },
      body: { name: 'canary', env: { KEY: 'canary' } },
      ip: '10.1.2.3',
      requestId: 'r1',
      ...changes,
    }) as unknown as Exchange
  const now = () => new Date(AT)
  const recorder = () => {
    const written: AuditEntry[] = []
    const audit = makeAudit({ append: async (one) => written.push(one) })
    return { written, audit, stage: makeAuditStage({ audit, now }) }
  }

  t('says who, what, from where and how it ended; names, never values', async () => {
    const { written, stage } = recorder()
    await stage(exchange(), async () => ({ status: 200 }))
    assert.equal(written, [
      {
        account: 'demo',
        once: 'r1',
        at: AT,
        who: { kind: 'session', id: 's1' },
        what: { verb: 'PATCH /api/things/:id', resource: '/api/things/7', fields: ['name', 'env.KEY'] },
        ip: '10.1.2.3',
        requestId: 'r1',
        status: 200,
      },
    ])
  })

  t('writes refusals and failures as they are answered', async () => {
    const { written, stage } = recorder()
    await assert.rejects(stage(exchange(), () => Promise.reject(new Problem('LOCKED_PAID', 'x'))))
    await assert.rejects(stage(exchange(), () => Promise.reject(new DatabaseUnavailable('x'))))
    await assert.rejects(stage(exchange(), () => Promise.reject(new Error('x'))))
    assert.equal(
      written.map(({ status }) => status),
      [409, 503, 500],
    )
  })

  t('leaves reads and strangers alone', async () => {
    const { written, stage } = recorder()
    await stage(exchange({ method: 'GET' }), async () => ({ status: 200 }))
    await stage(exchange({ caller: undefined }), async () => ({ status: 200 }))
    assert.equal(written, [])
  })

  t("an admin's change stands in both chains, a refused one only in the admin's", async () => {
    const { written, stage } = recorder()
    const route = { method: 'PATCH', path: '/api/admin/accounts/:id', scope: { kind: 'token' } }
    await stage(exchange({ route, params: { id: 'victim' } }), async () => ({ status: 200 }))
    await assert.rejects(
      stage(exchange({ route, params: { id: 'nobody' } }), () => Promise.reject(new Problem('NOT_FOUND', 'x'))),
    )
    assert.equal(
      written.map(({ account }) => account),
      ['demo', 'victim', 'demo'],
    )
  })

  t('a sign-in is an event of its own', async () => {
    const { written, audit } = recorder()
    const who = { kind: 'anonymous' } as const
    await recordAudit({ audit, now }, { account: 'demo', who, verb: 'sign in', ip: '::1', requestId: 'r', status: 303 })
    assert.equal(written[0]?.what, { verb: 'sign in', resource: null, fields: [] })
  })

  t('a mutation that happened is answered; the next is not begun until the audit is written', async () => {
    let away = true
    const written: string[] = []
    const audit = makeAudit({
      append: async ({ once }) => {
        if (away) throw new DatabaseUnavailable('away')
        written.push(once)
      },
    })
    const stage = makeAuditStage({ audit, now })
    assert.is((await stage(exchange(), async () => ({ status: 201 }))).status, 201)
    let began = false
    const second = stage(exchange({ requestId: 'r2' }), async () => {
      began = true
      return { status: 201 }
    })
    const refused = (await assert.rejects(second)) as Problem
    assert.equal([refused.code, began], ['UNAVAILABLE', false])
    away = false
    await eventually('the entry that waited', async () => audit.waiting() === 0)
    assert.equal(written, ['r1'])
    assert.is((await stage(exchange({ requestId: 'r3' }), async () => ({ status: 201 }))).status, 201)
    await audit.close()
  })

  t('what waits is written when it is asked for, before the end, and at the end', async () => {
    let away = true
    const written: string[] = []
    const audit = makeAudit({
      append: async ({ once }) => {
        if (away) throw new DatabaseUnavailable('away')
        written.push(once)
      },
    })
    const stage = makeAuditStage({ audit, now })
    await stage(exchange(), async () => ({ status: 201 }))
    await audit.flush()
    assert.equal([audit.waiting(), written], [1, []])
    away = false
    await audit.flush()
    assert.equal([audit.waiting(), written], [0, ['r1']])
    away = true
    await stage(exchange({ requestId: 'r2' }), async () => ({ status: 201 }))
    away = false
    await audit.close()
    assert.equal(written, ['r1', 'r2'])
  })
})

spec('the audit of a platform', (t) => {
  let platform: Platform
  const api = (method: string, path: string, body?: unknown, token = platform.owner) =>
    call(platform.baseUrl, token, method, path, body)
  const entries = async (params = '') => (await api('GET', `/api/audit${params}`)).json.entries
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('tells each kind of mutation, once, with its outcome', async () => {
    const made = await api('POST', '/api/invoices', order({ send: false }))
    const id = made.json.invoice.id
    await api('PATCH', `/api/invoices/${id}`, { terms: 'canary-terms' })
    await api('PATCH', '/api/invoices/settings/profile', { footer: 'canary-footer' })
    await api('DELETE', `/api/invoices/${id}`)
    await api('DELETE', `/api/invoices/${id}`)
    const { json } = await api('GET', '/api/audit')
    const told = json.entries
      .filter(({ who }: { who: { kind: string } }) => who.kind === 'token')
      .map(({ what, status }: { what: { verb: string }; status: number }) => [what.verb, status])
    assert.equal(told, [
      ['DELETE /api/invoices/:id', 404],
      ['DELETE /api/invoices/:id', 204],
      ['PATCH /api/invoices/settings/profile', 200],
      ['PATCH /api/invoices/:id', 200],
      ['POST /api/invoices', 201],
    ])
    const patch = json.entries.find(({ what }: { what: { verb: string } }) => what.verb === 'PATCH /api/invoices/:id')
    assert.equal(patch.what, { verb: 'PATCH /api/invoices/:id', resource: `/api/invoices/${id}`, fields: ['terms'] })
    assert.is(patch.who.id, platform.owner.split('_')[1])
    assert.ok(patch.ip.includes('127.0.0.1') && patch.request_id.length === 36)
    assert.not.match(JSON.stringify(json), /canary/)
  })

  t('pages, newest first, since an instant', async () => {
    const all = await entries()
    assert.equal(
      (await entries('?limit=2&offset=1')).map((one: { seq: number }) => one.seq),
      [all[1].seq, all[2].seq],
    )
    assert.equal(await entries('?since=2999-01-01'), [])
    assert.is((await entries(`?since=${all[0].at}`))[0].seq, all[0].seq)
    assert.is((await api('GET', '/api/audit?since=2026-02-31T00:00:00Z&limit=0')).status, 400)
    assert.is((await api('GET', '/api/audit?since=0000-01-01')).json.code, 'INVALID_FIELD')
  })

  t('shows an edit by kubectl, once per generation, and not what came through REST', async () => {
    const kubernetes = async () =>
      (await entries('?limit=200')).filter((one: { who: { kind: string } }) => one.who.kind === 'kubernetes')
    const { json } = await api('POST', '/api/invoices', order({ send: false }))
    const name = json.invoice.id
    await platform.kubectl(['patch', 'inv', name, '--type=merge', '-p', '{"spec":{"terms":"by hand"}}'])
    const of = async () =>
      (await kubernetes()).filter((one: { what: { resource: string } }) => one.what.resource === `Invoice/${name}`)
    const [shown] = await eventually('the edit', async () => (await of()).length > 0 && of())
    assert.equal([shown.what.verb, shown.what.fields], ['Invoice spec generation 2', ['terms']])
    assert.match(shown.who.manager, /^kubectl/)
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', '{"spec":{"plan":"pro"}}'])
    await eventually('the account', async () =>
      (await kubernetes()).some(({ what }: { what: { verb: string } }) => what.verb === 'Account spec generation 2'),
    )
    await platform.controllers.stop()
    await platform.controllers.start()
    await sleep(1_000)
    assert.is((await of()).length, 1)
  })

  t('belongs to its account: another one sees nothing of it and may not ask', async () => {
    const other = await platform.token('other')
    const own = await api('GET', '/api/audit', undefined, other)
    assert.ok(own.json.entries.every((one: { account: string }) => one.account === 'other'))
    assert.is((await api('GET', '/api/audit?account=demo', undefined, other)).json.code, 'ROLE_REQUIRED')
    assert.is((await api('GET', '/api/audit/verify?account=demo', undefined, other)).json.code, 'ROLE_REQUIRED')
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', '{"spec":{"role":"admin"}}'])
    const look = async () => (await api('GET', '/api/audit?account=demo', undefined, other)).status === 200
    await eventually('the role', look)
    for (const all of ['/api/audit?account=*&limit=200', '/api/audit?limit=200']) {
      const { json } = await api('GET', all, undefined, other)
      assert.is(new Set(json.entries.map((one: { account: string }) => one.account)).size, 2)
    }
    const { json } = await api('GET', '/api/audit/verify', undefined, other)
    assert.equal([json.verified, json.chains.length], [true, 2])
  })

  t('verifies, and finds one row that was tampered with', async () => {
    const before = (await api('GET', '/api/audit/verify')).json
    assert.equal([before.verified, before.first_bad], [true, undefined])
    assert.is(before.count, (await api('GET', '/api/audit')).json.total)
    await tamper(
      platform.database.url,
      "update audit set entry = replace(entry, '204', '404') where account = 'demo' and entry like '%204}'",
    )
    const after = (await api('GET', '/api/audit/verify')).json
    assert.is(after.verified, false)
    assert.ok(after.first_bad >= 1)
    const all = (await api('GET', '/api/audit/verify', undefined, await platform.token('other'))).json
    assert.equal([all.verified, all.account, all.first_bad], [false, 'demo', after.first_bad])
  })
})
