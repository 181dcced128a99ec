/** What is asked for in review, by a request or by the spec, and what the plan says to it. */
import { originOf } from '../../kernel/desire/desire.ts'
import { belongsTo } from '../../kernel/fields.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import { type SiteEvent, siteEvent } from '../events.ts'
import { liveOf, submitKey } from '../facts.ts'
import { openSubmission, reviewOf } from '../reviewing/review.ts'
import type { SitePhase, SiteResource } from '../schema.ts'
import type { DueNotice, Rendering, ReviewRequest, ReviewVerdict, SiteWorld } from '../world.ts'
import { badPicture } from './pictures.ts'
import { urlOfLive } from './publish.ts'
import { firstOf, type RenderRequest, renderingOf, renderRequest } from './rendering.ts'

/** What was decided, for the mail to the owner. */
export type SaidDecision = { decision: ReviewVerdict; note: string }
/** What is accepted without an event has its own in a fact of its own. */
type Decided = { seq: number } & (
  | { accept: true; event: SiteEvent | null; said?: SaidDecision }
  | { accept: false; code: ProblemCode }
)
type Ask<Word extends ReviewRequest['ask']> = Extract<ReviewRequest, { ask: Word }>

export type AskedStep =
  /** `by` is an account, or null when it came by the spec. */
  | { do: 'submit'; key: string; digest: string; by: string | null; event: SiteEvent }
  | { do: 'decide'; verdict: Decided }
  /** All reviewers but the owner and who submitted it, by mail. */
  | { do: 'tellReviewers'; notice: DueNotice }

/** What a request asked for and the plan has to say yes or no to, in the order in which it was asked; then whom to tell of it. */
export const askedSteps = (object: SiteResource, world: SiteWorld, current: Rendering | null): AskedStep[] => {
  for (const ask of world.asks) {
    const steps =
      ask.ask === 'submitAhead'
        ? aheadSteps(object, world, current, ask)
        : [{ do: 'decide' as const, verdict: verdictOf(object, world, current, ask) }]
    // one that waits for pictures lets those behind it pass
    if (steps.length > 0) return steps
  }
  return noticeSteps(world)
}

/** What is whole is submitted in the name of who asked; nothing while it is not whole yet. */
const aheadSteps = (
  object: SiteResource,
  world: SiteWorld,
  current: Rendering | null,
  { seq, digest, by }: Ask<'submitAhead'>,
): AskedStep[] => {
  const refused = (code: ProblemCode): AskedStep[] => [{ do: 'decide', verdict: { seq, accept: false, code } }]
  if (!isAheadOf(world, renderRequest(object.spec, world), digest)) return refused('CHANGED_SINCE')
  if (current === null) return badPicture(world) === null ? [] : refused('INVALID_FIELD')
  const decided: AskedStep = { do: 'decide', verdict: { seq, accept: true, event: null } }
  const state = reviewOf(world, current)
  return state === 'in_review' || state === 'approved' ? [decided] : [submitStep(object, world, current, by), decided]
}

const submitStep = (object: SiteResource, world: SiteWorld, { digest }: Rendering, by: string | null): AskedStep => {
  const stand = { status: liveOf(world) ? 'live' : 'in_review', url: urlOfLive(world) } as const
  const key = submitKey(originOf(object.metadata), world.decisions.length, digest)
  return { do: 'submit', key, digest, by, event: siteEvent('website.submitted', object, stand) }
}

const verdictOf = (
  object: SiteResource,
  world: SiteWorld,
  current: Rendering | null,
  ask: Exclude<ReviewRequest, Ask<'submitAhead'>>,
): Decided => {
  const { seq } = ask
  const url = urlOfLive(world)
  const standing = (word: SitePhase): SitePhase => (liveOf(world) ? 'live' : word)
  switch (ask.ask) {
    case 'submit': {
      if (current?.digest !== ask.digest) return { seq, accept: false, code: 'CHANGED_SINCE' }
      return {
        seq,
        accept: true,
        event: siteEvent('website.submitted', object, { status: standing('in_review'), url }),
      }
    }
    case 'decide': {
      if (belongsTo(object.spec, ask.by)) return { seq, accept: false, code: 'SELF_APPROVAL' }
      const open = openSubmission(world)
      if (open?.seq !== ask.submission || open.digest !== ask.digest) {
        return { seq, accept: false, code: open ? 'CHANGED_SINCE' : 'NOT_SUBMITTED' }
      }
      const [type, word] =
        ask.decision === 'approve'
          ? (['website.approved', 'approved'] as const)
          : (['website.changes_requested', 'changes_requested'] as const)
      const { decision, note, digest } = ask
      const event = siteEvent(type, object, { status: standing(word), url })
      return {
        seq,
        accept: true,
        event: { ...event, data: { ...event.data, review: { digest, note } } },
        said: { decision, note },
      }
    }
    default:
      return ask satisfies never
  }
}

/** Whom nobody has told yet that something waits. */
const noticeSteps = ({ dueNotice }: Pick<SiteWorld, 'dueNotice'>): AskedStep[] =>
  dueNotice === null ? [] : [{ do: 'tellReviewers', notice: dueNotice }]

/** `spec.submit`: what nobody has submitted yet. */
export const submitSteps = (object: SiteResource, world: SiteWorld, current: Rendering): AskedStep[] => {
  if (!object.spec.submit || reviewOf(world, current) !== 'draft') return []
  return [submitStep(object, world, current, null)]
}

/** Somebody waits for what is made of this content to be submitted. */
export const submitsAhead = ({ spec }: SiteResource, world: SiteWorld): boolean => {
  const request = renderRequest(spec, world)
  return spec.submit || world.asks.some((ask) => ask.ask === 'submitAhead' && isAheadOf(world, request, ask.digest))
}

/** What was submitted is what is asked for, be it under another hostname (review.ts). */
const isAheadOf = (world: SiteWorld, request: RenderRequest | null, digest: string): boolean => {
  const submitted = world.firsts.find((one) => one.digest === digest)
  return submitted !== undefined && firstOf(world, request)?.neutral === submitted.neutral
}

/** What is wanted live is submitted, and nobody has decided on it. */
export const isInReview = ({ spec }: SiteResource, world: SiteWorld): boolean => {
  const pinned = world.renderings.findLast(({ digest }) => digest === spec.digest)
  const wanted = spec.digest === undefined ? renderingOf(world, renderRequest(spec, world)) : pinned
  return wanted != null && reviewOf(world, wanted) === 'in_review'
}
