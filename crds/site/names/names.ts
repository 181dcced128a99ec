/** The names of one site as its plan sees them: which are served, why one is not, and what the owner is told. */
import type { OwnCondition } from '../../kernel/plan.ts'
import type { ProblemCode } from '../../kernel/problem.ts'
import { isServed, type NameProof, type NameState } from '../../names/life.ts'
import { nameRefusal, type OwnName, recordLine, recordText } from '../../names/name.ts'
import type { SiteStatus } from '../schema.ts'
import type { NameMail } from './mail.ts'

export type SiteName = OwnName

type Named = { names: readonly SiteName[] }

export const nameIn = ({ names }: Named, name: string | null): SiteName | null =>
  names.find((one) => one.name === name) ?? null

/** One that has a route, or is live by the record, and may not: its proof is gone. The one that is live comes first. */
export const lostName = ({ names }: Named, live: string | null): SiteName | null => {
  const lost = names.filter(({ name, state, routed }) => !isServed(state) && (routed || name === live))
  return lost.find(({ name }) => name === live) ?? lost[0] ?? null
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
