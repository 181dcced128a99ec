/**
 * The lines of running services for those who read them: in the order of their instants, each once, those of one service where only it is
 * wanted. The host is asked once for all readers of an app (rules/app.md#the-log-of-what-runs). Pure.
 */
import type { LogRequest } from '../../world.ts'
import { containerLine, shownLine } from './fold.ts'

/** Engines write a line a moment after its instant: so far back is looked for those that came late. */
const LATE_MS = 2_000

/** How far a reader has read: of each container by itself, of those that are new from `from` on. */
export type LogCursor = { from: string; newest: string; each: Readonly<Record<string, string>> }

/** What a request says: a cursor of ours, or the instant that its reader named. Null: it wants the last lines. */
export const cursorIn = (since: string | null): LogCursor | null => {
  if (since === null) return null
  return since.startsWith('{') ? (JSON.parse(since) as LogCursor) : { from: since, newest: since, each: {} }
}

/** From which instant on the host is asked, for all of them at once. @param cursors one or more */
export const askedSince = (cursors: readonly LogCursor[]): string => {
  const oldest = Math.min(
    ...cursors.map(({ from, newest }) => (newest === from ? Date.parse(from) : Date.parse(newest) - LATE_MS)),
  )
  return new Date(oldest).toISOString()
}

type RunLine = { container: string; service: string; at: string; text: string }

/** `2026-11-22T10:00:00.1Z` as the engine writes instants that end in zeros: comparable only once they are as long as each other. */
const padded = (at: string): string => {
  const [seconds = '', fraction = ''] = at.slice(0, -1).split('.')
  return `${seconds}.${fraction.padEnd(9, '0')}Z`
}

/** @param output what the host gave, secrets taken out @param isCut its first line may be half of one */
export const runLinesIn = (output: string, isCut: boolean): RunLine[] => {
  const lines = output
    .split('\n')
    .slice(isCut ? 1 : 0)
    .flatMap((raw) => {
      const line = containerLine(shownLine(raw))
      return line ? [{ ...line, at: padded(line.at) }] : []
    })
  return lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** `2026-11-22T10:00:00.123456789Z web | text`: what is shown begins with where one goes on from. */
export const shownRunLine = ({ at, service, text }: RunLine): string => `${at} ${service} | ${text}`

/** The last lines of each service. */
const lastOfEach = (lines: readonly RunLine[], tail: number): RunLine[] => {
  const left = new Map<string, number>()
  const last = lines.toReversed().filter(({ container }) => {
    const more = left.get(container) ?? tail
    left.set(container, more - 1)
    return more > 0
  })
  return last.toReversed()
}

/** What one reader has not read yet, and where it goes on. @param lines of which some may be others' */
export const linesFor = (
  { tail, since, service }: Pick<LogRequest, 'tail' | 'since' | 'service'>,
  lines: readonly RunLine[],
  now: string,
): { lines: string[]; since: string } => {
  const cursor = cursorIn(since)
  const wanted = lines.filter((line) => service === null || line.service === service)
  const fresh =
    cursor === null
      ? lastOfEach(wanted, tail)
      : wanted.filter(({ container, at }) => at > padded(cursor.each[container] ?? cursor.from))
  const each = { ...cursor?.each }
  for (const { container, at } of fresh) each[container] = at
  const newest = fresh.at(-1)?.at ?? cursor?.newest ?? now
  const from = cursor?.from ?? fresh[0]?.at ?? now
  const read: LogCursor = { from, newest: newest > (cursor?.newest ?? '') ? newest : (cursor?.newest ?? newest), each }
  return { lines: fresh.map(shownRunLine), since: JSON.stringify(read) }
}
