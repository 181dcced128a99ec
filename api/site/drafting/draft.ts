/**
 * Drafts of websites by a language model (rules/site.md#drafts). What it answers is brought into the shape of a content, held against its
 * source in a thread apart, and answered with what every value rests on. Nothing is stored here.
 */
import type { Fault } from '../../../crds/kernel/problem.ts'
import type { SiteLang } from '../../../crds/site/content/content.ts'
import { draftGaps } from '../../../crds/site/content/drafting/gaps.ts'
import { sitePrompt } from '../../../crds/site/content/drafting/prompt.ts'
import {
  type DraftWarning,
  draftSchema,
  proposalSchema,
  readProposal,
} from '../../../crds/site/content/drafting/proposal.ts'
import type { ProvenDraft } from '../../../crds/site/content/drafting/prove.ts'
import { between } from '../../../crds/text/asking.ts'
import type { Caller } from '../../http/caller.ts'
import { compileCheck } from '../../http/validate.ts'
import { type AskingNeeds, type AskPool, askUnder, newMark } from '../../io/asking.ts'
import type { LlmMessage, Reading } from '../../io/llm.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { Sources } from './sources.ts'

const POOL: AskPool = {
  name: 'website_ai_per_day',
  code: 'ASSIST_QUOTA',
  what: 'a draft of a website',
  rules: 'a website',
}
const shape = compileCheck(draftSchema)
const TEXT = proposalSchema({ photos: false })
const PHOTOS = proposalSchema({ photos: true })

export type DraftNeeds = AskingNeeds & Pick<Deps, 'draftJudge'>
/** What the caller fixed; it wins over the model's. */
export type Wished = { lang?: SiteLang | undefined; preset?: string | undefined }

const sayFault = ({ pointer, detail }: Fault): string => `/content${pointer}: ${detail}`

const reader =
  (deps: DraftNeeds, { account }: Caller, { sources }: Sources, lang: SiteLang | undefined) =>
  async (answer: unknown): Promise<Reading<ProvenDraft>> => {
    const read = readProposal(answer, lang, shape)
    if ('faults' in read) return { why: read.faults.map(sayFault) }
    const proven = await deps.draftJudge.prove({ proposal: read.proposal, sources }, { account })
    if (proven === 'too dear') return { why: ['it takes too long to hold against the source: be shorter'] }
    if (proven === null) return { why: ['/content/meta/company_name: the source names nobody like that'] }
    const warnings: DraftWarning[] = [...read.warnings, ...proven.warnings, ...draftGaps(proven.draft)]
    return { value: { ...proven, warnings } }
  }

const seen = (photos: readonly string[]): LlmMessage => ({
  role: 'user',
  content: [
    { type: 'text', text: 'The photos, in their order.' },
    ...photos.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
  ],
})

/** @throws Problem ASSIST_QUOTA, LLM_NOT_CONFIGURED, LLM_UNAVAILABLE, LLM_BAD_ANSWER, TOO_MANY_REQUESTS */
export const draftSite = async (
  deps: DraftNeeds,
  caller: Caller,
  from: Sources,
  wished: Wished = {},
): Promise<ProvenDraft> => {
  const isSeen = from.photos.length > 0
  const mark = isSeen ? null : newMark()
  const text = from.sources.flatMap(({ parts }) => parts).join('\n\n')
  const message: LlmMessage = mark === null ? seen(from.photos) : { role: 'user', content: between(mark, text) }
  const question = {
    name: 'site_draft',
    system: sitePrompt(mark, wished),
    messages: [message],
    schema: isSeen ? PHOTOS : TEXT,
  }
  return askUnder(deps, caller, POOL, question, reader(deps, caller, from, wished.lang))
}
