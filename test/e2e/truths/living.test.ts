/** A copy of the database that is put back under a leader, within its own epoch: the fence lets it pass, and the leader looks. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

let platform: Platform

const post = (body: unknown) => call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body)
const sql = (text: string) => query(platform.database.url, text)
const server = (text: string) => query(new URL('/postgres', platform.postgres.url).href, text)
const nameOf = () => new URL(platform.database.url).pathname.slice(1)
const log = () => readFileSync(join(platform.mailDir, '..', 'controllers.log'), 'utf8')
const epochs = async () => Number((await sql('select epoch from epochs'))[0]?.epoch)

/** Whoever is connected is thrown out, and nobody comes in meanwhile. */
const away = async (work: (name: string) => Promise<void>): Promise<void> => {
  const name = nameOf()
  await server(`alter database ${name} allow_connections false`)
  await server(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  await eventually('nobody to be connected', async () => {
    const rows = await server(`select 1 from pg_stat_activity where datname = '${name}'`)
    return rows.length === 0
  })
  await work(name)
  await server(`alter database ${name} allow_connections true`)
}
const copied = (copy: string) =>
  away(async (name) => void (await server(`create database ${copy} template ${name} strategy wal_log`)))
const putBack = (copy: string) =>
  away(async (name) => {
    await server(`drop database ${name}`)
    await server(`alter database ${copy} rename to ${name}`)
  })
const keptGeneration = async (name: string) =>
  Number((await sql(`select generation from desires where name = '${name}'`))[0]?.generation)
/** Once its connections are there again. */
const created = (body: unknown) =>
  eventually('it to be taken', async () => {
    const reply = await post(body)
    return reply.status < 300 && reply
  })

spec('a database that is put back while somebody leads by it', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('is given again what was asked since, where it misses nothing that was numbered', async () => {
    const draft = await created(order({ send: false, external_ref: 'draft' }))
    const { id } = draft.json.invoice
    const [pid, epoch] = [platform.controllers.pid(), await epochs()]
    await copied('before_edit')
    const edited = await eventually('the edit', async () => {
      const path = `/api/invoices/${id}`
      const reply = await call(platform.baseUrl, platform.owner, 'PATCH', path, { discount_cents: 100 })
      return reply.status < 300 && reply
    })
    assert.is(edited.status, 200)
    await eventually('the edit to be kept', async () => (await keptGeneration(id)) === 2)
    await putBack('before_edit')
    await eventually('it to be kept again', async () => (await keptGeneration(id)) === 2)
    assert.equal([platform.controllers.pid(), await epochs()], [pid, epoch], 'the leader went on')
  })

  t('ends the lead where it misses what was numbered: nobody leads, nothing is mailed', async () => {
    await created(order({ external_ref: 'kept' }))
    await copied('before_send')
    const epoch = await epochs()
    await created(order({ external_ref: 'lost' }))
    await eventually('the mails', async () => (await mailsIn(platform.mailDir)).length === 2)
    const ended = new Promise((resolve) => platform.controllers.onDeath(resolve))
    await putBack('before_send')
    assert.is(await epochs(), epoch, 'of the very epoch that leads')
    await ended
    assert.match(log(), 'LEDGER_BEHIND')
    await platform.controllers.start()
    await eventually('it to be said', async () => {
      const page = await fetch(platform.metricsUrls.controllers.replace('/metrics', '/readyz'))
      return (await page.text()).includes('failed cluster LEDGER_BEHIND')
    })
    assert.is(await epochs(), epoch, 'nobody took the next one')
    assert.is((await mailsIn(platform.mailDir)).length, 2)
  })
})
