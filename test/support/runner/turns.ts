/**
 * Which of the long files a run takes when it may not take them all: what failed, is new or was changed, then those about code
 * that was changed, then what waited longest. So each comes up again after few runs, however many there are.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What a run stood for: the file's own text, and the code in the rooms that its path names. */
export type Sums = { sha256: string; subject: string }
/** How a file did when it was last run. One for which no time was left has ended at {@link NEVER}. */
export type Past = Sums & { tookMs: number; endedAt: number; passed: boolean }
export const NEVER = 0
/** By the file's path below the root. */
export type Pasts = Readonly<Record<string, Past>>

const sumOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const SOURCES = '{api,controllers,crds,hack}/**/*.{ts,sql,json,yaml,go}'

/**
 * A test is about the rooms whose names are in its path: `test/hosts/app/order.test.ts` about each folder `app`.
 * @param root of the checkout @returns sums of files below it
 */
export function makeSums(root: string): (file: string) => Sums {
  const sources = globSync(SOURCES, { cwd: root })
    .sort()
    .map((path) => ({ rooms: new Set(dirname(path).split('/')), sha256: sumOf(join(root, path)) }))
  return (file) => {
    const words = file.split(/[/.-]/)
    const about = sources.filter(({ rooms }) => words.some((word) => rooms.has(word)))
    const subject = createHash('sha256')
    for (const { sha256 } of about) subject.update(sha256)
    return { sha256: sumOf(join(root, file)), subject: subject.digest('hex') }
  }
}

export type Candidate = Sums & { file: string; lane: string }

/** How long files take that ran so long in each lane, and how long they may. */
export type Limit = { limitMs: number; wallOf(costs: ReadonlyMap<string, number>): number }

/** What must be run: nobody knows how it does now. */
const isOpen = ({ file, sha256 }: Candidate, pasts: Pasts): boolean => {
  const past = pasts[file]
  return past === undefined || !past.passed || past.sha256 !== sha256
}

/**
 * @param limit of the time by the clock; what must be run is taken whatever it costs
 * @returns the files whose turn it is, in the order they were given
 */
export function turnOf(candidates: readonly Candidate[], pasts: Pasts, { limitMs, wallOf }: Limit): string[] {
  const taken = new Set<string>()
  const costs = new Map<string, number>()
  const costWith = ({ file, lane }: Candidate) => (costs.get(lane) ?? 0) + (pasts[file]?.tookMs ?? 0)
  const take = (one: Candidate) => {
    costs.set(one.lane, costWith(one))
    taken.add(one.file)
  }
  for (const one of candidates) if (isOpen(one, pasts)) take(one)
  const waitsSince = ({ file, subject }: Candidate) =>
    pasts[file]?.subject === subject ? (pasts[file]?.endedAt ?? 0) : 0
  const waiting = candidates.filter(({ file }) => !taken.has(file)).sort((a, b) => waitsSince(a) - waitsSince(b))
  // a short one that fits does not overtake a long one of its lane: that one would never come up
  const full = new Set<string>()
  for (const one of waiting) {
    if (full.has(one.lane)) continue
    if (wallOf(new Map([...costs, [one.lane, costWith(one)]])) > limitMs) full.add(one.lane)
    else take(one)
  }
  return candidates.map(({ file }) => file).filter((file) => taken.has(file))
}

/** What nobody knows a file to take, where none of its lane was run. */
const TAKES_MS = 60_000

/**
 * Of files for which no time was left: known as what waits longest, and not as new, for all of them at any cost would be a run as long as
 * the one that left them. What they take is what the others of their lane took on average.
 */
export function leftOf(left: readonly Candidate[], pasts: Pasts): Pasts {
  const known = Object.entries(pasts).filter(([, { endedAt }]) => endedAt !== NEVER)
  // a path says of which lane it is by the folder below test/
  const folderOf = (file: string) => file.split('/')[1]
  const takesMs = (file: string): number => {
    const alike = known.filter(([other]) => folderOf(other) === folderOf(file)).map(([, { tookMs }]) => tookMs)
    return alike.length === 0 ? TAKES_MS : Math.round(alike.reduce((sum, ms) => sum + ms, 0) / alike.length)
  }
  const unknown = left.filter(({ file }) => pasts[file] === undefined)
  return Object.fromEntries(
    unknown.map(({ file, sha256, subject }) => [
      file,
      { sha256, subject, tookMs: takesMs(file), endedAt: NEVER, passed: true },
    ]),
  )
}

/** @returns nothing known where there is no file, or none that can be read: everything is run then */
export function readPasts(path: string): Pasts {
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Pasts
  } catch {
    return {}
  }
}

/** Adds to what is on record; of two runs side by side the last one to write a file wins. */
export function recordPasts(path: string, news: Pasts): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.${process.pid}`, `${JSON.stringify({ ...readPasts(path), ...news }, null, 1)}\n`)
  renameSync(`${path}.${process.pid}`, path)
}
