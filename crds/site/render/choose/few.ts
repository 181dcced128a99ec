/** Sections of few words: hours, badges and sizes have no grid to be in; what they say decides alone. Source: rules/site.md#forms. */
import type { FormId } from './table.ts'

/** How a week goes: kinds of days, days with a pause, and what else is said. */
export type WeekTraits = { kinds: number; open: number; paused: boolean; others: number }

/** Up to so many kinds of days are a list; more are looked up by the day. */
const KINDS_MOST = 4

/** One sentence for one kind of open day; by the day where it has a pause or goes by no rule; else a line for each kind. */
export const hoursForm = ({ kinds, open, paused, others }: WeekTraits): FormId => {
  if (paused || kinds > KINDS_MOST) return 'week'
  const isSentence = open <= 1 && kinds <= 2 && (kinds > 0 || others === 0)
  return isSentence ? 'spoken' : 'facts'
}

/** Letters, a Han one as two, up to which a badge is a word on a line; and how many of them a line has. */
const WORDS = 30
const LINE_MOST = 6

/** @param titles letters of each */
export const badgesForm = (titles: readonly number[], pictured: number): FormId => {
  if (pictured >= 2 && pictured === titles.length) return 'seals'
  return titles.length > LINE_MOST || titles.some((length) => length > WORDS) ? 'proofs' : 'line'
}

/** Lines of a table up to which it is a list of measures, and columns from which it is worth it. */
const LISTED_MOST = 2
const LISTED_FROM = 3
/** A figure and the air beside it, in pixels; the narrowest column of a phone of 360. */
const [FIGURE_PX, AIR_PX] = [9, 24]
const COLUMN_PX = 304
/** Pairs that a phone has one under the other before a table that is moved sideways is less to scroll. */
const STACKED_MOST = 120

/** @param cells letters of each cell, the heads first */
export const sizesForm = (cells: readonly (readonly number[])[]): FormId => {
  const [head = [], ...rows] = cells
  if (rows.length <= LISTED_MOST && head.length >= LISTED_FROM) return 'measures'
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at] ?? 0)) * FIGURE_PX + AIR_PX)
  const isWide = widths.reduce((sum, one) => sum + one, 0) > COLUMN_PX
  return isWide && rows.length * (head.length - 1) <= STACKED_MOST ? 'stacked' : 'sizes'
}
