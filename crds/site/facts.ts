/** The facts of a site: their keys, their bodies, and how they are read back. Each belongs to one life (uid) of the name. */
import type {
  Bytes,
  Opening,
  ReviewDecision,
  ReviewNotice,
  ReviewRequest,
  ReviewVerdict,
  SiteRelease,
  Submission,
  Switch,
} from './world.ts'

/** As the ledger keeps it. */
export type SiteFact = {
  seq: number
  key: string
  kind: string
  body: Record<string, unknown>
  state: 'pending' | 'accepted' | 'refused'
  at: string
}

/** A name may be used again after its site was deleted: what happened to the one before is not this one's. */
const keyOf = (uid: string, rest: string): string => `${uid}/${rest}`

export const generatedKey = (uid: string): string => keyOf(uid, 'generated')
export const homeKey = (uid: string): string => keyOf(uid, 'home')
export const removedKey = (uid: string): string => keyOf(uid, 'removed')
export const switchKey = (uid: string, k: number): string => keyOf(uid, `switch:${k}`)
/** The same bytes are submitted once per round; a decision ends a round. */
export const submitKey = (uid: string, round: number, digest: string): string => keyOf(uid, `submit:${round}:${digest}`)
/** What is submitted while its pictures are under way: `digest` is that of what the preview shows. */
export const aheadKey = (uid: string, round: number, digest: string): string => keyOf(uid, `ahead:${round}:${digest}`)
/** A submission is decided once. */
export const decisionKey = (uid: string, submission: number): string => keyOf(uid, `decision:${submission}`)
/** Reviewers are told of a submission once at each stage (reviewing/notices.ts). */
export const noticeKey = (uid: string, { submission, stage }: ReviewNotice): string =>
  keyOf(uid, `notice:${submission}:${stage}`)
export const openingKey = (uid: string, submission: number, by: string): string =>
  keyOf(uid, `opened:${submission}:${by}`)

/** A state of a name is told of once. */
export const nameKey = (uid: string, name: string, at: string): string => keyOf(uid, `name:${name}:${at}`)

/** Bodies as they are written. */
export type NameBody = { name: string; at: string; state: string }
export type SubmitBody = { digest: string; by: string | null }
export type DecisionBody = { submission: number; digest: string; decision: ReviewVerdict; note: string; by: string }
export type OpeningBody = { submission: number; by: string }
export type NoticeBody = ReviewNotice
export type SwitchBody = { k: number; to: SiteRelease | null }

export type SiteFacts = {
  generated: boolean
  home: string | null
  removed: boolean
  submissions: Submission[]
  decisions: ReviewDecision[]
  openings: Opening[]
  notices: ReviewNotice[]
  switches: Switch[]
  told: string[]
  asks: ReviewRequest[]
}

/** @param bytesOf the neutral digest of a rendering of this site; null for one that is not known */
export const readFacts = (
  uid: string,
  facts: readonly SiteFact[],
  bytesOf: (digest: string) => Bytes | null,
): SiteFacts => {
  const read: SiteFacts = {
    generated: false,
    home: null,
    removed: false,
    submissions: [],
    decisions: [],
    openings: [],
    notices: [],
    switches: [],
    told: [],
    asks: [],
  }
  for (const fact of facts) {
    if (fact.key.startsWith(`${uid}/`) && fact.state !== 'refused') take(read, fact, bytesOf)
  }
  return read
}

const take = (read: SiteFacts, { seq, at, kind, body, state }: SiteFact, bytesOf: (digest: string) => Bytes | null) => {
  switch (kind) {
    case 'generated':
      read.generated = true
      return
    case 'home':
      read.home = String(body.host)
      return
    case 'removed':
      read.removed = true
      return
    case 'submit': {
      const { digest, by } = body as SubmitBody
      if (state === 'pending') read.asks.push({ ask: 'submit', seq, at, digest, by: by ?? '' })
      else read.submissions.push({ ...(bytesOf(digest) ?? { digest, neutral: digest }), seq, at, by })
      return
    }
    case 'ahead': {
      // once it is accepted there is a submission of its own
      const { digest, by } = body as SubmitBody
      if (state === 'pending') read.asks.push({ ask: 'submitAhead', seq, at, digest, by: by ?? '' })
      return
    }
    case 'decision': {
      const decision = body as DecisionBody
      if (state === 'pending') read.asks.push({ ask: 'decide', seq, at, ...decision })
      else read.decisions.push({ seq, at, ...decision })
      return
    }
    case 'opened': {
      const { submission, by } = body as OpeningBody
      read.openings.push({ at, submission, by })
      return
    }
    case 'notice': {
      const { submission, stage } = body as NoticeBody
      read.notices.push({ submission, stage })
      return
    }
    case 'name': {
      const { name, at: since } = body as NameBody
      read.told.push(`${name} ${since}`)
      return
    }
    case 'switch': {
      const { k, to } = body as SwitchBody
      read.switches.push({ k, at, to })
      return
    }
    default:
  }
}

/** What is live by the record; null when nothing is. */
export const liveOf = ({ switches }: Pick<SiteFacts, 'switches'>): SiteRelease | null => switches.at(-1)?.to ?? null

/** Every release once, oldest first, with when it first went live. */
export const releasesOf = ({ switches }: Pick<SiteFacts, 'switches'>): (SiteRelease & { at: string })[] => {
  const found = new Map<number, SiteRelease & { at: string }>()
  for (const { to, at } of switches) if (to && !found.has(to.release)) found.set(to.release, { ...to, at })
  return [...found.values()]
}
