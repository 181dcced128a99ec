/** The records that prove names of accounts, of whatever kind their holder is. */
import { isDomain, type OwnName, provenName } from '../../../crds/names/name.ts'
import { PROOF_KEY, proofToken, recordsOf, type WantedProof } from '../../../crds/names/proof.ts'
import { proofFor } from '../../../crds/names/twin.ts'
import type { Keys } from '../../base/keys.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import { siteHosts } from '../site/hosts.ts'

export type Proving = { keys: Pick<Keys, 'lastingKey'>; hosts: Pick<Hosts, 'list'> }

export const proofOf = (deps: Proving, account: string, name: string): WantedProof => {
  const baseDomains = siteHosts(deps).map(({ baseDomain }) => baseDomain)
  const tokenOf = (of: string) => proofToken(deps.keys.lastingKey(PROOF_KEY), account, of)
  return proofFor(name, { baseDomains, tokenOf })
}

/** What stands in the database of names, with the records that prove them. */
export const withRecords = (deps: Proving, account: string, names: readonly Omit<OwnName, 'records'>[]): OwnName[] =>
  names.map((one) => ({
    ...one,
    records: isDomain(one.name) ? recordsOf(proofOf(deps, account, provenName(one))) : [],
  }))
