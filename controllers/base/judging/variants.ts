/**
 * Renders sites in other layouts and templates in a thread of its own: a large content takes tenths of a second, and the loop of
 * the api serves everybody. Accounts take turns; what was rendered lately is kept.
 */
import type { Content } from '../../../crds/site/content/content.ts'
import type { Choice, MadeOf } from '../../../crds/site/publishing/variant.ts'
import type { SiteFile } from '../../../crds/site/render/input.ts'
import { type Asker, makeThreads, type ThreadLimits } from '../threads/pool.ts'

export const VARIANT_LIMITS: ThreadLimits = {
  threads: 1,
  queueMax: 64,
  accountUnitsMax: 16,
  waitMaxMs: 10_000,
  cpuMaxMs: 3_000,
  wallMaxMs: 20_000,
  heapMaxMib: 128,
  idleMaxMs: 60_000,
}

export type VariantJob = { content: Content; made: MadeOf; choice: Choice }

/** Renderings that are kept: a page of seven frames asks for some files of each. */
const KEPT_MAX = 24

export type VariantRenderer = {
  /**
   * Every file of a variant by its path.
   * @param of names what it is rendered from; that is read when it is not kept
   * @throws TooDear; what `busy` makes when too much waits
   */
  render(
    of: string,
    choice: Choice,
    read: () => Promise<Omit<VariantJob, 'choice'>>,
    asker: Asker,
  ): Promise<Map<string, SiteFile>>
  close(): Promise<void>
}

/** @param busy what is thrown when too much waits: a reason to come again */
export const makeVariantRenderer = (busy: () => Error, limits: ThreadLimits = VARIANT_LIMITS): VariantRenderer => {
  const entry = new URL('./variantthread.ts', import.meta.url)
  const threads = makeThreads<VariantJob, SiteFile[]>({ entry, what: 'The website', limits, busy })
  const kept = new Map<string, Promise<Map<string, SiteFile>>>()
  const keep = (key: string, made: Promise<Map<string, SiteFile>>): void => {
    kept.delete(key)
    kept.set(key, made)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  }
  return {
    render: (of, choice, read, asker) => {
      const key = `${of} ${choice.layout} ${choice.template}`
      const made =
        kept.get(key) ??
        read()
          .then((from) => threads.run({ ...from, choice }, asker))
          .then((files) => new Map(files.map((file) => [file.path, file])))
      keep(key, made)
      // what failed is tried again by the next who asks
      made.catch(() => kept.delete(key))
      return made
    },
    close: threads.close,
  }
}
