/**
 * Which of the long files a run takes when it may not take them all: what failed, is new or was changed, then those about code
 * that was changed, then what waited longest. So each comes up again after few runs, however many there are.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What a run stood for: the file's own text, and the code in the rooms that its path names. */
export type Sums = { sha256: string; subject: string }
/** How a file did when it was last run. */
export type Past = Sums & { tookMs: number; endedAt: number; passed: boolean }
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

type Candidate = Sums & { file: string }

/** What must be run: nobody knows how it does now. */
const isOpen = ({ file, sha256 }: Candidate, pasts: Pasts): boolean => {
  const past = pasts[file]
  return past === undefined || !past.passed || past.sha256 !== sha256
}

/**
 * @param budgetMs of the files' own time, added up; what must be run is taken whatever it costs
 * @returns the files whose turn it is, in the order they were given
 */
export function turnOf(candidates: readonly Candidate[], pasts: Pasts, budgetMs: number): string[] {
  const taken = new Set(candidates.filter((one) => isOpen(one, pasts)).map(({ file }) => file))
  const costOf = (file: string) => pasts[file]?.tookMs ?? 0
  let leftMs = budgetMs - [...taken].reduce((sum, file) => sum + costOf(file), 0)
  const waitsSince = ({ file, subject }: Candidate) =>
    pasts[file]?.subject === subject ? (pasts[file]?.endedAt ?? 0) : 0
  const waiting = candidates.filter(({ file }) => !taken.has(file)).sort((a, b) => waitsSince(a) - waitsSince(b))
  for (const { file } of waiting) {
    // a short one that fits does not overtake a long one: that one would never come up
    if (costOf(file) > leftMs) break
    leftMs -= costOf(file)
    taken.add(file)
  }
  return candidates.map(({ file }) => file).filter((file) => taken.has(file))
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
