/** The brief of a new site: its limits, and the draft that takes the place of a content. */

import type { SentContent, SiteLang } from '../../../crds/site/content/content.ts'
import { type DraftWarning, draftContent } from '../../../crds/site/content/drafting/proposal.ts'
import type { ProvenDraft } from '../../../crds/site/content/drafting/prove.ts'
import { type KeptProvenance, sourceView } from '../../../crds/site/content/drafting/provenance.ts'
import { cleaned } from '../../../crds/site/content/drafting/source.ts'
import type { Caller } from '../../http/caller.ts'
import { Problem } from '../../http/problem.ts'
import { type DraftNeeds, draftSite } from './draft.ts'
import { BRIEF_MIN_CHARS } from './limits.ts'
import { badSource, textSource } from './sources.ts'

export type AskedSite = { content?: object; brief?: string; lang?: SiteLang; preset?: string }

/** Content or brief: one of them. @throws Problem BAD_SOURCE, BRIEF_TOO_SHORT, BAD_LANG */
export const refuseSource = ({ content, brief, lang }: AskedSite): void => {
  if (content === undefined && brief === undefined) throw badSource('/content', 'Send content, or a brief.')
  if (content !== undefined && brief !== undefined) throw badSource('/brief', 'Send content or a brief, not both.')
  if (brief !== undefined && [...brief.trim()].length < BRIEF_MIN_CHARS) {
    const detail = `The brief has fewer than ${BRIEF_MIN_CHARS} characters, blanks at its ends left aside.`
    throw new Problem('BRIEF_TOO_SHORT', detail, { faults: [{ code: 'BRIEF_TOO_SHORT', pointer: '/brief', detail }] })
  }
  const said = (content as { meta?: { lang?: string } } | undefined)?.meta?.lang
  if (lang === undefined || said === undefined || said === lang) return
  const detail = `lang is ${lang} and content.meta.lang is ${said}: lang is that of a brief.`
  throw new Problem('BAD_LANG', detail, { faults: [{ code: 'BAD_LANG', pointer: '/lang', detail }] })
}

/** A site that was drafted: its content, what is answered beside it, and what is kept of it. */
export type Briefed = { content: SentContent; draft: object; warnings: DraftWarning[]; kept: KeptProvenance }

/** Pointers into a draft are pointers into the content of a request. */
const inContent = ({ pointer, detail, ...rest }: DraftWarning): DraftWarning => ({
  ...rest,
  // the names of fields that a model made up are in them
  detail: cleaned(detail),
  pointer: `/content${cleaned(pointer)}`,
})

const briefed = ({ draft, warnings, provenance: values }: ProvenDraft, brief: string, at: Date): Briefed => {
  const told = warnings.map(inContent)
  const source = textSource(brief, 'brief', 'brief', '/brief')
  return {
    content: draftContent(draft),
    draft,
    warnings: told,
    kept: { drafted_at: at.toISOString(), sources: [sourceView(source)], values, warnings: told },
  }
}

/** @throws Problem as draftSite, BAD_SOURCE */
export const draftFromBrief = async (
  deps: DraftNeeds,
  caller: Caller,
  { brief, lang, preset }: AskedSite & { brief: string },
): Promise<Briefed> => {
  const sources = [textSource(brief, 'brief', 'brief', '/brief')]
  return briefed(await draftSite(deps, caller, { sources, photos: [] }, { lang, preset }), brief, deps.now())
}
