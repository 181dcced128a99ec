import { setTimeout as sleep } from 'node:timers/promises'
import type { ImageTarget, OpenVerdict, QuickVerdict } from '../../../controllers/io/pictures/images.ts'
import { makePictureQueue, type PictureAsker, type PictureQueue } from '../../../controllers/io/pictures/queue.ts'
import { sha256Of } from '../../../controllers/store/blobs.ts'
import type { PictureRows, PictureWork } from '../../../controllers/store/site/pictures.ts'
import type { ImageVariant, RenderedImage } from '../../../crds/site/render/input.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** The queue of pictures with encoders that go on when they are told to: its order is seen, not its time. */

const TARGETS: ImageTarget[] = [
  { format: 'jpeg', width: 320 },
  { format: 'webp', width: 320 },
  { format: 'avif', width: 320 },
]
const image: RenderedImage = { width: 320, height: 200, dominant: '#888888', variants: [] }

type Stage = {
  queue: PictureQueue
  rows: Map<string, PictureWork>
  blobs: Map<string, Buffer>
  /** `quick SOURCE`, `open SOURCE`, `jpeg SOURCE`, …, in their order. */
  done: string[]
  woken: string[]
  fetched: string[]
  /** Encoders that wait to be told. */
  gates: (() => void)[]
  faults: unknown[]
  clock: { ms: number }
}

/** @param from what is stored already, as after a crash */
const stage = (from: Partial<Pick<Stage, 'rows' | 'blobs'>> & { gated?: boolean; failing?: string[] } = {}): Stage => {
  const { rows = new Map(), blobs = new Map(), gated = false, failing = [] } = from
  const made: Stage = {
    queue: undefined as unknown as PictureQueue,
    ...{ rows, blobs, done: [], woken: [], fetched: [], gates: [], faults: [], clock: { ms: 0 } },
  }
  const row = (source: string): PictureWork => {
    const found = rows.get(source) ?? { original: null, quick: null, image: null, variants: [] }
    rows.set(source, found)
    return found
  }
  const pictures: PictureRows = {
    kept: async () => new Map(),
    work: async (source) => rows.get(source) ?? null,
    keep: async (source, { original, quick, image: whole }) => {
      const before = row(source)
      rows.set(source, {
        original: before.original ?? original ?? null,
        quick: before.quick ?? quick ?? null,
        image: before.image ?? whole ?? null,
        variants: whole ? [] : before.variants,
      })
    },
    keepVariant: async (source, variant) => {
      row(source).variants.push(variant)
    },
  }
  const put = async (bytes: Buffer): Promise<string> => {
    blobs.set(sha256Of(bytes), bytes)
    return sha256Of(bytes)
  }
  const nameOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()
  const quickImage = async (bytes: Uint8Array): Promise<QuickVerdict> => {
    made.done.push(`quick ${nameOf(bytes)}`)
    if (nameOf(bytes).startsWith('bad')) return { ok: false, reason: 'moves; send a single picture' }
    return { ok: true, image, blobs: [], isWhole: nameOf(bytes).startsWith('small') }
  }
  const openImage = async (bytes: Uint8Array): Promise<OpenVerdict> => {
    made.done.push(`open ${nameOf(bytes)}`)
    return {
      ok: true,
      open: {
        targets: TARGETS,
        async encode({ format, width }) {
          if (gated) await new Promise<void>((resolve) => made.gates.push(resolve))
          const work = `${format} ${nameOf(bytes)}`
          if (failing.splice(0, 1).length > 0) throw new Error('the database is away')
          made.done.push(work)
          const variant: ImageVariant = { format, width, height: 200, sha256: work, bytes: 1 }
          return { variant, blob: { sha256: work, bytes: Buffer.from(work), contentType: `image/${format}` } }
        },
        finish: async (variants) => ({ ...image, variants }),
      },
    }
  }
  made.queue = makePictureQueue({
    rows: pictures,
    blobs: {
      get: async (sum) => blobs.get(sum) ?? null,
      put,
      putAll: async (all) => Promise.all(all.map(put)),
    },
    media: {
      quickImage,
      openImage,
      intake: async (url) => {
        made.fetched.push(url)
        return url.includes('gone')
          ? { ok: false, reason: 'could not be fetched' }
          : { ok: true, bytes: Buffer.from(url) }
      },
    },
    wake: (_kind, site) => made.woken.push(site),
    now: () => new Date(made.clock.ms),
    log: { warn: (fields) => made.faults.push(fields) },
  })
  return made
}

const settled = async (what: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 2_000; turn++) {
    if (what()) return
    await sleep(1)
  }
  throw new Error('it never came to that')
}

const upload = ({ blobs }: Stage, ...names: string[]): string[] =>
  names.map((name) => {
    const bytes = Buffer.from(name)
    blobs.set(sha256Of(bytes), bytes)
    return sha256Of(bytes)
  })
const asker = (account: string, life = 'uid/1'): PictureAsker => ({ site: `site-${account}`, account, life })

spec('pictures that are under way', (t) => {
  t('are shown first, then made width by width, one picture after the other', async () => {
    const here = stage()
    here.queue.ask(asker('a'), upload(here, 'one', 'two'))
    await settled(here.queue.idle)
    const widths = here.done.filter((work) => /^(jpeg|webp|avif)/.test(work))
    assert.equal(widths, ['jpeg one', 'webp one', 'avif one', 'jpeg two', 'webp two', 'avif two'])
    assert.ok(here.done.indexOf('quick two') < here.done.indexOf('avif one'), here.done.join())
    assert.equal(
      [...here.rows.values()].map((row) => row.image?.variants.length),
      [3, 3],
    )
    assert.equal(new Set(here.woken), new Set(['site-a']))
  })

  t('of one account wait for no forty of another', async () => {
    const here = stage({ gated: true })
    const many = upload(here, ...Array.from({ length: 40 }, (_, n) => `many-${n}`))
    here.queue.ask(asker('a'), many)
    await settled(() => here.gates.length > 0)
    here.queue.ask(asker('b'), upload(here, 'only'))
    const whole = () => [...here.rows].some(([source, row]) => source === sha256Of(Buffer.from('only')) && row.image)
    await settled(() => {
      for (const open of here.gates.splice(0)) open()
      return whole()
    })
    const before = here.done.filter((work) => /^(jpeg|webp|avif) many/.test(work)).length
    assert.ok(before <= 12, `${before} of 120 widths of the other came first`)
    await here.queue.stop()
  })

  t('are shown also while all encoders are at work', async () => {
    const here = stage({ gated: true })
    here.queue.ask(asker('a'), upload(here, ...Array.from({ length: 6 }, (_, n) => `many-${n}`)))
    await settled(() => here.gates.length > 0)
    here.queue.ask(asker('b'), upload(here, 'only'))
    await settled(() => here.done.includes('quick only'))
    assert.equal(
      here.done.filter((work) => work.startsWith('jpeg')),
      [],
    )
    for (const open of here.gates.splice(0)) open()
    await here.queue.stop()
  })

  t('go on after a process died: what was made is not made again', async () => {
    const first = stage({ gated: true })
    const [source = ''] = upload(first, 'one')
    first.queue.ask(asker('a'), [source])
    await settled(() => first.gates.length > 0)
    first.gates.shift()?.()
    await settled(() => first.gates.length > 0)
    assert.equal(first.rows.get(source)?.variants.length, 1)
    const next = stage({ rows: first.rows, blobs: first.blobs })
    assert.is(next.queue.standing(asker('a'), source), null, 'another process knows of none')
    next.queue.ask(asker('a'), [source])
    await settled(next.queue.idle)
    assert.equal(next.done, ['open one', 'webp one', 'avif one'])
  })

  t('are not made again for another edit, nor for another account', async () => {
    const here = stage()
    const sources = upload(here, 'one')
    here.queue.ask(asker('a'), sources)
    await settled(here.queue.idle)
    const { length } = here.done
    here.queue.ask(asker('a', 'uid/2'), sources)
    here.queue.ask(asker('b'), sources)
    await settled(here.queue.idle)
    assert.is(here.done.length, length)
  })

  t('small ones are whole at once', async () => {
    const here = stage()
    const [source = ''] = upload(here, 'small')
    here.queue.ask(asker('a'), [source])
    await settled(here.queue.idle)
    assert.equal([here.done, here.rows.get(source)?.image !== null], [['quick small'], true])
  })

  t('that cannot be shown are told to who asked, for what was asked then', async () => {
    const here = stage()
    const [source = ''] = upload(here, 'bad')
    here.queue.ask(asker('a'), [source, 'f'.repeat(64)])
    assert.equal(here.queue.standing(asker('a'), source), { state: 'asked' })
    await settled(here.queue.idle)
    assert.equal(here.queue.standing(asker('a'), source), { state: 'bad', detail: 'moves; send a single picture' })
    const lost = here.queue.standing(asker('a'), 'f'.repeat(64))
    assert.match(lost?.state === 'bad' ? lost.detail : '', /upload it again/)
    assert.is(here.queue.standing(asker('a', 'uid/2'), source), null)
    assert.is(here.queue.standing(asker('b'), source), null)
    assert.ok(here.woken.includes('site-a'))
    here.queue.forget('site-a')
    assert.is(here.queue.standing(asker('a'), source), null)
  })

  t('by address are fetched once, and what could not be fetched is tried again a minute later', async () => {
    const here = stage()
    const [good, gone] = ['https://pictures.test/one', 'https://pictures.test/gone']
    here.queue.ask(asker('a'), [good, gone])
    await settled(here.queue.idle)
    assert.is(here.rows.get(good)?.image?.variants.length, 3)
    const next = stage({
      rows: new Map([
        [good, { ...image, original: sha256Of(Buffer.from(good)), quick: null, image: null, variants: [] }],
      ]),
      blobs: here.blobs,
    })
    next.queue.ask(asker('a'), [good])
    await settled(next.queue.idle)
    assert.equal([next.fetched, next.done[0]], [[], `quick ${good}`], 'its bytes were stored before the process died')
    assert.is(here.queue.standing(asker('a'), gone)?.state, 'bad')
    here.clock.ms += 61_000
    assert.is(here.queue.standing(asker('a'), gone), null)
  })

  t('nobody waits for any longer are not worked on', async () => {
    const here = stage({ gated: true })
    const sources = upload(here, 'one', 'two', 'three')
    here.queue.ask(asker('a'), sources)
    await settled(() => here.gates.length > 0 && here.done.includes('quick three'))
    here.queue.ask(asker('a', 'uid/2'), sources.slice(0, 1))
    await settled(() => {
      for (const open of here.gates.splice(0)) open()
      return here.queue.idle()
    })
    assert.equal(
      here.done.filter((work) => work.startsWith('avif')),
      ['avif one'],
    )
  })

  t('are asked for again after a fault, and a queue that is stopped begins nothing', async () => {
    const here = stage({ failing: ['once'] })
    const [source = ''] = upload(here, 'one')
    here.queue.ask(asker('a'), [source])
    await settled(() => here.faults.length === 1)
    assert.is(here.queue.standing(asker('a'), source), null)
    here.queue.ask(asker('a'), [source])
    await settled(() => here.rows.get(source)?.image != null)
    await here.queue.stop()
    const { length } = here.done
    here.queue.ask(asker('a'), upload(here, 'two'))
    await sleep(5)
    assert.is(here.done.length, length)
  })
})
