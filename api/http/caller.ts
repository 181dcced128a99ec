/** Who calls, as the stages after authentication see it. */
import type { IncomingHttpHeaders } from 'node:http'

import type { AccountView } from '../../crds/account/view.ts'

/** The caller of one request. `scopes` is null for full access: a legacy token, or a session. */
export type Caller = {
  /** The key of its rows, which is one account for ever; `profile.id` names its resource. */
  account: string
  /** `report`: a dev instance that speaks of itself; `id` is its own. */
  by: { kind: 'token' | 'session' | 'report'; id: string }
  scopes: string[] | null
  profile: AccountView
}

export type CallerCredentials = Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>

/** Who decides on the websites of others: reviewers, and administrators, who may do what a reviewer may. */
export const decidesOnSites = ({ profile }: Pick<Caller, 'profile'>): boolean =>
  profile.role === 'reviewer' || profile.role === 'admin'
