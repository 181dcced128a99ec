/** Until when files of a run begin, and what failed by chance is tried again (hack/decisions/063). */

/** By the clock of the run, in minutes. */
export type Bounds = {
  /** No file begins later. */
  begin: number
  /** No second try begins later: whoever failed by chance in the last minute would be judged by it. */
  again: number
  /** The last of them is cut off, before who waits for the run cuts off all of it. */
  end: number
}

/** With `--minutes`. */
const AGAIN_MINUTES = 22
const LAST_TRY_MINUTES = 4
/** Who has just cloned builds all tools and has an hour: what is left then has its turn in the next runs. */
const FIRST: Bounds = { begin: 50, again: 56, end: 60 }

/**
 * @param minutes as asked for, null where they were not @param isFirst nothing was run in this checkout before, and nothing was asked for
 * @returns null for as long as it takes
 */
export const boundsOf = ({ minutes, isFirst }: { minutes: number | null; isFirst: boolean }): Bounds | null => {
  if (minutes !== null) {
    return { begin: minutes, again: minutes + AGAIN_MINUTES, end: minutes + AGAIN_MINUTES + LAST_TRY_MINUTES }
  }
  return isFirst ? FIRST : null
}
