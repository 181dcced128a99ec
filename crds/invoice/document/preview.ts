/**
 * Drafts are drawn on request: the API records that somebody asked (a pending fact), the controllers draw, and record
 * what they drew. So the renderer stays where all work is done, and a crash in between draws again.
 */
import { INVOICE_KIND } from '../schema.ts'

/** What the API appends. `key` says which draft on which day under which profile. */
export const previewFact = (resource: string, key: string, now: Date) => ({
  resource,
  resourceKind: INVOICE_KIND,
  key: `preview:${key}`,
  kind: 'preview',
  body: {},
  state: 'accepted' as const,
  at: now.toISOString(),
})

const REVISION = 'revision-'
/** The key of a drawing of what was edited since it was sent. */
export const revisionPreviewKey = (key: string): string => `${REVISION}${key}`
export const isOfRevision = (key: string): boolean => key.startsWith(REVISION)

/** The key under which the answer stands. */
export const previewedKey = (key: string): string => `previewed:${key}`

/** The keys that were asked for and not drawn yet. */
export const openPreviews = (facts: readonly { key: string; kind: string }[]): string[] => {
  const drawn = new Set(facts.filter(({ kind }) => kind === 'previewed').map(({ key }) => key))
  const asked = facts.filter(({ kind }) => kind === 'preview').map(({ key }) => key.slice('preview:'.length))
  return asked.filter((key) => !drawn.has(previewedKey(key)))
}
