/**
 * The life of a name under which a site is reached, as a table (rules/site.md#the-life-of-a-name): a claim blocks nobody, a proof in
 * the DNS makes the name the account's, a proof that is gone for long ends it, and for a while nobody else may have it. Names
 * below the platform's own base domains are the platform's to give, and need no proof. Pure; SQL stores what comes out.
 */

/**
 * `free` is no row. `claimed`: by a request that has not written its resource yet. `asked`: the record is shown and looked for.
 * `missing`: the proof was there and is not seen, which the owner is told; it is served still. `lapsed`: served no longer, and
 * nobody else's yet. `quarantined`: as lapsed, and no site asks for it.
 */
export const NAME_STATES = ['free', 'claimed', 'asked', 'verified', 'missing', 'lapsed', 'quarantined'] as const
export type NameState = (typeof NAME_STATES)[number]

/** What made it the account's: a record, the platform, its base domain, or that it was served before proofs were asked for. */
export const NAME_PROOFS = ['txt', 'cname', 'platform', 'base', 'before'] as const
export type NameProof = (typeof NAME_PROOFS)[number]

/** The base domain of an account below which its labels are; held. */
export type OwnBase = { domain: string; state: NameState }

/** Nobody else may have it. */
const HELD: readonly NameState[] = ['verified', 'missing', 'lapsed', 'quarantined']
export const isHeld = (state: NameState): boolean => HELD.includes(state)

/** Visitors get the site under it. */
export const isServed = (state: NameState): boolean => state === 'verified' || state === 'missing'

/** The record was looked for: there, not there, or nobody gave a clear answer. */
export type NameEvent = 'claim' | 'settle' | 'seen' | 'absent' | 'silent' | 'release' | 'time'

/** What a transition hangs on beside state and event. */
export type NameGuards = {
  /** A label below a base domain of the platform. */
  isPlatform: boolean
  /** Below a base domain that the account has proven. */
  isBased: boolean
  /** Another account has it, or what it lies below, or a part of it. */
  isOthers: boolean
  /** It was never proven, for it was served before, and nobody else has shown a proof. */
  isLegacy: boolean
  /** The proof has been missing for as long as is borne; for silence that is longer. */
  isGraceOver: boolean
  /** Nobody has answered for long. */
  isSilenceOver: boolean
  /** What kept the name from others is over. */
  isKeepOver: boolean
  /** Of a base domain: it was claimed, and not proven in time. */
  isClaimOver: boolean
}

type Transition = { from: NameState; on: NameEvent; if?: keyof NameGuards; to: NameState | 'refused' }

/** The first that fits counts; what is not here changes nothing. */
export const NAME_LIFE: readonly Transition[] = [
  { from: 'free', on: 'claim', if: 'isOthers', to: 'refused' },
  { from: 'free', on: 'claim', if: 'isPlatform', to: 'verified' },
  { from: 'free', on: 'claim', if: 'isBased', to: 'verified' },
  { from: 'free', on: 'claim', to: 'claimed' },
  { from: 'claimed', on: 'settle', to: 'asked' },
  { from: 'claimed', on: 'release', to: 'free' },
  { from: 'claimed', on: 'time', to: 'free' },

  { from: 'asked', on: 'claim', if: 'isOthers', to: 'asked' },
  { from: 'asked', on: 'claim', if: 'isBased', to: 'verified' },
  { from: 'asked', on: 'time', if: 'isClaimOver', to: 'free' },
  { from: 'asked', on: 'seen', if: 'isOthers', to: 'asked' },
  { from: 'asked', on: 'seen', to: 'verified' },
  { from: 'asked', on: 'release', to: 'free' },

  { from: 'verified', on: 'absent', if: 'isLegacy', to: 'verified' },
  { from: 'verified', on: 'absent', to: 'missing' },
  { from: 'verified', on: 'silent', if: 'isLegacy', to: 'verified' },
  { from: 'verified', on: 'silent', if: 'isSilenceOver', to: 'missing' },
  { from: 'verified', on: 'release', if: 'isPlatform', to: 'quarantined' },
  { from: 'verified', on: 'release', to: 'free' },

  { from: 'missing', on: 'seen', to: 'verified' },
  { from: 'missing', on: 'absent', if: 'isGraceOver', to: 'lapsed' },
  { from: 'missing', on: 'silent', if: 'isSilenceOver', to: 'lapsed' },
  { from: 'missing', on: 'release', to: 'free' },

  { from: 'lapsed', on: 'seen', to: 'verified' },
  { from: 'lapsed', on: 'absent', if: 'isKeepOver', to: 'asked' },
  { from: 'lapsed', on: 'silent', if: 'isKeepOver', to: 'asked' },
  { from: 'lapsed', on: 'release', if: 'isKeepOver', to: 'free' },
  { from: 'lapsed', on: 'release', to: 'quarantined' },

  { from: 'quarantined', on: 'claim', if: 'isPlatform', to: 'verified' },
  { from: 'quarantined', on: 'claim', to: 'lapsed' },
  { from: 'quarantined', on: 'time', if: 'isKeepOver', to: 'free' },
]

/** @param guards those that are left out do not hold  @returns the state that follows, or that the event is refused */
export const nameAfter = (from: NameState, on: NameEvent, guards: Partial<NameGuards> = {}): NameState | 'refused' => {
  const fits = (one: Transition) =>
    one.from === from && one.on === on && (one.if === undefined || guards[one.if] === true)
  return NAME_LIFE.find(fits)?.to ?? from
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long a name is served whose record says that it is not there. */
export const GRACE_MS = 3 * DAY_MS
/** The same where servers of names give no answer: an outage of theirs is no change of hands. */
export const SILENCE_MS = 14 * DAY_MS
/** How long a lapsed domain is nobody else's. */
export const KEPT_MS = 7 * DAY_MS
/** The same of a label that was given back: links and bookmarks to it are its last owner's. SQL has it too (free_site_names). */
export const LABEL_KEPT_MS = 30 * DAY_MS

/** A record that is asked for is looked for at first often, then ever more rarely. */
const ASKED_SHARE = 0.25
const ASKED_MIN_MS = 15_000
const ASKED_MAX_MS = 6 * HOUR_MS
const VERIFIED_MS = DAY_MS
/** Where the last look did not see it. */
const DOUBT_MS = HOUR_MS

/** Instants are ISO. */
export type NameRow = {
  state: NameState
  proof: NameProof | null
  askedAt: string
  /** When the record was seen last. */
  seenAt: string | null
  missingSince: string | null
  /** Until when a lapsed one is nobody else's. */
  until: string | null
}

/** One record that was looked for, and what is there. */
export type ProofCheck = { name: string; type: string; expected: string; seen: string[]; ok: boolean }

/** What a look at the DNS gave. `detail` says what was seen, for people; `checks` of a base domain: each record by itself. */
export type NameLook = { checks?: ProofCheck[] } & (
  | { found: 'txt' | 'cname' }
  | { found: null; answer: 'absent' | 'silent'; detail: string }
)

/** Who else has, or shows a proof of, the name. */
export type NameRivals = { holder: { until: string | null } | null; isContested: boolean }

/** What is stored after a look. `reason` is null where the record was seen, and there is nothing else to say. */
export type LookedName = NameRow & { reason: string | null; dueAt: string; checks: ProofCheck[] | null }

const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
const isPast = (at: string | null, now: string, ms = 0): boolean =>
  at !== null && Date.parse(at) + ms <= Date.parse(now)

/** What the look hangs on at `now`. Silence counts from when the record was seen last, or, once it is missing, from then. */
export const guardsOf = (row: NameRow, { holder, isContested }: NameRivals, now: string): NameGuards => ({
  isPlatform: row.proof === 'platform',
  isOthers: holder !== null,
  isLegacy: row.proof === 'before' && !isContested,
  isGraceOver: isPast(row.missingSince, now, GRACE_MS),
  isSilenceOver: isPast(row.missingSince ?? row.seenAt, now, SILENCE_MS),
  isKeepOver: isPast(row.until, now),
  isBased: row.proof === 'base',
  // of time, and of no look
  isClaimOver: false,
})

const dueAfter = ({ state, askedAt, until }: NameRow, isSeen: boolean, now: string): string => {
  switch (state) {
    case 'verified':
      return later(now, isSeen ? VERIFIED_MS : DOUBT_MS)
    case 'missing':
      return later(now, DOUBT_MS)
    case 'lapsed': {
      const next = later(now, DOUBT_MS)
      return until !== null && Date.parse(until) < Date.parse(next) && !isPast(until, now) ? until : next
    }
    case 'free':
    case 'claimed':
    case 'quarantined':
    case 'asked': {
      const ageMs = Date.parse(now) - Date.parse(askedAt)
      return later(now, Math.min(ASKED_MAX_MS, Math.max(ASKED_MIN_MS, ageMs * ASKED_SHARE)))
    }
    default:
      return state satisfies never
  }
}

/**
 * When a name is looked at again that is proven, and of which something else is still to be set: as one whose record is asked for.
 * @param since ISO, when it was asked for @returns ISO
 */
export const soonerLook = (since: string, now: string): string => {
  const ageMs = Date.parse(now) - Date.parse(since)
  return later(now, Math.min(HOUR_MS, Math.max(ASKED_MIN_MS, ageMs * ASKED_SHARE)))
}

/** What the reason begins with where the record was seen, and the name is another account's. */
export const NAME_TAKEN = 'DOMAIN_TAKEN: '

const reasonOf = (state: NameState, look: NameLook, { holder }: NameRivals): string | null => {
  if (look.found === null) return look.detail
  if (state !== 'asked') return null
  const until = holder?.until ?? null
  return until === null
    ? `${NAME_TAKEN}your record is there, and another account has proven the name too`
    : `${NAME_TAKEN}your record is there; the name was another account's, and is nobody else's until ${until}`
}

/** What a look makes of a name. @param now ISO */
export const lookedAt = (row: NameRow, look: NameLook, rivals: NameRivals, now: string): LookedName => {
  const guards = guardsOf(row, rivals, now)
  const state = nameAfter(row.state, look.found === null ? look.answer : 'seen', guards)
  if (state === 'refused') throw new Error('a look refuses nothing')
  const isSeen = look.found !== null
  const next: NameRow = {
    state,
    proof: state === 'asked' ? null : isSeen ? look.found : row.proof,
    askedAt: row.state === 'lapsed' && state === 'asked' ? now : row.askedAt,
    seenAt: isSeen ? now : row.seenAt,
    missingSince: state === 'missing' ? (row.missingSince ?? now) : null,
    until: state === 'lapsed' ? (row.until ?? later(now, KEPT_MS)) : null,
  }
  // One that was served before is looked at as rarely as one that is proven, until somebody else shows a proof.
  const isCalm = isSeen || (state === 'verified' && guards.isLegacy)
  return {
    ...next,
    reason: reasonOf(state, look, rivals),
    dueAt: dueAfter(next, isCalm, now),
    checks: look.checks ?? null,
  }
}
