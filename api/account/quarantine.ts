/** GET /api/admin/quarantine: what was set aside, and its release by an administrator (rules/platform.md#quarantine). */
import {
  QUARANTINE_SOURCES,
  type Quarantine,
  type Quarantined,
  type QuarantineSource,
} from '../../controllers/store/ledger/quarantine.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf, pageQuery, paging } from '../openapi/paging.ts'
import { list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'

type QuarantineNeeds = { quarantine: Quarantine } & Pick<Deps, 'now' | 'wake'>

const ID = /^[1-9]\d{0,14}$/

const shownOf = ({ releasedAt, releasedBy, ...rest }: Quarantined): object => ({
  ...rest,
  released_at: releasedAt,
  released_by: releasedBy,
})

const listQuarantined = async ({ quarantine }: QuarantineNeeds, request: ApiRequest): Promise<Answer> => {
  const { source, released } = request.query
  const page = pageOf(request)
  const filter = { source: (source as QuarantineSource | undefined) ?? null, released: released === 'true' }
  const { rows, total } = await quarantine.list(filter, page)
  return pagedAnswer('quarantined', { items: rows.map(shownOf), total }, page)
}

const release = async (deps: QuarantineNeeds, request: ApiRequest): Promise<Answer> => {
  const { quarantine, now } = deps
  const { params, caller, audited } = request
  const id = ID.test(params.id ?? '') ? Number(params.id) : 0
  const held = await quarantine.get(id)
  if (!held) throw new Problem('NOT_FOUND', `Nothing was set aside as ${params.id}.`)
  if (audited) {
    audited.resource = `${held.kind}/${held.resource}`
    if (held.account !== null) audited.account = held.account
  }
  const wasHeld = held.releasedAt === null
  if (wasHeld && !(await quarantine.release(id, { who: caller.account, at: now().toISOString() }))) {
    throw new Problem(
      'NOTHING_TO_RELEASE',
      `Of ${id} nothing is left to be tried: its endpoint is switched off, or what it is about is gone.`,
    )
  }
  // a document is drawn by the pass of its invoice; a repeat makes up for a wake that was lost
  if (held.source === 'document') await deps.wake(INVOICE, held.resource)
  return { status: 200, body: { quarantined: shownOf((await quarantine.get(id)) ?? held) } }
}

const one = named(
  'Quarantined',
  object('What was set aside.', {
    id: whole('Names it.'),
    source: { ...text('What it is.'), enum: [...QUARANTINE_SOURCES] },
    kind: text('Of the resource that it is about, or Endpoint.'),
    resource: text('Name of that.'),
    account: textOrNull('Whose it is; null where that is not known.'),
    reason: text('Why it was set aside.'),
    tries: whole('How often it was tried.'),
    at: text('When it was set aside.'),
    released_at: textOrNull('When it was released.'),
    released_by: textOrNull('Account of the administrator who released it.'),
  }),
)
const SOURCE: JsonSchema = { ...text('One of them; all when left out.'), enum: [...QUARANTINE_SOURCES] }
const RELEASED: JsonSchema = {
  ...text('true: what was released; else what is still set aside.'),
  enum: ['true', 'false'],
}

const admin = { tag: 'Administration', scope: { kind: 'full' }, role: 'admin' } as const

export const quarantineRoutes: Route<QuarantineNeeds>[] = [
  {
    ...admin,
    method: 'GET',
    path: '/api/admin/quarantine',
    summary: 'List what was set aside',
    description:
      'Mails, calls of the card processor, events, deliveries and documents that failed through a fault of their own as often as they may. Nothing waits behind them. Newest first.',
    query: { ...pageQuery, source: SOURCE, released: RELEASED },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { quarantined: list('Newest first.', one), ...paging }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: listQuarantined,
  },
  {
    ...admin,
    method: 'POST',
    path: '/api/admin/quarantine/:id/release',
    summary: 'Have it tried again',
    description: 'At once. What fails again is set aside anew, under another id. A repeat changes nothing.',
    answers: {
      200: { description: 'Released.', schema: object('Released.', { quarantined: one }) },
    },
    codes: ['NOT_FOUND', 'NOTHING_TO_RELEASE'],
    handle: release,
  },
]
