/** A name of an account as the plan of its holder sees it, be that a site or an app: whether it is served, and why not. */
import type { ProblemCode } from '../kernel/problem.ts'
import { isServed, NAME_TAKEN, type NameProof, type NameState, type ProofCheck } from './life.ts'
import type { ProofRecord } from './proof.ts'
import { baseName } from './wildcard.ts'

/**
 * A label below a base domain, or a full domain. Instants are ISO. `settled`: the spec names it, or did; else a request
 * reserved it. `changedAt` names this stay in its state. `routed`: a host's proxy has a route for it.
 */
export type OwnName = {
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
  /** It only leads to its site (crds/site/names/aliases.ts), and gives way to another of the account. */
  spare: boolean
  /** What the last look found, record by record; null where nothing was looked for in this way. */
  checks: ProofCheck[] | null
  records: ProofRecord[]
}

export const isDomain = (name: string): boolean => name.includes('.')

/** Of a label below a base domain the base is proven. */
export const provenName = ({ name, proof }: Pick<OwnName, 'name' | 'proof'>): string =>
  proof === 'base' ? baseName(name.slice(name.indexOf('.') + 1)) : name

export type NameRefusal = { code: ProblemCode; detail: string }

export const recordLine = ({ type, name, value }: ProofRecord): string => `${type} ${name} ${value}`
export const recordText = ({ records }: Pick<OwnName, 'records'>): string => records.map(recordLine).join(', or ')

/** Why a name is not served; null for one that is. It holds no instants of looks: it stands in the status. */
export const nameRefusal = (one: OwnName): NameRefusal | null => {
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
