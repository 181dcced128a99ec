/** What a checkout remembers of its runs: which file was run when, and how it did (turns.ts). */
import { relative } from 'node:path'
import { type Candidate, leftOf, makeSums, type Pasts, readPasts, recordPasts } from './turns.ts'

export type Laned = { lane: string; files: readonly string[] }

export type RunRecord = {
  pasts(): Pasts
  /** As the files are now. */
  candidatesOf(laned: readonly Laned[]): Candidate[]
  /** A file has ended. */
  note(file: string, end: { tookMs: number; passed: boolean }): void
  /** No time was left for these paths below the root: they are the first to have their turn in the next run. */
  noteLeft(laned: readonly Laned[], late: readonly string[]): void
}

/** @param root of the checkout @param path of the file @param files of this run: changed meanwhile, they count as they were when it began */
export const openRecord = (root: string, path: string, files: readonly string[]): RunRecord => {
  const sumsOf = makeSums(root)
  const pathOf = (file: string): string => relative(root, file)
  const sums = new Map(files.map((file) => [pathOf(file), sumsOf(pathOf(file))]))
  const candidatesOf = (laned: readonly Laned[]): Candidate[] =>
    laned.flatMap(({ lane, files }) =>
      files.flatMap((file) => {
        const known = sums.get(pathOf(file))
        return known ? [{ file: pathOf(file), lane, ...known }] : []
      }),
    )
  const keep = (news: Pasts): void => {
    try {
      recordPasts(path, news)
    } catch (error) {
      // What is not on record is run again; the verdict of this run is not touched.
      const which = Object.keys(news).join(', ')
      console.warn(`· the turn of ${which} was not recorded: ${error instanceof Error ? error.message : error}`)
    }
  }
  return {
    pasts: () => readPasts(path),
    candidatesOf,
    note: (file, { tookMs, passed }) => {
      const known = sums.get(pathOf(file))
      if (known) keep({ [pathOf(file)]: { ...known, tookMs: Math.round(tookMs), endedAt: Date.now(), passed } })
    },
    noteLeft: (laned, late) => {
      const left = candidatesOf(laned).filter(({ file }) => late.includes(file))
      if (left.length > 0) keep(leftOf(left, readPasts(path)))
    },
  }
}
