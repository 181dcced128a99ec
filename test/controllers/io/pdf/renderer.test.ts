import { setTimeout as sleep } from 'node:timers/promises'
import { Waiting } from '../../../../controllers/base/errors.ts'
import { JobFailed, makeThreads, TooDear } from '../../../../controllers/base/threads/pool.ts'
import { makePdf } from '../../../../controllers/io/pdf/pdf.ts'
import {
  makeRenderer,
  RENDERER_LIMITS,
  type RendererLimits,
  type RenderJob,
  Undrawable,
} from '../../../../controllers/io/pdf/renderer.ts'
import { frozenCost } from '../../../../crds/invoice/document/drawcost.ts'
import { frozenInvoice, frozenItem } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const demo = { account: 'demo' }
const small = frozenInvoice()
/** A tenth of a second, and four times that. */
const arabic = (items: number) =>
  frozenInvoice({ items: Array.from({ length: items }, () => frozenItem({ description: 'خدمات '.repeat(200) })) })
const long = arabic(4)
const longer = arabic(16)

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
      const invoices = [small, frozenInvoice({ terms: '你好 שלום' }), frozenInvoice({ lang: 'es' })]
      const drawn = await Promise.all(invoices.map((frozen) => renderer.render(frozen, demo)))
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
      const taken = Array.from({ length: 4 }, () => renderer.render(small, demo))
      assert.is(await reasonOf(renderer.render(small, demo)), 'PDF_BUSY')
      for (const bytes of await Promise.all(taken)) assert.ok(bytes.length > 10_000)
      assert.ok((await renderer.render(small, demo)).length > 10_000)
    } finally {
      await renderer.close()
    }
  })

  t('says PDF_RENDER_OFF when it is switched off', async () => {
    const off = makeRenderer({ ...RENDERER_LIMITS, threads: 0 })
    assert.is(await reasonOf(off.render(small, demo)), 'PDF_RENDER_OFF')
  })

  const endless = frozenInvoice({ items: Array.from({ length: 600_000 }, () => frozenItem()) })
  const faults: [string, Partial<RendererLimits>, RegExp][] = [
    ['takes too much CPU time', { cpuMaxMs: 3_000, heapMaxMib: 2_048 }, /more than 3000 ms of CPU time/],
    ['takes too much memory', { cpuMaxMs: 60_000, heapMaxMib: 48 }, /more than 48 MiB of memory/],
  ]
  for (const [what, limits, needs] of faults) {
    t(`ends a thread that ${what}, says what the document needs, and goes on in a new one`, async () => {
      const renderer = makeRenderer({ ...RENDERER_LIMITS, waitMaxMs: 80_000, ...limits })
      try {
        const refused = reasonOf(renderer.render(endless, demo))
        const next = renderer.render(longer, { account: 'other' })
        next.catch(() => {})
        const error = await refused
        assert.instance(error, TooDear)
        assert.match((error as TooDear).needs, needs)
        assert.ok((await next).length > 10_000)
      } finally {
        await renderer.close()
      }
    })
  }

  t('holds no slow machine against a document: what the wall clock ends is no document that is too dear', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, wallMaxMs: 0 })
    try {
      const error = await reasonOf(renderer.render(arabic(100), demo))
      assert.not.instance(error, TooDear)
      assert.match((error as Error).message, /not done within 0 ms/)
    } finally {
      await renderer.close()
    }
  })

  t('counts the CPU time of each document for itself, however long its thread has lived', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, cpuMaxMs: 2_000 })
    try {
      for (let n = 0; n < 12; n++) assert.ok((await renderer.render(longer, demo)).length > 10_000)
    } finally {
      await renderer.close()
    }
  })

  t('refuses what waits when it is closed', async () => {
    const renderer = makeRenderer()
    const waits = [renderer.render(small, demo), renderer.render(small, demo)].map(reasonOf)
    await renderer.close()
    for (const error of await Promise.all(waits)) assert.match((error as Error).message, /closed/)
  })
})

/** A document that no thread can draw: its logo is no picture. */
const unreadable = { logo: Buffer.from('no picture') }

spec('a document that fails by itself', (t) => {
  t('is told from a renderer that draws nothing, and the next one is drawn', async () => {
    const renderer = makeRenderer()
    const still = makeRenderer({ ...RENDERER_LIMITS, wallMaxMs: 1, lookMs: 1 })
    try {
      const failed = await reasonOf(renderer.render(small, demo, unreadable))
      assert.instance(failed, Undrawable)
      assert.match((failed as Undrawable).how, /Error/)
      assert.not.match((failed as Undrawable).message, /image/, 'what the job said may quote it')
      assert.match(((failed as Undrawable).cause as Error).message, /image/)
      assert.ok((await renderer.render(small, demo)).length > 10_000)
      const nothing = await reasonOf(still.render(small, demo))
      assert.instance(nothing, JobFailed, 'no document is at fault where the smallest is not drawn either')
    } finally {
      await renderer.close()
      await still.close()
    }
  })

  t('holds up nobody when it is tried again: it waits with what is dear', async () => {
    const renderer = makeRenderer()
    try {
      const done: string[] = []
      const suspect = renderer.render(arabic(24), { ...demo, isSuspect: true }).then(() => void done.push('suspect'))
      await renderer.render(small, { account: 'other' }).then(() => void done.push('other'))
      await suspect
      assert.equal(done, ['other', 'suspect'])
    } finally {
      await renderer.close()
    }
  })

  t('says how its thread ended, or that it stood still', async () => {
    const limits = { ...RENDERER_LIMITS, wallMaxMs: 300, lookMs: 10 }
    const ways: [string, string][] = [
      ['process.exit(3)', 'its thread ended with 3'],
      ['setInterval(() => {}, 1_000)', 'not done within 300 ms'],
      ["throw new RangeError('of the text')", 'RangeError'],
    ]
    for (const [does, how] of ways) {
      const source = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${does} })`
      const entry = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
      const threads = makeThreads<string, string>({
        entry,
        what: 'The document',
        limits,
        busy: () => new Error('busy'),
      })
      const failed = await reasonOf(threads.run('draw', demo))
      await threads.close()
      assert.instance(failed, JobFailed, does)
      assert.is((failed as JobFailed).how, how)
    }
  })
})

spec('accounts that share the renderer', (t) => {
  t('wait for no dear document: what takes seconds holds up only its like', async () => {
    const renderer = makeRenderer()
    try {
      const done: string[] = []
      const ask = (account: string, frozen: typeof small) =>
        renderer.render(frozen, { account }).then(() => void done.push(account))
      await renderer.render(small, demo)
      const dear = ask('flood', arabic(24))
      await Promise.all([ask('other', small), ask('third', long)])
      assert.equal(done, ['other', 'third'])
      await dear
    } finally {
      await renderer.close()
    }
  })

  t('find the thread for dear documents again after it has ended for want of them', async () => {
    const threads = makeThreads<RenderJob, Uint8Array>({
      entry: new URL('../../../../controllers/io/pdf/renderthread.ts', import.meta.url),
      what: 'The document',
      limits: { ...RENDERER_LIMITS, idleMaxMs: 1 },
      busy: () => new Error('busy'),
    })
    try {
      for (let n = 0; n < 3; n++) {
        assert.ok((await threads.run({ frozen: small, extras: {} }, demo)).byteLength > 10_000)
        await sleep(20)
      }
    } finally {
      await threads.close()
    }
  })

  t('take turns: a small document is not behind twenty long ones of another account', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, accountUnitsMax: Number.POSITIVE_INFINITY })
    try {
      const done: string[] = []
      const ask = (account: string, frozen: typeof small) =>
        renderer.render(frozen, { account }).then(() => void done.push(account))
      const flood = Array.from({ length: 20 }, () => ask('flood', long))
      const others = ['other', 'third', 'other'].map((account) => ask(account, small))
      await Promise.all([...flood, ...others])
      assert.equal(done.slice(0, 6), ['flood', 'other', 'third', 'flood', 'other', 'flood'])
      assert.is(done.length, 23)
    } finally {
      await renderer.close()
    }
  })

  t('keep their turn when they were sent away and come again', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, accountUnitsMax: Number.POSITIVE_INFINITY })
    try {
      const done: string[] = []
      const ask = (account: string) => renderer.render(long, { account }).then(() => void done.push(account))
      await Promise.all([ask('flood'), ask('flood')])
      await Promise.all([ask('flood'), ask('flood'), ask('other')])
      assert.equal(done, ['flood', 'flood', 'flood', 'other', 'flood'])
    } finally {
      await renderer.close()
    }
  })

  t('have so much work each in the queue and no more, and one document always', async () => {
    const { units } = frozenCost(long)
    const renderer = makeRenderer({ ...RENDERER_LIMITS, accountUnitsMax: units * 2 })
    const tight = makeRenderer({ ...RENDERER_LIMITS, accountUnitsMax: 1 })
    try {
      const [drawing, ...waiting] = Array.from({ length: 3 }, () => renderer.render(long, { account: 'flood' }))
      assert.is(await reasonOf(renderer.render(long, { account: 'flood' })), 'PDF_BUSY')
      const other = renderer.render(long, { account: 'other' })
      await Promise.all([drawing, ...waiting, other])
      await Promise.all([tight.render(long, demo), tight.render(long, demo)])
    } finally {
      await renderer.close()
      await tight.close()
    }
  })

  t('leave the queue when nobody waits any longer, or when it lasts too long', async () => {
    const renderer = makeRenderer({ ...RENDERER_LIMITS, queueMax: 1 })
    const hasty = makeRenderer({ ...RENDERER_LIMITS, waitMaxMs: 1 })
    try {
      const first = renderer.render(long, demo)
      const gone = new AbortController()
      const left = reasonOf(renderer.render(small, { account: 'demo', signal: gone.signal }))
      assert.is(await reasonOf(renderer.render(small, { account: 'other' })), 'PDF_BUSY')
      gone.abort()
      assert.match(((await left) as Error).message, /nobody waits/)
      assert.ok((await renderer.render(small, { account: 'other' })).length > 10_000)
      await first
      const drawing = hasty.render(long, demo)
      assert.is(await reasonOf(hasty.render(small, { account: 'other' })), 'PDF_BUSY')
      await drawing
    } finally {
      await renderer.close()
      await hasty.close()
    }
  })
})
