/** What is known of a log in between its lines, and what comes of one. */

/** What the lines to come go on from. Kept with how far the log was read. */
export type LogFold = {
  /** Whose image is built. */
  service: string | null
  /** By BuildKit's number: `web 3/5`. */
  vertices: Readonly<Record<string, string>>
  pull: { name: string; layers: number; done: number } | null
  /** By container: the instant of its last line, so that none is told twice. */
  latest: Readonly<Record<string, string>>
  /** Within what BuildKit shows a second time. */
  quotes: boolean
  /** What comes next is the rest of a line, which may be half of a secret. */
  skips: boolean
}

/** `note`: what is to be said of the step from here on; null where nothing new is. */
export type ReadLine = { fold: LogFold; line: string | null; note: string | null }
