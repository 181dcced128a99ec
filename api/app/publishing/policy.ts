/** Who may see an app, over REST: planned, then applied (rules/app.md#plans-of-publishing). Nothing is built or restarted. */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { type AccessPlan, accessEtag, type PublishingPlan } from '../../../crds/app/lifecycle/publishing/plans.ts'
import type { Access } from '../../../crds/app/schema.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { nameFor } from '../../command/name.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { apply, staleFor } from './applying.ts'
import { storePassword } from './password.ts'

type Row = MirrorRow<AppView>
type Sent = { access?: Access; password?: string; apply?: boolean; plan_id?: string }

export const policyEtag = ({ access, password_version, access_plan }: AppView): string =>
  accessEtag({
    access,
    ...(password_version !== null && { passwordVersion: password_version }),
    ...(access_plan !== null && { accessPlan: access_plan }),
  })

/** A private app needs a password that is kept: the one of before, or one that comes along. @throws Problem PASSWORD_REQUIRED */
const refuseOpen = ({ view }: Row, access: Access, password: string | undefined): void => {
  if (access === 'public' || password !== undefined || view.password_version !== null) return
  const fault = { code: 'PASSWORD_REQUIRED' as const, pointer: '/password', detail: 'a private app needs a password' }
  throw new Problem('PASSWORD_REQUIRED', 'A private app needs a password, and none is kept.', { faults: [fault] })
}

/** What the platform's own access does not change. */
const warningsOf = ({ view }: Row, access: Access): string[] => {
  const own = view.application_policy === 'none' ? [] : ["The app's own login and its expiry stay as they are."]
  const ends =
    view.access === 'private' && access === 'public' ? ['Access links and sessions are asked for no more.'] : []
  return [...own, ...ends]
}

const planAccess = async (deps: AppNeeds, request: ApiRequest, row: Row, sent: Sent): Promise<Answer> => {
  const { access = row.view.access, password } = sent
  refuseOpen(row, access, password)
  const etag = policyEtag(row.view)
  const id = nameFor('plan', request)
  const body: AccessPlan = { access, setsPassword: password !== undefined }
  const createdAt = deps.now().toISOString()
  await deps.publishing.put({
    id,
    app: row.name,
    account: row.account,
    sort: 'publication-policy',
    etag,
    body,
    createdAt,
  })
  const isKept = row.view.password_version !== null
  const kept = isKept ? 'kept' : 'none'
  return {
    status: 200,
    headers: { etag },
    body: {
      plan_id: id,
      etag,
      changes: {
        access: { from: row.view.access, to: access },
        password: password === undefined ? kept : 'set',
        sessions: password !== undefined && isKept ? 'ended' : 'kept',
      },
      warnings: warningsOf(row, access),
      builds: false,
      restarts: false,
    },
  }
}

const applyAccess = (deps: AppNeeds, request: ApiRequest, row: Row, sent: Sent): Promise<Answer> => {
  const bodyOf = ({ body }: PublishingPlan) => body as AccessPlan
  return apply(deps, request, {
    row,
    sort: 'publication-policy',
    etag: policyEtag(row.view),
    etagOf: accessEtag,
    planId: sent.plan_id,
    async judge(plan) {
      const { access, setsPassword } = bodyOf(plan)
      if (sent.access !== undefined && sent.access !== access) {
        throw staleFor(plan, `makes the app ${access}, and not ${sent.access}`)
      }
      if (sent.password !== undefined && !setsPassword) throw staleFor(plan, 'sets no password, and one was sent')
      if (setsPassword && sent.password === undefined) {
        const detail = 'the plan sets a password: send it again, for no plan keeps it'
        const faults = [{ code: 'PASSWORD_REQUIRED' as const, pointer: '/password', detail }]
        throw new Problem('PASSWORD_REQUIRED', `${detail}.`, { faults })
      }
      refuseOpen(row, access, sent.password)
    },
    async desire(plan) {
      const set = sent.password === undefined ? null : await storePassword(deps, row.name, sent.password)
      const { access } = bodyOf(plan)
      return { access, accessPlan: plan.id, routing: 'managed', ...(set !== null && { passwordVersion: set }) }
    },
    isApplied: (spec, plan) => spec.accessPlan === plan.id,
  })
}

export const patchPolicy = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const sent = request.body as Sent
  return sent.apply === true ? applyAccess(deps, request, row, sent) : planAccess(deps, request, row, sent)
}

export const getPolicy = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { access, password_version, application_policy, access_plan } = row.view
  const etag = policyEtag(row.view)
  const policy = {
    access,
    password_set: password_version !== null,
    application_policy,
    applied_plan_id: access_plan,
    etag,
  }
  return { status: 200, headers: { etag }, body: { publication_policy: policy } }
}
