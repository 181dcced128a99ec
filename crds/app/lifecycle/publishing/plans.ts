/**
 * Changes of an app's domains and access go by a plan that was looked at (rules/app.md#plans-of-publishing): what there is has an
 * etag, a plan keeps the one that it was made on, and an apply holds both against what there is then.
 */
import { createHash } from 'node:crypto'
import type { Access, AppSpec } from '../../schema.ts'

export const PLAN_SORTS = ['domain-config', 'publication-policy'] as const
export type PlanSort = (typeof PLAN_SORTS)[number]

/** A plan is good for so long. SQL has it too (app_names that a plan reserves). */
export const PLAN_DAYS = 7

export type DomainPlan = { hostnames: string[] }
export type AccessPlan = { access: Access; setsPassword: boolean }

/** As it is stored. Instants are ISO. */
export type PublishingPlan = {
  id: string
  app: string
  account: string
  sort: PlanSort
  etag: string
  body: DomainPlan | AccessPlan
  createdAt: string
  /** The operation that applied it; null before that. */
  operation: string | null
  /** When it was taken for that. */
  takenAt: string | null
  generation: number | null
  appliedAt: string | null
  /** How that ended; null while it has not. */
  outcome: AppliedOutcome | null
}

export const APPLY_STEPS = ['route', 'certificate', 'readiness'] as const
export type AppliedStep = {
  name: (typeof APPLY_STEPS)[number]
  state: 'succeeded' | 'running' | 'failed' | 'skipped'
  message: string | null
}
export type AppliedOutcome = {
  state: 'succeeded' | 'failed'
  code: string | null
  message: string | null
  steps: AppliedStep[]
  at: string
}

const etagOf = (what: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(what)).digest('base64url').slice(0, 22)}"`

type DomainsAsTheyAre = Pick<AppSpec, 'domains' | 'domainPlan'>
type AccessAsItIs = Pick<AppSpec, 'access' | 'passwordVersion' | 'accessPlan'>

export const domainEtag = ({ domains = [], domainPlan = '' }: DomainsAsTheyAre): string =>
  etagOf(['domains', domains, domainPlan])

export const accessEtag = ({ access, passwordVersion = 0, accessPlan = '' }: AccessAsItIs): string =>
  etagOf(['access', access, passwordVersion, accessPlan])

/** Whether an If-Match names the etag: one of its list, weak or not, or any (RFC 9110 section 13.1.1). */
export const matches = (ifMatch: string, etag: string): boolean =>
  ifMatch.trim() === '*' || ifMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)

export const isPlanOver = ({ createdAt }: Pick<PublishingPlan, 'createdAt'>, now: Date): boolean =>
  now.getTime() - Date.parse(createdAt) > PLAN_DAYS * 86_400_000
