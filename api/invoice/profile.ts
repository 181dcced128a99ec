/** The seller profile of the account's default issuer (spec/1 "Seller profile"). */
import { profile, profileFaults } from '../../crds/invoice/profile.ts'
import { DEFAULT_ISSUER } from '../../crds/invoice/schema.ts'
import { restPointer, toPatch, toRest } from '../../crds/rest.ts'
import type { Deps } from '../deps.ts'
import { refuseFaults } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'

export const getProfile = async (deps: Deps, { caller }: ApiRequest): Promise<Answer> => {
  const stored = await deps.issuers.profile(caller.account, DEFAULT_ISSUER)
  return { status: 200, body: { profile: toRest(profile, stored) } }
}

export const patchProfile = async (deps: Deps, { caller, body }: ApiRequest): Promise<Answer> => {
  const change = toPatch({ spec: profile }, body)
  refuseFaults(profileFaults(change).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  const stored = await deps.issuers.change(caller.account, DEFAULT_ISSUER, change)
  return { status: 200, body: { profile: toRest(profile, stored) } }
}
