/** Definitions that are removed, under controllers that lead and before such as start: nothing was deleted, and time goes on. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { KINDS } from '../../../crds/kinds.ts'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeCallers, someoneLeads } from '../../support/stage/callers.ts'
import { makeProvisioner } from '../../support/stage/devinstances.ts'
import { eventually, type Json, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'
import { type Owned, ownControlPlane, ownKubeconfig } from '../../support/stage/stage.ts'

const DRAFTS = 3
const DAYS = 45
/** The steps of a reminder that fall into those days. */
const REMINDERS = ['-3', '0', '+7', '+14']
const SETUP = join(import.meta.dirname, '..', '..', '..', 'controllers', 'setup.ts')

let plane: Owned<ControlPlane>
let platform: Platform
const tokens: Record<string, string> = {}

const { as, must } = makeCallers({ platform: () => platform, tokens })
const send = (change: Record<string, unknown> = {}) => must('owner', 'POST', '/api/invoices', order(change))
const invoice = async (id: string): Promise<Json> => (await must('owner', 'GET', `/api/invoices/${id}`)).invoice
const sql = (text: string) => query(platform.database.url, text)
const countOf = async (text: string) => Number((await sql(`select count(*)::int as n from ${text}`))[0]?.n)
const readyz = async (process: 'api' | 'controllers') =>
  (await fetch(platform.metricsUrls[process].replace('/metrics', '/readyz'))).text()
const leads = () => someoneLeads(platform)
const restart = async () => {
  await platform.controllers.stop()
  await platform.controllers.start()
  await leads()
}
const names = async (): Promise<string[]> => {
  const { items } = JSON.parse(await platform.kubectl(['get', 'bottega', '-o', 'json']))
  return items.map(({ kind, metadata }: Json) => `${kind}/${metadata.name}`).sort()
}
const remove = (...plurals: string[]) =>
  platform.kubectl(['delete', 'crd', ...plurals.map((plural) => `${plural}.bottega.dev`), '--wait=true'])

/** What the Jobs of the chart run, each as itself. */
const identities: Record<string, string> = {}
const setup = async (...args: string[]): Promise<string> => {
  const words = ['--disable-warning=ExperimentalWarning', SETUP, ...args]
  // never in the way of this process's own loop: connections that end meanwhile have to be seen to
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    encoding: 'utf8',
    env: {
      ...process.env,
      KUBECONFIG: identities[args[0] === 'reconcile' ? 'reconcile' : 'setup'],
      BOTTEGA_DATABASE_URL: platform.database.url,
      BOTTEGA_NAMESPACE: platform.namespace.name,
      BOTTEGA_SECRET_KEY: platform.secretKey,
    },
  })
  return stdout
}
const reconciled = async (): Promise<string> => {
  await platform.controllers.stop()
  const said = await setup('reconcile', '--apply')
  await platform.controllers.start()
  await leads()
  return said
}
const kept = () => sql('select kind, name from mirror order by 1, 2')

spec('a definition that is removed', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane, env: { BOTTEGA_DEV_CLOCK: 'on' } })
    for (const job of ['setup', 'reconcile'] as const) identities[job] = await ownKubeconfig(job, plane.kubeconfig)
    tokens.owner = await addAccount(platform, 'maker', { capabilities: ['devbox.manage'] })
    tokens.admin = await addAccount(platform, 'boss', { role: 'admin' })
  })
  t.after(async () => {
    await platform.end().finally(() => plane.end())
  })

  t(
    'is no reason not to lead: the other kinds are served, it is said, and the kind is picked up when it appears',
    async () => {
      for (let n = 0; n < DRAFTS; n += 1) await send({ send: false, external_ref: `draft-${n}` })
      const all = await names()
      await eventually('all to be kept', async () => (await countOf('desires')) === all.length)
      const before = await kept()
      await platform.controllers.stop()
      await remove('invoices')
      await platform.controllers.start()
      await leads()
      await makeProvisioner(platform, tokens.owner ?? '').reserve()
      const refused = await as('owner', 'POST', '/api/invoices', order())
      assert.equal([refused.status, refused.json.code], [503, 'KIND_UNKNOWN'], refused.text)
      for (const process of ['api', 'controllers'] as const)
        await eventually('it to be said', async () => (await readyz(process)).includes('no definition of Invoice'))
      assert.match(await readyz('controllers'), 'ok Invoice KIND_UNKNOWN')
      const log = readFileSync(join(platform.mailDir, '..', 'controllers.log'), 'utf8')
      assert.match(log, /"level":"error".*no definition of Invoice.*the rest is served/)

      await setup('definitions')
      const sent = await eventually('it to be picked up', async () => {
        const reply = await as('owner', 'POST', '/api/invoices', order({ external_ref: 'picked-up' }))
        return reply.status < 300 && reply.json
      })
      assert.match(sent.number, /^INV-/)
      await eventually('it not to be said any more', async () => /^ok definitions$/m.test(await readyz('controllers')))
      await restart()
      await restart()
      assert.is(await countOf('deletions'), 0, 'nothing was taken for deleted')
      const after = new Set((await kept()).map(({ kind, name }) => `${kind}/${name}`))
      assert.equal(
        before.map(({ kind, name }) => `${kind}/${name}`).filter((one) => !after.has(one)),
        [],
      )
      assert.match(await reconciled(), `make ${DRAFTS} resources again`)
      const back = await names()
      assert.equal(
        all.filter((one) => !back.includes(one)),
        [],
      )
      assert.match(await setup('reconcile', '--plan'), 'There is nothing to do')
    },
    { timeoutMs: 400_000 },
  )

  t(
    `of every kind: over ${DAYS} days reminders, overdue, repetition and leases go on from rows; all are made again`,
    async () => {
      const owed = (await send({ client_email: 'owes@acme.test', due_date: await dayAhead(10) })).invoice
      const parent = (await send({ due_date: await dayAhead(60), external_ref: 'retainer' })).invoice
      const day = (Number((await dayAhead(5)).slice(8)) % 28) + 1
      await must('owner', 'POST', `/api/invoices/${parent.id}/recurrence`, { every: 'month', day, mode: 'send' })
      const { site } = await must('owner', 'POST', '/api/website/generate', { content: siteContent() })
      const box = makeProvisioner(platform, tokens.owner ?? '')
      const waiting = (await box.reserve()).devbox
      const leased = (await box.reserve()).devbox
      assert.ok((await box.on(leased.id, 'POST', 'provisioning', { instanceId: 'i-0123456789abcdef0' })).status < 300)
      const all = await names()
      await eventually('all to be kept', async () => (await countOf('desires')) === all.length)
      const before = await kept()
      const deletions = await countOf('deletions')

      await remove(...KINDS.map(({ plural }) => plural))
      const moved = await as('admin', 'POST', '/api/dev/clock', { advance: `P${DAYS}D` })
      assert.is(moved.status, 200, moved.text)
      const found = await invoice(owed.id)
      assert.is(found.status, 'overdue')
      assert.equal(
        found.reminders.sent.map(({ step }: Json) => step),
        REMINDERS,
      )
      await eventually('the reminders', async () => (await remindersTo('owes@acme.test')) >= REMINDERS.length)
      assert.is((await box.on(waiting.id, 'GET', '')).status, 404, 'its reservation ran out')
      assert.equal(
        (await box.detail(leased.id)).conditions.map(({ type }: Json) => type),
        ['LeaseExpired'],
      )
      assert.is(await countOf('deletions'), deletions, 'nothing was taken for deleted')

      await setup('definitions')
      const said = await reconciled()
      assert.match(said, 'resources again')
      // what lapsed meanwhile ends by itself, once it is made again with all of them
      const lapsed = (await sql('select resource from devboxes where deleted_at is not null')).map(
        ({ resource }) => `DevInstance/${resource}`,
      )
      assert.ok(lapsed.includes(`DevInstance/${waiting.id}`))
      const isLapsed = (one: string) => lapsed.includes(one)
      const back = await names()
      assert.equal(
        all.filter((one) => !back.includes(one) && !isLapsed(one)),
        [],
      )
      await eventually('what lapsed to go', async () => !(await names()).some(isLapsed))
      const after = new Set((await kept()).map(({ kind, name }) => `${kind}/${name}`))
      assert.equal(
        before.map(({ kind, name }) => `${kind}/${name}`).filter((one) => !after.has(one) && !isLapsed(one)),
        [],
      )
      await eventually('the month that began', async () => (await invoice(parent.id)).recurrence.invoices.length > 0)
      assert.is((await must('owner', 'GET', `/api/website/${site.id}`)).site.id, site.id)
      assert.is(await remindersTo('owes@acme.test'), REMINDERS.length, 'nobody is reminded again')
      const gaps = 'select series_id from register group by series_id having count(*) <> max(seq)'
      assert.equal(await sql(gaps), [], 'no number is missing')
    },
    { timeoutMs: 400_000 },
  )

  const dayAhead = async (days: number): Promise<string> => {
    const { now } = await must('admin', 'GET', '/api/dev/clock')
    return new Date(Date.parse(now) + days * 86_400_000).toISOString().slice(0, 10)
  }
  const remindersTo = async (address: string): Promise<number> =>
    (await mailsIn(platform.mailDir)).filter(
      (mail) => mail.to?.[0]?.address === address && mail.messageId?.includes('.reminder.'),
    ).length
})
