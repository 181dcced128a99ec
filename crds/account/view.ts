/** The account as REST shows it; quotas are added where they are counted (rules/account.md#the-account-over-rest). */
import type { Resource } from '../kernel/object.ts'
import { toRest } from '../kernel/rest.ts'
import { type AccountSpec, type AccountStatus, spec as specSchema } from './schema.ts'

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
  /** Card processors that collect for it. */
  rails: AccountSpec['rails']
  /** Null: what the plan says. */
  ai_per_day: number | null
  /** What support has granted in place of the plan's limits. */
  limits: {
    sends_per_day?: number
    webhook_endpoints?: number
    sites?: number
    publishes_per_day?: number
    messages_per_day?: number
  }
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
  // an account of before has none until it is written again
  rails: spec.rails ?? [],
  ai_per_day: spec.aiPerDay ?? null,
  limits: toRest(specSchema.properties.limits, spec.limits ?? {}),
  created_at: metadata.creationTimestamp,
  version: metadata.generation,
})

/** What the mirror keeps: who sent a logo waits until its number is reached here. */
export type StoredAccount = AccountView & { fact_seq: number }

export const storedAccount = (object: Resource<AccountSpec, AccountStatus>, factSeq: number): StoredAccount => ({
  ...viewAccount(object),
  fact_seq: factSeq,
})
