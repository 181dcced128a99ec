import { createHash } from 'node:crypto'
import { quarantineRoutes } from '../../../api/account/quarantine.ts'
import type { ApiRequest } from '../../../api/http/route.ts'
import { makeRenderer, RENDERER_LIMITS, type Renderer } from '../../../controllers/io/pdf/renderer.ts'
import { makeBlobs } from '../../../controllers/store/blobs.ts'
import type { Quarantined } from '../../../controllers/store/ledger/quarantine.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { DRAW_UNITS_MAX, specCost } from '../../../crds/invoice/document/drawcost.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { DRAW_AGAIN_MS } from '../../../crds/invoice/planning/undrawn.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { DEFAULT_ISSUER, type InvoiceResource, type InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { invoiceSpec } from '../../support/builders/invoice.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { type Database, kubectlFor, makeDatabase, makeNamespace, type Namespace } from '../../support/stage/stage.ts'

/** Documents that run out of the time of a thread, or fail in it, on the real renderer with a shorter limit; each try is counted. */

let namespace: Namespace
let database: Database
let renderer: Renderer
let life: OneProcess | undefined
/** Whose document was begun, and which it was. */
let begun: { account: string; text: string }[] = []

/** Letters of Devanagari in no order, so that no word comes twice; a space after about every sixth. */
const letters = (length: number, seed: string): string =>
  [...createHash('shake256', { outputLength: length }).update(seed).digest()]
    .map((byte) => (byte % 7 === 0 ? ' ' : String.fromCodePoint(0x904 + (byte % 0x4a))))
    .join('')
const dear = Array.from({ length: 20 }, (_, at) => ({
  description: letters(2_000, String(at)),
  qty: '1',
  unitCents: 100,
}))
const isDear = (text: string) => /[\u0900-\u097f]/.test(text)

/** The time of a small document and of a thread's start fits in here, not that of the dear one: it needs some five seconds. */
const LIMITS = { ...RENDERER_LIMITS, cpuMaxMs: 2_000 }

/** Terms on which drawing fails, for no fault of the document. */
const BROKEN = 'broken'
/** What no picture is made of. */
const NO_PICTURE = Buffer.from('no picture')
/** The renderer is told of no logo, as if it had been mended. */
let isMended = false
let movedMs = 0

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const apply = (name: string, change: Partial<InvoiceSpec>) =>
  kubectl(['apply', '-f', '-'], {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Invoice',
    metadata: { name, namespace: namespace.name },
    spec: invoiceSpec({ test: true, ...change }),
  })
const object = async (name: string): Promise<InvoiceResource> =>
  JSON.parse(await kubectl(['get', 'inv', name, '-o', 'json']))
const stalled = async (name: string): Promise<string> => {
  const found = (await object(name)).status?.conditions?.find(({ type }) => type === 'Stalled')
  return found?.status === 'True' ? found.message : ''
}
const isReady = async (name: string): Promise<boolean> => {
  const { status, metadata } = await object(name)
  const found = status?.conditions?.find(({ type }) => type === 'Ready')
  return found?.status === 'True' && found.observedGeneration === metadata.generation
}
const triesOf = async (name: string): Promise<number> =>
  (await query(database.url, "select 1 from facts where resource = $1 and kind = 'undrawn'", [name])).length
const view = async (name: string): Promise<ShownInvoice | undefined> => (await life?.mirror.get(INVOICE, name))?.view

/** @param hold what is begun while it says so is neither drawn nor refused until the process ends */
const start = async (hold: (text: string) => boolean = () => false): Promise<void> => {
  const pdf: Pick<Renderer, 'render'> = {
    render: (frozen, asker, extras) => {
      const text = frozen.items[0]?.description ?? ''
      begun.push({ account: asker.account, text })
      if (frozen.terms === BROKEN) return Promise.reject(new Error('the thread fell over'))
      if (!hold(text)) return renderer.render(frozen, asker, isMended ? {} : extras)
      const { promise, reject } = Promise.withResolvers<Buffer>()
      asker.signal?.addEventListener('abort', () => reject(new Error('held')), { once: true })
      return promise
    },
  }
  const tools = () => ({ deps: { pdf }, close: async () => {} })
  const now = () => new Date(Date.now() + movedMs)
  const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: 1, tools, now }
  life = await startOneProcess(options, makeLife())
  await life.operator()
}

/** An account on whose documents a logo stands that cannot be drawn. */
const brand = async (): Promise<void> => {
  const pg = makePg({ url: database.url, max: 1 })
  const logo = JSON.stringify({ sha256: await makeBlobs({ pg }).put(NO_PICTURE), width: 10, height: 10 })
  await pg.close()
  const text = "insert into issuers (account, id, profile, logo) values ('branded', $1, '{}', $2)"
  await query(database.url, text, [DEFAULT_ISSUER, logo])
}
const listAside = { source: null, released: false }
const heldAside = async (): Promise<Quarantined[]> =>
  (await life?.api.quarantine.list(listAside, { limit: 10, offset: 0 }))?.rows ?? []
/** As an administrator does over REST. */
const release = async (id: number): Promise<void> => {
  const route = quarantineRoutes.find(({ method }) => method === 'POST')
  const request = { params: { id: String(id) }, caller: { account: 'boss' } } as unknown as ApiRequest
  assert.ok(life && route)
  assert.is((await route.handle(life.api, request)).status, 200)
}

spec('a document that is not drawn', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    renderer = makeRenderer(LIMITS)
    for (const name of ['demo', 'branded']) {
      await kubectl(['apply', '-f', '-'], {
        apiVersion: 'bottega.dev/v1alpha1',
        kind: 'Account',
        metadata: { name, namespace: namespace.name },
        spec: { email: `owner@${name}.test`, name, plan: 'team' },
      })
    }
  })
  t.before.each(async () => {
    database = await makeDatabase()
    begun = []
    isMended = false
    movedMs = 0
  })
  t.after.each(async () => {
    await life?.end()
    await kubectl(['delete', 'inv', '--all'])
    await database.drop()
  })
  t.after(async () => {
    await renderer.close()
    await namespace.remove()
  })

  t('is no larger than a document may be, or nothing here tries it', () => {
    assert.ok(specCost(invoiceSpec({ items: dear })).units < DRAW_UNITS_MAX)
  })

  t(
    'is tried twice and then Stalled with its figures; smaller ones are drawn, and it is when it is made smaller',
    async () => {
      await start()
      await apply('dear', { items: dear })
      await apply('small', {})
      await eventually('the small one', () => isReady('small'))
      const said = await eventually('the verdict', () => stalled('dear'))
      assert.match(said, /^DOCUMENT_TOO_LARGE: .*tried 2 times and needs more than 2000 ms of CPU time/)
      assert.equal([await triesOf('dear'), await triesOf('small')], [2, 0])
      assert.is(begun.filter(({ text }) => isDear(text)).length, 2)
      assert.equal([...new Set(begun.map(({ account }) => account))], ['demo'])
      const shown = await eventually('its view', () => view('dear'))
      assert.equal([shown.stalled?.code, shown.send_count], ['DOCUMENT_TOO_LARGE', 0])

      const operator = await life?.operator()
      await operator?.lookAtAll()
      assert.is(begun.filter(({ text }) => isDear(text)).length, 2, 'no third time')

      await apply('dear', {})
      await eventually('the smaller one', () => isReady('dear'))
      assert.is((await view('dear'))?.send_count, 1)
    },
  )

  t('is not begun anew by another process: what was tried before counts', async () => {
    await start((text) => isDear(text) && begun.filter((one) => isDear(one.text)).length > 1)
    await apply('dear', { items: dear })
    await eventually('the first try', async () => (await triesOf('dear')) === 1)
    await life?.end()
    begun = []
    await start()
    assert.match(await eventually('the verdict', () => stalled('dear')), /^DOCUMENT_TOO_LARGE/)
    assert.equal([begun.length, await triesOf('dear')], [1, 2])
  })

  t('is shown though each try to draw it fails, and no such try is held against it', async () => {
    await start()
    await apply('broken', { terms: BROKEN })
    const shown = await eventually('its view', async () => (await view('broken'))?.number)
    assert.match(shown, /^TEST-/)
    await eventually('a third try', async () => begun.length > 2)
    assert.is(await triesOf('broken'), 0)
  })

  t(
    'is set aside where it fails whenever it is drawn, holds up no other, and is drawn once it is released and can be',
    async () => {
      await brand()
      await start()
      await apply('poison', { account: 'branded' })
      const failed = async () =>
        (await query(database.url, "select 1 from facts where resource = 'poison' and kind = 'undrawable'")).length
      for (const [at, waitMs] of DRAW_AGAIN_MS.entries()) {
        await eventually(`try ${at + 1}`, async () => (await failed()) === at + 1)
        assert.equal(await heldAside(), [], 'it is tried again')
        movedMs += waitMs + 1_000
        await (await life?.operator())?.lookAtAll()
      }
      const [row] = await eventually('it to be set aside', async () => {
        const rows = await heldAside()
        return rows.length === 1 && rows
      })
      const { source, kind, resource, account, tries, reason } = row ?? {}
      assert.equal([source, kind, resource, account, tries], ['document', 'Invoice', 'poison', 'branded', 5])
      assert.match(reason ?? '', /Error/)
      assert.match(await eventually('the verdict', () => stalled('poison')), /^DOCUMENT_SET_ASIDE: .*tried 5 times/)
      const shown = await eventually('its view', async () => {
        const now = await view('poison')
        return now?.stalled && now
      })
      assert.equal([shown.stalled?.code, shown.send_count], ['DOCUMENT_SET_ASIDE', 0])
      assert.match(shown.number ?? '', /^TEST-/)

      await apply('small', {})
      await eventually('another', () => isReady('small'))
      await life?.end()
      await start()
      movedMs += 86_400_000
      await (await life?.operator())?.lookAtAll()
      assert.is(await failed(), 5, 'nobody tries it any more')

      await release(row?.id ?? 0)
      const [again] = await eventually('it to be set aside anew', async () => {
        const rows = await heldAside()
        return rows.length === 1 && rows[0]?.id !== row?.id && rows
      })
      assert.equal([again?.tries, await failed()], [6, 6], 'a release is one more try')
      isMended = true
      await release(again?.id ?? 0)
      await eventually('it to be drawn', () => isReady('poison'))
      assert.equal([(await view('poison'))?.send_count, await heldAside()], [1, []])
    },
  )

  t('is shown with its number while it is being drawn, and may be deleted', async () => {
    await start(isDear)
    await apply('dear', { items: dear })
    const shown = await eventually('its view', async () => {
      const row = await life?.mirror.get(INVOICE, 'dear')
      return row?.view.number ? row : undefined
    })
    assert.equal([shown.observedGeneration, shown.account, begun.length], [0, 'demo', 1])
    assert.match(shown.view.number ?? '', /^TEST-/)
    await kubectl(['delete', 'inv', 'dear'])
    await life?.end()
    await start()
    await eventually('its row to go', async () => (await view('dear')) === undefined)
  })
})
