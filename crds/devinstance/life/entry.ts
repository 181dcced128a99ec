/** What effects of the table are written with. */
import type { NewHistoryEntry } from './context.ts'

export const newEntry = (kind: string, data: Record<string, unknown> = {}): NewHistoryEntry => ({ kind, data })

export const instantAfter = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()

/** What was said, in a line: what a caller is told by, and what tells one report from the next. */
export const toldOf = (said: object): string =>
  Object.entries(said)
    .filter(([name, value]) => name !== 'version' && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
