/** What a process stands on: the tables and the definitions of another version are said, and survived. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isKindUnknown, isNotFound } from '../../../controllers/base/errors.ts'
import type { VersionStanding } from '../../../controllers/base/standing.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { standingOfDefinitions } from '../../../controllers/kube/served.ts'
import { makeStandings } from '../../../controllers/ops/standings.ts'
import { standingOfSchema } from '../../../controllers/store/pg/applied.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase, serviceKubeconfig, sharedKubeconfig } from '../../support/stage/stage.ts'

const PUBLISHED = '/openapi/v3/apis/bottega.dev/v1alpha1'
type Node = { properties: Record<string, Node> }
type Published = { components: { schemas: Record<string, Node> } }

spec('the tables', (t) => {
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
  const standing = () => standingOfSchema({ pg })

  t('are those of this version, as the role of the api sees them', async () => {
    assert.equal(await standing(), { state: 'same' })
  })

  t('of a later version are newer, and of an earlier one older', async () => {
    const change = (text: string) => query(database.url, text)
    await change("insert into migrations (name, sha256) values ('schema/999_later.sql', 'x')")
    assert.equal(await standing(), { state: 'newer', detail: 'the database has another schema/999_later.sql' })
    await change("delete from migrations where name like 'schema/0%_webhooks.sql'")
    assert.equal(await standing(), {
      state: 'older',
      detail: 'the database lacks schema/015_webhooks.sql: run the migration',
    })
    await change('drop table migrations')
    assert.is((await standing()).state, 'older')
  })
})

spec('the definitions', (t) => {
  const kube = makeKube({ kubeconfig: serviceKubeconfig('api') })
  t.after(() => kube.close())
  const with_ = (change: (published: Published) => void) => async (): Promise<VersionStanding> => {
    const published = await kube.raw<Published>('GET', PUBLISHED)
    change(published)
    return standingOfDefinitions({ raw: (async () => published) as never })
  }
  const invoice = ({ components }: Published): Node => {
    const found = Object.entries(components.schemas).find(([name]) => name.endsWith('.Invoice'))?.[1]
    if (!found) throw new Error('no Invoice is published')
    return found
  }

  t('are those of this version, as the api server publishes them', async () => {
    await eventually('them', async () => (await standingOfDefinitions(kube)).state === 'same')
  })

  t('of a later version are newer, of an earlier one older, and one may be missing', async () => {
    const later = with_((all) => Object.assign(invoice(all).properties.spec?.properties ?? {}, { later: {} }))
    assert.equal(await later(), { state: 'newer', detail: 'the definitions have Invoice.spec.later' })
    const earlier = with_((all) => void delete invoice(all).properties.spec?.properties.terms)
    assert.equal(await earlier(), { state: 'older', detail: 'the definitions lack Invoice.spec.terms' })
    const without = with_((all) => {
      for (const name of Object.keys(all.components.schemas)) {
        if (name.endsWith('.Invoice')) delete all.components.schemas[name]
      }
    })
    assert.equal(await without(), { state: 'partial', detail: 'no definition of Invoice' })
    const none = with_((all) => {
      all.components.schemas = {}
    })
    assert.is((await none()).state, 'older', 'with no kind at all there is nothing to lead')
  })

  t('that are missing are told from an object that is not there', async () => {
    const ref = { namespace: 'default', name: 'none' }
    // whoever may not ask is not told that there is nothing
    const admin = makeKube({ kubeconfig: sharedKubeconfig() })
    const nobody = await assert.rejects(admin.get({ kind: 'Gadget', plural: 'gadgets' }, ref))
    assert.equal([isKindUnknown(nobody), isNotFound(nobody)], [true, false])
    const none = await assert.rejects(admin.get({ kind: 'Invoice', plural: 'invoices' }, ref))
    assert.equal([isKindUnknown(none), isNotFound(none)], [false, true])
    await admin.close()
  })
})

spec('a process', (t) => {
  const lines: string[] = []
  const say = (level: string) => (facts: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(facts)} ${message}`)
  const log = { info: say('info'), warn: say('warn'), error: say('error'), debug: () => {} } as never

  t('says once what does not fit, leads only when nothing is older, and goes on beside what is newer', async () => {
    let now: VersionStanding = { state: 'older', detail: 'it lacks x' }
    const standings = makeStandings({ looks: { schema: async () => now }, log, lookMs: 5, againMs: 5 })
    let isFit = false
    const fit = standings.fit(new AbortController().signal).then(() => {
      isFit = true
    })
    await sleep(50)
    assert.equal([isFit, standings.checks.schema?.()], [false, 'it lacks x'])
    now = { state: 'newer', detail: 'it has y' }
    await fit
    assert.equal(standings.checks.schema?.(), { note: 'newer: it has y' })
    now = { state: 'same' }
    await eventually('it to fit', async () => standings.checks.schema?.() === true)
    now = { state: 'partial', detail: 'no z' }
    await eventually('a part to be missing', async () => standings.checks.schema?.() !== true)
    assert.equal(standings.checks.schema?.(), { note: 'partial: no z' })
    await standings.fit(new AbortController().signal)
    standings.stop()
    assert.equal(
      lines.map((line) => line.split(' ', 1)[0]),
      ['error', 'warn', 'info', 'error'],
    )
  })

  t('that has looked all along does not look once more when it is to lead', async () => {
    let looks = 0
    const schema = async (): Promise<VersionStanding> => {
      looks += 1
      return { state: 'same' }
    }
    const standings = makeStandings({ looks: { schema }, log, lookMs: 60_000 })
    await eventually('the first look', async () => looks === 1)
    await sleep(10)
    await standings.fit(new AbortController().signal)
    standings.stop()
    assert.is(looks, 1)
  })
})
