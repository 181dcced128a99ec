/**
 * Tells how far audit and register have come, again and again, to where the database's owner does not write: the log, and a metric
 * that others collect. A word that was saved from there is compared with the database by `setup.ts history` (hack/history).
 */
import { parseArgs } from 'node:util'
import { EnvError } from '../../base/env.ts'
import type { Log } from '../../base/log.ts'
import { type HeadAnew, type HeadWords, type History, readHistory } from '../../store/ledger/history.ts'
import type { Pg } from '../../store/pg/pg.ts'

const FIRST_MS = 60_000

export type HistoryDeps = {
  history: History
  words: HeadWords
  now: () => Date
  log: Log
  everyMs: number
  /** Told with each head, the same one again where nothing was written since. */
  onHead?: ((word: string, n: number) => void) | undefined
  /** The head that was told last is not what stands there now. */
  onRewritten?: (() => void) | undefined
}

/** Takes one head after another and tells each. @returns a function that does it once */
export const makeTellHead = ({ history, words, now, log, onHead, onRewritten }: HistoryDeps): (() => Promise<void>) => {
  let last: { n: number; head: string } | undefined
  return async () => {
    if (last !== undefined && (await history.written(last.n)) !== last.head) {
      log.error({ head: words.wordOf(last) }, 'history was rewritten: this head was told, and is not there any more')
      onRewritten?.()
    }
    const head = await history.take(now())
    if (head === null) return
    last = head
    const word = words.wordOf(head)
    log.info({ head: word, at: head.at, chains: head.chains }, 'head of the history')
    onHead?.(word, head.n)
  }
}

/** Of whoever leads. What fails is made up by the next. @returns the way to end it */
export const startHistory = (deps: HistoryDeps): (() => void) => {
  const tell = makeTellHead(deps)
  const run = () => void tell().catch((err) => deps.log.warn({ err }, 'no head of the history was taken'))
  const timers = [setTimeout(run, Math.min(FIRST_MS, deps.everyMs)), setInterval(run, deps.everyMs)]
  for (const timer of timers) timer.unref()
  return () => {
    for (const timer of timers) clearTimeout(timer)
  }
}

const faultOfSaved = (saved: { n: number; head: string; isOurs: boolean }, heads: readonly HeadAnew[]): string[] => {
  const found = heads.find(({ n }) => n === saved.n)
  const foreign = saved.isOurs ? [] : [`head ${saved.n}, as saved, was not told under this BOTTEGA_SECRET_KEY`]
  if (found === undefined) {
    const newest = heads.at(-1)?.n ?? 0
    return [...foreign, `head ${saved.n} is not there, the newest is ${newest}: the database is older, or was cut off`]
  }
  if (found.anew === saved.head) return foreign
  const what = found.anew === null ? 'entries that it rests on are missing' : 'what it covers was written anew'
  return [...foreign, `head ${saved.n} of ${found.at} was saved as ${saved.head}: ${what}`]
}

/** All that does not hold, in sentences; none when history is what it was when the word was told, and whole. */
export const historyFaults = async (
  { pg, words }: { pg: Pg; words: HeadWords },
  saved: readonly string[],
): Promise<{ faults: string[]; newest: string | null }> => {
  const read = saved.map((word) => {
    const one = words.read(word)
    if (one === undefined) throw new EnvError([{ name: '--head', expected: 'NUMBER.HEAD.MAC, as the log tells it' }])
    return one
  })
  const { heads, bad } = await readHistory(pg)
  const broken = heads.find(({ written, anew }) => written !== anew)
  const newest = heads.at(-1)
  return {
    faults: [
      ...read.flatMap((one) => faultOfSaved(one, heads)),
      ...(broken ? [`head ${broken.n} of ${broken.at} does not follow from the entries that stand there now`] : []),
      ...bad.map(({ chain, firstBad }) => `${chain}: from entry ${firstBad} on something is missing, moved or altered`),
    ],
    newest: newest && newest.written === newest.anew ? words.wordOf({ n: newest.n, head: newest.written }) : null,
  }
}

/** @throws EnvError when they are not understood */
export const readHistoryOptions = (args: string[]): string[] => {
  try {
    return parseArgs({ args, options: { head: { type: 'string', multiple: true } } }).values.head ?? []
  } catch {
    throw new EnvError([{ name: 'argument', expected: HISTORY_USAGE }])
  }
}

export const HISTORY_USAGE = 'history [--head NUMBER.HEAD.MAC]…'
