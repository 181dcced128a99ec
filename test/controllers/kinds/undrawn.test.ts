import { createHash } from 'node:crypto'
import { makeRenderer, RENDERER_LIMITS, type Renderer } from '../../../controllers/io/pdf/renderer.ts'
import { DRAW_UNITS_MAX, specCost } from '../../../crds/invoice/document/drawcost.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceResource, InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { invoiceSpec } from '../../support/builders/invoice.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { type Database, kubectlFor, makeDatabase, makeNamespace, type Namespace } from '../../support/stage/stage.ts'

/** Documents that run out of the time of a thread, on the real renderer with a shorter limit; each try is counted. */

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
      if (!hold(text)) return renderer.render(frozen, asker, extras)
      const { promise, reject } = Promise.withResolvers<Buffer>()
      asker.signal?.addEventListener('abort', () => reject(new Error('held')), { once: true })
      return promise
    },
  }
  const tools = () => ({ deps: { pdf }, close: async () => {} })
  const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: 1, tools }
  life = await startOneProcess(options, makeLife())
  await life.operator()
}

spec('a document that runs out of time', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    renderer = makeRenderer(LIMITS)
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team' },
    })
  })
  t.before.each(async () => {
    database = await makeDatabase()
    begun = []
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
