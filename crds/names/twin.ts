/** A domain with and without its www, which belong together. */
import { registeredDomain } from '../values/domain.ts'
import { type WantedProof, wantedProof } from './proof.ts'

const WWW = 'www.'

/** The domain without its www, or with it; null for what is not registered as it stands: nobody types www before a third label. */
export const twinOf = (name: string | null): string | null => {
  if (name === null) return null
  const bare = name.startsWith(WWW) ? name.slice(WWW.length) : name
  if (registeredDomain(bare) !== bare) return null
  return bare === name ? `${WWW}${name}` : bare
}

/**
 * What proves a name to be an account's. Whoever has the domain has its www, and not the other way round: www may be given to
 * somebody else. @param of.baseDomains of the hosts that take sites @param of.tokenOf the account's token of a name (proofToken)
 */
export const proofFor = (
  name: string,
  { baseDomains, tokenOf }: { baseDomains: readonly string[]; tokenOf(name: string): string },
): WantedProof => {
  const bare = twinOf(name)
  const parent = bare !== null && name === `${WWW}${bare}` ? { name: bare, token: tokenOf(bare) } : null
  return wantedProof(name, tokenOf(name), [...new Set(baseDomains)], parent)
}
