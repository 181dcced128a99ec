/** The base domain of an account as REST shows it (rules/site.md#base-domains). Every key is always there. */

import { isHeld, NAME_TAKEN, type NameState, type ProofCheck } from '../../names/life.ts'
import { type ProofRecord, recordsOf, wantedProof } from '../../names/proof.ts'
import { baseName } from '../../names/wildcard.ts'
import { shownName } from '../../values/hostname.ts'
import { wildcardRecord } from './base.ts'

/** As it is stored. Instants are ISO. `names` are those of the account's sites below it. */
export type BaseRow = {
  domain: string
  state: NameState
  lookedAt: string | null
  dueAt: string | null
  seenAt: string | null
  missingSince: string | null
  until: string | null
  reason: string | null
  checks: ProofCheck[] | null
  names: string[]
}

export type BaseView = {
  domain: string
  unicode: string
  state: NameState
  verified: boolean
  records: ProofRecord[]
  checks: ProofCheck[]
  looked_at: string | null
  next_look_at: string | null
  seen_at: string | null
  missing_since: string | null
  kept_until: string | null
  reason: string | null
  names: string[]
  next: string
}

/** The TXT record that proves it, and the wildcard that leads there; without that while no host takes sites. */
export const baseRecords = (domain: string, token: string, address: string | null): ProofRecord[] => [
  ...recordsOf(wantedProof(baseName(domain), token, [])),
  ...(address === null ? [] : [wildcardRecord(domain, address)]),
]

const nextOf = ({ domain, state, reason }: BaseRow): string => {
  if (reason?.startsWith(NAME_TAKEN)) return `Claim another domain; ${domain} is another account's.`
  switch (state) {
    case 'verified':
      return `Sites with a subdomain go below ${domain} with their next publish; until then they stay where they are.`
    case 'missing':
      return `Set the TXT record again; sites below ${domain} are served until it has been missing for three days.`
    case 'lapsed':
    case 'quarantined':
      return `Set the TXT record again; sites below ${domain} come back by themselves.`
    case 'free':
    case 'claimed':
    case 'asked':
      return `Set both records, then POST /api/website/base-domain/verify. A claim that is not proven within seven days is forgotten.`
    default:
      return state satisfies never
  }
}

export const viewBase = (row: BaseRow, records: ProofRecord[]): BaseView => ({
  domain: row.domain,
  unicode: shownName(row.domain),
  state: row.state,
  verified: row.state === 'verified',
  records,
  checks: row.checks ?? [],
  looked_at: row.lookedAt,
  next_look_at: row.dueAt,
  seen_at: row.seenAt,
  missing_since: row.missingSince,
  kept_until: row.until,
  reason: row.reason?.startsWith(NAME_TAKEN) ? row.reason.slice(NAME_TAKEN.length) : row.reason,
  names: row.names,
  next: nextOf(row),
})

/** The one below which subdomains are: the newest that is held. @param rows the newest claim first */
export const baseInUse = (rows: readonly BaseRow[]): BaseRow | null => rows.find(({ state }) => isHeld(state)) ?? null
