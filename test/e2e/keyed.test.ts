import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../hack/platform/postgres.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { addAccount } from '../support/stage/callers.ts'
import { makeProvisioner, type Provisioner, setCap } from '../support/stage/devinstances.ts'
import { call, eventually, type Json, order, type Platform, startPlatform } from '../support/stage/invoicing.ts'
import { siteContent } from '../support/stage/publishing.ts'

/**
 * What one request costs does not grow with what stands in the database: no statement on its way reads a table from one end to
 * the other. PostgreSQL counts what it reads; each table is filled with many copies of a row that the product itself has written.
 */

const COPIES = 3_000
const PLAYS = 5
/** Once in a while all is counted by the clock, on nobody's way; what reads all for each request does so more often. */
const OFTEN = 3
/** A session tells what it has counted when it was idle for ten seconds. */
const TOLD_MS = 11_000

/** Those that grow with every request. */
const GROWS =
  'desires mirror send_slots schedule register sends blobs blob_chunks outbox facts audit operations idempotency site_places devboxes devbox_addresses'
/** A copy of a delivery is due, and read because it is. */
const NEVER = new Set(['migrations', 'epochs', 'deliveries'])

type Column = { table: string; column: string; type: string; isKey: boolean; isMade: boolean }

const COLUMNS = `
select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type, a.attidentity <> '' or a.attgenerated <> '' as "isMade",
  exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any (i.indkey)) as "isKey"
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
order by 1, a.attnum`

/** Of keys as well: words that a rule knows. */
const WORDS = new Set(['kind', 'entry'])

/** The column in the copy numbered i: what tells rows apart differs. */
const copied = ({ column, type, isKey }: Column): string => {
  if (column === 'account') return `s.account || '-' || i` // what is one account's own may be read whole, if need be
  if (!isKey || WORDS.has(column)) return `s."${column}"`
  if (type === 'text') return `s."${column}" || '-' || i`
  return type === 'bytea' ? `sha256(s."${column}" || convert_to(i::text, 'UTF8'))` : `s."${column}"`
}

/** Fills each table that has a row. @returns the tables that have many rows now */
const fill = async (url: string): Promise<Set<string>> => {
  const columns = (await query(url, COLUMNS)) as Column[]
  const filled = new Set<string>()
  for (const [table = '', all = []] of Map.groupBy(columns, (one) => one.table)) {
    if (NEVER.has(table)) continue
    const given = all.filter(({ isMade }) => !isMade)
    const names = given.map(({ column }) => `"${column}"`).join(', ')
    const settled = table === 'outbox' ? "where state = 'sent'" : ''
    // copies need not keep the rules between tables, and triggers guard what nobody may write
    const text = `
      with told as (select set_config('session_replication_role', 'replica', false))
      insert into "${table}" (${names})
      select ${given.map(copied).join(', ')} from told, (select * from "${table}" ${settled} limit 1) s, generate_series(1, ${COPIES}) i
      on conflict do nothing returning 1`
    const rows = await query(url, text).catch(() => [])
    if (rows.length === COPIES) filled.add(table)
  }
  return filled
}

const READ = `
select t.relname as table, (coalesce(t.seq_tup_read, 0) + coalesce((
  select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid
), 0))::int as read
from pg_stat_user_tables t`

spec('what stands in the database', (t) => {
  let platform: Platform
  let box: Provisioner
  let reviewer: string

  t.before(async () => {
    platform = await startPlatform()
    const boxer = await addAccount(platform, 'boxer', { capabilities: ['devbox.manage'] })
    await setCap(platform, { account: 'boxer', token: boxer }, 5_000)
    box = makeProvisioner(platform, boxer)
    reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    const hook = await call(platform.baseUrl, platform.owner, 'POST', '/api/webhooks', {
      url: 'https://hooks.acme.test/in',
    })
    assert.is(hook.status, 201, hook.text)
  })
  t.after(() => platform.end())

  const as = async (token: string, method: string, path: string, body?: unknown, headers = {}): Promise<Json> => {
    const { status, json, text } = await call(platform.baseUrl, token, method, path, body, headers)
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`)
    return json
  }
  const own = (method: string, path: string, body?: unknown, headers = {}) =>
    as(platform.owner, method, path, body, headers)
  let keys = 0

  const invoices = async (): Promise<void> => {
    const { id } = (await own('POST', '/api/invoices', order())).invoice
    await own('POST', `/api/invoices/${id}/payments`, { amount_cents: 1_000, reference: id })
    await own('GET', '/api/invoices?limit=20')
    const isTold = async () => (await own('GET', `/api/invoices/${id}`)).invoice.delivery.state === 'accepted'
    await eventually('its mail', isTold)
    const draft = (await own('POST', '/api/invoices', order({ send: false }))).invoice
    await own('PATCH', `/api/invoices/${draft.id}`, { client_name: 'Another' })
    keys += 1
    const later = { prefer: 'respond-async', 'idempotency-key': `play-${keys}` }
    await own('POST', `/api/invoices/${draft.id}/send`, {}, later)
    await eventually(
      'it to be sent',
      async () => (await own('GET', `/api/invoices/${draft.id}`)).invoice.send_count === 1,
    )
  }
  const sites = async (): Promise<void> => {
    const { site } = await own('POST', '/api/website/generate', { content: siteContent() })
    await own('POST', `/api/website/${site.id}/submit-review`, {})
    await as(reviewer, 'POST', `/api/website/${site.id}/decision`, { decision: 'approve', note: 'fine' })
    await own('GET', '/api/website?limit=20')
  }
  const play = async (): Promise<void> => {
    await Promise.all([invoices(), sites(), box.toRunning()])
  }

  /** What is read again and again from one end to the other while all is played a few times. */
  const readWhole = async (filled: ReadonlySet<string>): Promise<{ table: string; read: number }[]> => {
    const { url } = platform.database
    await sleep(TOLD_MS)
    await query(url, 'select pg_stat_reset()')
    for (let n = 0; n < PLAYS; n += 1) await play()
    await sleep(TOLD_MS)
    const read = (await query(url, READ)) as { table: string; read: number }[]
    assert.ok(read.some((one) => one.read > 0))
    return read.filter((one) => filled.has(one.table) && one.read >= OFTEN * COPIES)
  }

  t(
    'is looked up by key, however much of it there is',
    async () => {
      const { url } = platform.database
      await play()
      const filled = await fill(url)
      const missing = GROWS.split(' ').filter((table) => !filled.has(table))
      assert.equal(missing, [], 'not filled')
      assert.equal(await readWhole(filled), [], 'read from one end to the other, by plans made when there was little')
      // some thousands of rows are few enough that a join over all of them looks cheap to who expects a hundred look-ups
      await query(url, 'analyze')
      assert.equal(await readWhole(filled), [], 'read from one end to the other, by plans made when there was much')
    },
    { timeoutMs: 600_000 },
  )
})
