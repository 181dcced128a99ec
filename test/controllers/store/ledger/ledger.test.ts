import { createHash } from 'node:crypto'
import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { makeBlobs } from '../../../../controllers/store/blobs.ts'
import { makeFreezeSend, makeInvoiceReader } from '../../../../controllers/store/invoice/look.ts'
import type { Send } from '../../../../controllers/store/ledger/ledger.ts'
import { frozenInvoice, frozenWith } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { aClaim, type Leader, type LedgerStage, makeLedgerStage, upTo } from '../../../support/stage/ledger.ts'

const isStale = (error: unknown) => error instanceof StaleEpoch
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

const AT = '2026-11-21T09:30:00.000Z'

const aSend = (resource: string, over: Partial<Send> = {}): Send => ({
  resource,
  n: 1,
  at: AT,
  gate: 'password',
  frozen: frozenWith('ä"\\'),
  content: Buffer.from(`%PDF ${resource}`),
  mail: {
    kind: 'Invoice',
    account: 'demo',
    purpose: 'invoice/1',
    channel: 'mail',
    messageId: `<${resource}@test>`,
    payload: { to: 'billing@acme.test' },
  },
  ...over,
})

spec('freeze and observe', (t) => {
  let stage: LedgerStage
  let leader: Leader
  t.before(async () => {
    stage = await makeLedgerStage()
    leader = await stage.lead()
  })
  t.after(() => stage.end())

  t('an unknown resource is empty', async () => {
    assert.equal(await leader.ledger.observe('bottega/none'), {
      record: null,
      sends: [],
      facts: [],
      factSeq: 0,
      deliveries: [],
    })
  })

  t('many at once: each has its bytes, its snapshot and one mail, and reads back whole', async () => {
    const { ledger, freeze } = leader
    const names = upTo(100).map((n) => `bottega/inv-${n}`)
    await Promise.all(upTo(100).map((n) => ledger.claimNumber(aClaim(n))))
    assert.equal(new Set(await Promise.all(names.map((name) => freeze(aSend(name))))), new Set(['new']))
    const blobs = makeBlobs({ pg: leader.pg })
    const seen = await Promise.all(names.map((name) => ledger.observe(name)))
    for (const [index, one] of seen.entries()) {
      const name = names[index] ?? ''
      const bytes = Buffer.from(`%PDF ${name}`)
      assert.equal(one.sends, [
        {
          n: 1,
          at: '2026-11-21T09:30:00.000Z',
          gate: 'password',
          sha256: sha256(bytes),
          bytes: bytes.length,
          frozen: frozenWith('ä"\\'),
        },
      ])
      assert.equal(await blobs.get(sha256(bytes)), bytes)
      assert.equal(
        one.deliveries.map(({ purpose, state, attempts, at }) => ({ purpose, state, attempts, at })),
        [{ purpose: 'invoice/1', state: 'queued', attempts: 0, at: '2026-11-21T09:30:00.000Z' }],
      )
      assert.equal(one.record?.uids, [`uid-${index + 1}`])
      assert.equal(one.record?.claimed, { totalCents: 192_000, currency: 'EUR' })
    }
  })

  t('the same send again is old and changes nothing, also twice in one batch', async () => {
    const { ledger, freeze } = leader
    const results = await Promise.all(['warm', 'twice', 'twice'].map((name) => freeze(aSend(`bottega/${name}`))))
    assert.equal(results, ['new', 'new', 'old'])
    const other = aSend('bottega/twice', {
      frozen: frozenInvoice({ number: 'INV-026-0002' }),
      content: Buffer.from('other'),
      gate: 'account',
    })
    assert.is(await freeze(other), 'old')
    const { sends, deliveries } = await ledger.observe('bottega/twice')
    assert.equal([sends.length, sends[0]?.gate, deliveries.length], [1, 'password', 1])
  })

  t('who freezes is told what stands there, as who looks afterwards is', async () => {
    const { pg, epoch } = leader
    const freezeSend = makeFreezeSend({ pg, epoch: () => epoch })
    const of = { account: 'demo', issuer: 'iss-default' }
    const rows = [{ purpose: 'reminder', dueAt: AT, lapsesAt: null, effect: null, generation: 1, factSeq: 0 }]
    const names = ['bottega/inv-1', 'bottega/seen', 'bottega/twice']
    const given = names.map((resource) => aSend(resource, { schedule: { kind: 'Invoice', resource, rows } }))
    const frozen = await Promise.all(given.map((send) => freezeSend(send, of)))
    assert.equal(
      frozen.map(({ result }) => result),
      ['old', 'new', 'old'],
    )
    const look = makeInvoiceReader({ pg })
    assert.equal(
      frozen.map(({ seen }) => seen),
      await Promise.all(names.map((resource) => look({ resource, ...of }))),
    )
    assert.equal(frozen[1]?.seen.scheduled, rows)
    assert.equal(
      frozen.map(({ seen }) => [seen.record?.number, seen.sends.length, seen.deliveries.length]),
      [
        ['INV-026-0001', 1, 1],
        [undefined, 1, 1],
        [undefined, 1, 1],
      ],
    )
  })

  t('a send that cannot be queued is not frozen, and hurts no other', async () => {
    const { ledger, freeze } = leader
    const clash = aSend('bottega/clash', {
      mail: {
        kind: 'Invoice',
        account: 'demo',
        purpose: 'p',
        channel: null as never,
        messageId: '<clash@test>',
        payload: {},
      },
    })
    const all = [aSend('bottega/warm2'), clash, aSend('bottega/fine')].map((send) => freeze(send))
    const settled = await Promise.allSettled(all)
    assert.equal(
      settled.map((one) => one.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal((await ledger.observe('bottega/clash')).sends, [])
  })

  t('what falls due because of a send stands with it, or not at all', async () => {
    const { ledger, freeze, pg } = leader
    const dueAt = '2026-12-17T09:00:00.000Z'
    const due = (resource: string, purpose: string) => ({
      kind: 'Invoice',
      resource,
      rows: [{ purpose, dueAt, lapsesAt: null, effect: null, generation: 1, factSeq: 0 }],
    })
    const sends = [
      aSend('bottega/due', { schedule: due('bottega/due', 'reminder') }),
      aSend('bottega/due-bad', { schedule: due('bottega/due-bad', null as never) }),
      aSend('bottega/due-none'),
    ]
    const settled = await Promise.allSettled(sends.map((send) => freeze(send)))
    assert.equal(
      settled.map((one) => one.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    const { rows } = await pg.query(
      'test',
      `select resource, purpose from schedule where resource like 'bottega/due%'`,
      [],
    )
    assert.equal(rows, [{ resource: 'bottega/due', purpose: 'reminder' }])
    assert.equal((await ledger.observe('bottega/due-bad')).sends, [])
  })

  t('a second send stands beside the first, and only the newest carries what was frozen; no mail is none', async () => {
    const { ledger, freeze } = leader
    const second = frozenInvoice({ dueDate: '2026-12-31' })
    await freeze(aSend('bottega/again'))
    await freeze(aSend('bottega/again', { n: 2, frozen: second, mail: null }))
    const { sends, deliveries } = await ledger.observe('bottega/again')
    assert.equal(
      sends.map(({ n, frozen }) => ({ n, frozen })),
      [
        { n: 1, frozen: null },
        { n: 2, frozen: second },
      ],
    )
    assert.is(deliveries.length, 1)
  })

  t('a large document is kept in chunks', async () => {
    const content = Buffer.alloc(700_001, 'bottega')
    await leader.freeze(aSend('bottega/large', { content, mail: null }))
    assert.equal(await makeBlobs({ pg: leader.pg }).get(sha256(content)), content)
    const text = `select max(length(content)) as longest, count(*)::int as n from blob_chunks
      where sha256 = '\\x${sha256(content)}'`
    assert.equal(await stage.sql(text), [{ longest: 262_144, n: 3 }])
  })

  t('a send is append-only', async () => {
    await assert.rejects(stage.sql("update sends set gate = 'account'"), /append-only/)
    await assert.rejects(stage.sql('delete from sends'), /append-only/)
  })

  t('a stale leader freezes nothing', async () => {
    const old = leader
    leader = await stage.lead()
    await assert.rejects(old.freeze(aSend('bottega/stale')), isStale)
    assert.equal((await leader.ledger.observe('bottega/stale')).sends, [])
  })
})
