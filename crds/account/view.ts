/** The account as REST shows it; quotas are added where they are counted (CONTRACT section 10). */
import type { Resource } from '../object.ts'
import type { AccountSpec, AccountStatus } from './schema.ts'

export type AccountView = {
  id: string
  email: string
  name: string
  plan: AccountSpec['plan']
  role: AccountSpec['role']
  capabilities: AccountSpec['capabilities']
  teams: string[]
  cost_cap_usd: number | null
  template_lock: string | null
  created_at: string
  version: number
}

export const viewAccount = ({ metadata, spec }: Resource<AccountSpec, AccountStatus>): AccountView => ({
  id: metadata.name,
  email: spec.email,
  name: spec.name,
  plan: spec.plan,
  role: spec.role,
  capabilities: spec.capabilities,
  teams: spec.teams,
  cost_cap_usd: spec.costCapUsd ?? null,
  template_lock: spec.templateLock ?? null,
  created_at: metadata.creationTimestamp,
  version: metadata.generation,
})
