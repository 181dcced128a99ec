/** The names of one site as its plan sees them: which are served, why one is not, and what the owner is told. */
import type { OwnCondition } from '../../kernel/plan.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import type { SiteStatus } from '../schema.ts'
import { isServed, NAME_TAKEN, type NameProof, type NameState } from './life.ts'
import type { NameMail } from './mail.ts'
import type { ProofRecord } from './proof.ts'

/**
 * One name: a label below a base domain, or a full domain. Instants are ISO. `settled`: the spec names it, or did; else a request
 * reserved it. `changedAt` names this stay in its state. `routed`: a host's proxy has a route for it.
 */
export type SiteName = {
  name: string
  settled: boolean
  state: NameState
  proof: NameProof | null
  changedAt: string
  seenAt: string | null
  missingSince: string | null
  until: string | null
  lookedAt: string | null
  dueAt: string | null
  reason: string | null
  routed: boolean
  /** It only leads to the site (aliases.ts), and gives way to another of the account. */
  spare: boolean
  records: ProofRecord[]
}

type Named = { names: readonly SiteName[] }

export const isDomain = (name: string): boolean => name.includes('.')

export const nameIn = ({ names }: Named, name: string | null): SiteName | null =>
  names.find((one) => one.name === name) ?? null

/** One that has a route, or is live by the record, and may not: its proof is gone. The one that is live comes first. */
export const lostName = ({ names }: Named, live: string | null): SiteName | null => {
  const lost = names.filter(({ name, state, routed }) => !isServed(state) && (routed || name === live))
  return lost.find(({ name }) => name === live) ?? lost[0] ?? null
}

export type NameRefusal = { code: ProblemCode; detail: string }

export const recordLine = ({ type, name, value }: ProofRecord): string => `${type} ${name} ${value}`
export const recordText = ({ records }: SiteName): string => records.map(recordLine).join(', or ')

/** Why a name is not served; null for one that is. It holds no instants of looks: it stands in the status. */
export const nameRefusal = (one: SiteName): NameRefusal | null => {
  const { name, state, reason } = one
  if (isServed(state)) return null
  if (reason?.startsWith(NAME_TAKEN)) {
    return { code: 'DOMAIN_TAKEN', detail: `${name}: ${reason.slice(NAME_TAKEN.length)}` }
  }
  const why = reason === null ? '' : `; ${reason}`
  const set = `set ${recordText(one)}`
  if (state === 'lapsed' || state === 'quarantined') {
    return { code: 'DOMAIN_LAPSED', detail: `the proof of ${name} is gone, and it is served no longer: ${set}${why}` }
  }
  return { code: 'DOMAIN_UNPROVEN', detail: `${name} is not proven to be yours: ${set}${why}` }
}

const CONDITION = 'DomainVerified'
type Stand = Pick<OwnCondition, 'status' | 'reason' | 'message'>

const GIVEN: Partial<Record<NameProof, string>> = {
  platform: "is the platform's to give",
  base: 'is below your own base domain',
  before: 'was served before proofs were asked for',
  txt: 'is proven by its TXT record',
  cname: 'is proven by its CNAME record',
}

const WORDS: Partial<Record<ProblemCode, string>> = { DOMAIN_LAPSED: 'Lapsed', DOMAIN_TAKEN: 'Taken' }

const standOf = (one: SiteName): Stand => {
  const { name, state, proof, missingSince, reason } = one
  const refusal = nameRefusal(one)
  if (state === 'missing') {
    const message = `the record of ${name} is missing since ${missingSince}, and it is still served: set ${recordText(one)}`
    return { status: 'False', reason: 'ProofMissing', message: `DOMAIN_UNPROVEN: ${message}; ${reason ?? ''}` }
  }
  if (refusal === null) return { status: 'True', reason: 'Verified', message: `${name} ${GIVEN[proof ?? 'txt'] ?? ''}` }
  return { status: 'False', reason: WORDS[refusal.code] ?? 'ProofAsked', message: `${refusal.code}: ${refusal.detail}` }
}

/** What the status says of it. */
export const nameStatus = (one: SiteName | null): Pick<SiteStatus, 'domainState' | 'domainRecords'> =>
  one === null
    ? {}
    : { domainState: one.state, ...(one.records.length > 0 && { domainRecords: one.records.map(recordLine) }) }

const MESSAGE_MAX = 1024

/** How the name that is asked for stands, beside Ready. */
export const nameConditions = (one: SiteName | null): OwnCondition[] => {
  if (one === null) return []
  const stand = standOf(one)
  return [{ type: CONDITION, ...stand, message: stand.message.slice(0, MESSAGE_MAX) }]
}

/** What the owner is told of, each once; `mail` beside the event where somebody has to act. */
const TOLD = {
  verified: { event: 'website.domain_verified', mail: null },
  missing: { event: 'website.domain_missing', mail: 'domain-missing' },
  lapsed: { event: 'website.domain_lapsed', mail: 'domain-lapsed' },
} as const satisfies Partial<Record<NameState, { event: string; mail: NameMail['mail'] | null }>>

export type NameNews = {
  name: string
  at: string
  state: keyof typeof TOLD
  event: (typeof TOLD)[keyof typeof TOLD]['event']
  mail: NameMail['mail'] | null
}

/** The names of which something is to be told that was not. @param told `NAME AT`, as on record */
export const newsOf = ({ names }: Named, told: readonly string[]): NameNews[] =>
  names.flatMap(({ name, state, proof, spare, changedAt: at }) => {
    const news = Reflect.get(TOLD, state) as (typeof TOLD)[keyof typeof TOLD] | undefined
    if (news === undefined || proof === 'platform' || spare || told.includes(`${name} ${at}`)) return []
    // What was served before is told of only when its proof is asked for; what is below a base domain was proven with it.
    if (state === 'verified' && (proof === 'before' || proof === 'base')) return []
    // Of a base domain there is one mail, and none for each site below it.
    return [{ name, at, state: state as keyof typeof TOLD, ...news, ...(proof === 'base' && { mail: null }) }]
  })
