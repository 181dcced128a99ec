import { makePdf } from '../../controllers/io/pdf.ts'
import { makeRenderer, RENDERER_LIMITS, type RendererLimits } from '../../controllers/io/renderer.ts'
import { Waiting } from '../../controllers/runtime/errors.ts'
import { frozenInvoice, frozenItem } from '../support/frozen.ts'
import { assert, spec } from '../support/spec.ts'

const reasonOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await promise.then(
    () => assert.unreachable('it was drawn'),
    (thrown: unknown) => thrown,
  )
  return error instanceof Waiting ? error.reason : error
}

spec('the renderer', (t) => {
  t('draws in its threads the same bytes as in the process', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, threads: 2 })
    try {
      const invoices = [frozenInvoice(), frozenInvoice({ terms: '你好 שלום' }), frozenInvoice({ lang: 'es' })]
      const drawn = await Promise.all(invoices.map((frozen) => renderer.render(frozen)))
      for (const [index, frozen] of invoices.entries()) {
        assert.ok(drawn[index]?.equals(await makePdf().render(frozen)), `document ${index}`)
      }
    } finally {
      await renderer.close()
    }
  })

  t('refuses with PDF_BUSY what would wait behind a full queue, and draws all that it took', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, queueMax: 3 })
    try {
      const taken = Array.from({ length: 4 }, () => renderer.render(frozenInvoice()))
      assert.is(await reasonOf(renderer.render(frozenInvoice())), 'PDF_BUSY')
      for (const bytes of await Promise.all(taken)) assert.ok(bytes.length > 10_000)
      assert.ok((await renderer.render(frozenInvoice())).length > 10_000)
    } finally {
      await renderer.close()
    }
  })

  t('says PDF_RENDER_OFF when it is switched off', async () => {
    assert.is(
      await reasonOf(makeRenderer({ ...RENDERER_LIMITS, threads: 0 }).render(frozenInvoice())),
      'PDF_RENDER_OFF',
    )
  })

  t('reports a logo that is no picture, and draws on', async () => {
    const renderer = makeRenderer()
    try {
      const error = await reasonOf(renderer.render(frozenInvoice(), { logo: Buffer.from('no picture') }))
      assert.match((error as Error).message, /image/)
      assert.ok((await renderer.render(frozenInvoice())).length > 10_000)
    } finally {
      await renderer.close()
    }
  })

  const endless = frozenInvoice({ items: Array.from({ length: 600_000 }, () => frozenItem()) })
  const faults: [string, Partial<RendererLimits>, RegExp][] = [
    ['takes too long', { renderTimeoutMs: 6_000, heapMaxMib: 2_048 }, /not drawn within 6000 ms/],
    ['takes too much memory', { renderTimeoutMs: 60_000, heapMaxMib: 48 }, /memory limit/],
  ]
  for (const [what, limits, message] of faults) {
    t(`ends a thread that ${what}, and goes on in a new one`, async () => {
      const renderer = makeRenderer({ ...RENDERER_LIMITS, ...limits })
      try {
        const refused = reasonOf(renderer.render(endless))
        const next = renderer.render(frozenInvoice())
        next.catch(() => {})
        assert.match(((await refused) as Error).message, message)
        assert.ok((await next).length > 10_000)
      } finally {
        await renderer.close()
      }
    })
  }

  t('refuses what waits when it is closed', async () => {
    const renderer = makeRenderer()
    const waits = [renderer.render(frozenInvoice()), renderer.render(frozenInvoice())].map(reasonOf)
    await renderer.close()
    for (const error of await Promise.all(waits)) assert.match((error as Error).message, /closed/)
  })
})
