/** A database that was taken over and written anew as a whole, chains and all: what was saved elsewhere shows it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { makeLog } from '../../../../controllers/base/log.ts'
import { makeAppendAudit } from '../../../../controllers/store/audit.ts'
import { openKeys } from '../../../../controllers/store/installation/open.ts'
import { HEAD_KEY, makeHeadWords, makeHistory } from '../../../../controllers/store/ledger/history.ts'
import { LEASE } from '../../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import { historyFaults, makeTellHead } from '../../../../controllers/workers/truths/history.ts'
import { query, withConnection } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../../support/stage/stage.ts'

const KEY = Buffer.alloc(32, 5)
const AT = new Date('2026-11-23T10:00:00Z')
const root = join(import.meta.dirname, '..', '..', '..', '..')

/** As the owner, without a trigger: every entry of a chain behind the change hashed anew, and the head with it. */
const REHASH_AUDIT = `
with recursive chain as (
  select a.account, a.seq, link_hash(genesis_hash('audit/demo'), audit_entry(a.account, a.seq, a.at, a.once, a.entry)) as hash
  from audit a where a.account = 'demo' and a.seq = 1
  union all
  select a.account, a.seq, link_hash(c.hash, audit_entry(a.account, a.seq, a.at, a.once, a.entry))
  from audit a join chain c on c.account = a.account and a.seq = c.seq + 1
)
update audit a set hash = c.hash from chain c where c.account = a.account and c.seq = a.seq`
const REHASH_REGISTER = `
with recursive chain as (
  select r.series_id, r.seq, link_hash(genesis_hash(r.series_id), register_line(r.number, r.resource, r.kind, r.total_cents, r.currency, r.issued_at, r.entry, r.reference)) as hash
  from register r where r.seq = 1
  union all
  select r.series_id, r.seq, link_hash(c.hash, register_line(r.number, r.resource, r.kind, r.total_cents, r.currency, r.issued_at, r.entry, r.reference))
  from register r join chain c on c.series_id = r.series_id and r.seq = c.seq + 1
)
update register r set hash = c.hash from chain c where c.series_id = r.series_id and c.seq = r.seq`
const HEADS = [
  'update audit_heads h set head_hash = (select a.hash from audit a where a.account = h.account order by a.seq desc limit 1)',
  'update series s set head_hash = (select r.hash from register r where r.series_id = s.id order by r.seq desc limit 1)',
  'update history_heads h set head = decode(n.anew, $$hex$$) from history_anew() n where n.n = h.n',
]

spec('the head of the history', (t) => {
  let database: Database
  let pg: Pg
  const words = makeHeadWords(KEY)
  const history = () => makeHistory({ pg, epoch: () => 1 })

  t.before.each(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 2 })
    await query(database.url, 'insert into epochs (lease, epoch, holder) values ($1, 1, $2)', [LEASE, 'test'])
  })
  t.after.each(async () => {
    await pg.close()
    await database.drop()
  })

  const append = async (account: string, ...onces: string[]) => {
    const write = makeAppendAudit({ pg })
    for (const once of onces) {
      const what = { verb: once, resource: null, fields: [] }
      const who = { kind: 'anonymous' } as const
      await write({ account, once, at: AT.toISOString(), who, what, ip: null, requestId: null, status: 200 })
    }
  }
  const issue = (count: number) =>
    withConnection(database.url, async (run) => {
      await run(
        "insert into series (id, account, prefix, last_seq, head_hash) values ('demo/i', 'demo', 'INV-', 0, genesis_hash('demo/i'))",
      )
      for (let seq = 1; seq <= count; seq++) {
        await run(
          `insert into register (series_id, seq, number, resource, uid, kind, total_cents, currency, issued_at, claimed, hash)
           values ('demo/i', $1::bigint, format_number('INV-', $1::bigint), 'ns/i' || $1::text, 'u', 'invoice', 100, 'EUR', $2, '{}', sha256('x'))`,
          [seq, AT],
        )
      }
      await run('alter table register disable trigger user')
      await run(REHASH_REGISTER)
      await run('update series set last_seq = $1, head_hash = (select hash from register where seq = $1)', [count])
      await run('alter table register enable trigger user')
    })
  /** What the owner of the database can do. */
  const rewrite = (...statements: string[]) =>
    withConnection(database.url, async (run) => {
      await run('set session_replication_role = replica')
      for (const statement of statements) await run(statement)
    })
  const take = async () => words.wordOf((await history().take(AT)) ?? { n: 0, head: '' })
  const faults = async (...saved: string[]) => (await historyFaults({ pg, words }, saved)).faults

  t('is nothing before anything was written, and the same again while nothing is', async () => {
    assert.is(await history().take(AT), null)
    await append('demo', 'one')
    const first = await history().take(AT)
    assert.equal([first?.n, first?.chains], [1, 1])
    const again = await history().take(new Date())
    assert.equal(again, { ...first, chains: 0 })
    await append('other', 'two')
    await issue(2)
    assert.equal([(await history().take(AT))?.n, (await history().take(AT))?.chains], [2, 0])
    assert.equal(await faults(words.wordOf(first ?? { n: 0, head: '' })), [])
  })

  t('holds while history goes on, for every one that was saved', async () => {
    const saved: string[] = []
    for (const once of ['a', 'b', 'c']) {
      await append('demo', once)
      saved.push(await take())
    }
    assert.equal(await faults(...saved), [])
    assert.is((await historyFaults({ pg, words }, [])).newest, saved.at(-1))
  })

  const crimes: [string, string[]][] = [
    [
      'an entry of the audit',
      ["update audit set entry = replace(entry, 'a1', 'zz') where seq = 1", REHASH_AUDIT, ...HEADS],
    ],
    ['a total of the register', ['update register set total_cents = 1 where seq = 1', REHASH_REGISTER, ...HEADS]],
    [
      'the end of the audit, cut off with its head',
      [
        "delete from audit where account = 'demo' and seq > 1",
        'update audit_heads set last_seq = 1',
        "update history_marks set seq = 1 where chain = 'audit/demo'",
        ...HEADS,
      ],
    ],
    [
      'all of it, begun anew',
      ['delete from history_marks', 'delete from history_heads', 'delete from audit', 'delete from audit_heads'],
    ],
  ]
  for (const [what, statements] of crimes) {
    t(`shows ${what}, though every chain was made whole again`, async () => {
      await append('demo', 'a1', 'a2')
      await issue(2)
      const saved = await take()
      await append('demo', 'a3')
      await take()
      assert.equal(await faults(saved), [])
      await rewrite(...statements)
      assert.equal(await faults(), [], 'without what was saved nothing shows')
      const told = await faults(saved)
      assert.is(told.length, 1, told.join('\n'))
      assert.match(told[0] ?? '', /^head 1 /)
    })
  }

  t('shows a change that was not made whole, also without a saved one, and names the chain', async () => {
    await append('demo', 'a1', 'a2')
    await issue(2)
    await take()
    await rewrite("update audit set entry = replace(entry, 'a1', 'zz') where seq = 1")
    assert.equal(await faults(), ['audit/demo: from entry 1 on something is missing, moved or altered'])
    await rewrite('update register set hash = sha256(hash) where seq = 2')
    assert.equal(
      (await faults()).map((one) => one.split(':')[0]?.split(' of ')[0]),
      ['head 1', 'audit/demo', 'register/demo/i'],
    )
  })

  t('cannot be told by somebody without the key, and is not taken for a change under another', async () => {
    await append('demo', 'a1')
    const head = await history().take(AT)
    const foreign = makeHeadWords(Buffer.alloc(32, 6)).wordOf(head ?? { n: 0, head: '' })
    assert.equal(await faults(foreign), ['head 1, as saved, was not told under this BOTTEGA_SECRET_KEY'])
    for (const word of ['', '1', `0.${'a'.repeat(64)}.${'a'.repeat(64)}`, `1.${'g'.repeat(64)}.${'a'.repeat(64)}`])
      await assert.rejects(historyFaults({ pg, words }, [word]), /NUMBER\.HEAD\.MAC/)
  })

  t('is refused to an old leader, and kept from the api and from change', async () => {
    await append('demo', 'a1')
    await take()
    await assert.rejects(makeHistory({ pg, epoch: () => 0 }).take(AT))
    await assert.rejects(query(database.apiUrl, 'select * from history_heads'), /permission denied/)
    for (const statement of [
      'update history_heads set at = now()',
      'delete from history_marks',
      'truncate history_marks',
    ])
      await assert.rejects(query(database.url, statement), /append-only/)
  })

  t('is told to the log and to a metric, and the leader that told it sees that it is gone', async () => {
    await append('demo', 'a1')
    const lines: Record<string, unknown>[] = []
    const told: string[] = []
    let rewritten = 0
    const tell = makeTellHead({
      history: history(),
      words,
      now: () => AT,
      log: makeLog({ destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
      everyMs: 1,
      onHead: (word, n) => told.push(`${n} ${word}`),
      onRewritten: () => rewritten++,
    })
    await tell()
    const word = String(lines[0]?.head)
    assert.equal([lines[0]?.msg, told], ['head of the history', [`1 ${word}`]])
    assert.equal(await faults(word), [])
    await rewrite("update audit set entry = replace(entry, 'a1', 'zz')", REHASH_AUDIT, ...HEADS)
    await tell()
    assert.is(rewritten, 1)
    assert.equal([lines[1]?.level, lines[1]?.head], ['error', word])
  })

  t('is compared by the script of the image, which ends with 1 when it does not hold', async () => {
    const { keys, stop } = await openKeys({ pg, secretKeys: [KEY], makes: true })
    stop()
    await append('demo', 'a1')
    const head = await history().take(AT)
    assert.ok(head)
    const saved = makeHeadWords(keys.lastingKey(HEAD_KEY)).wordOf(head)
    const run = (...args: string[]) => {
      const env = {
        PATH: process.env.PATH,
        BOTTEGA_DATABASE_URL: database.url,
        BOTTEGA_SECRET_KEY: KEY.toString('base64'),
      }
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(root, 'controllers/setup.ts'), 'history', ...args],
        { env, encoding: 'utf8' },
      )
      return [status, `${stdout}${status === 2 ? stderr : ''}`.trim()]
    }
    assert.equal(run('--head', saved), [0, `history is whole, and holds what was saved\nnewest head: ${saved}`])
    assert.equal(run(), [0, `history is whole in itself\nnewest head: ${saved}`])
    await rewrite("update audit set entry = replace(entry, 'a1', 'zz')", REHASH_AUDIT, ...HEADS)
    const [status, text] = run('--head', saved)
    assert.is(status, 1)
    assert.match(
      String(text),
      /^head 1 of 2026-11-23T10:00:00.000Z was saved as [0-9a-f]{64}: what it covers was written anew\n/,
    )
    assert.is(run('--head', 'nonsense')[0], 2)
  })
})
