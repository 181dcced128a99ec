/** GET /api/audit: an account reads who did what in its name, and lets the chain be recomputed. */
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { isOwn } from '../command/own.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf, pageQuery, paging } from '../openapi/paging.ts'
import { flag, list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import type { Stores } from '../wiring/stores.ts'

type AuditNeeds = Pick<Stores, 'auditReader'>

const ALL = '*'

/** Null: all accounts, which is what an admin sees who names none. Others see their own and no other. */
const accountOf = ({ caller, query }: ApiRequest): string | null => {
  const isAdmin = caller.profile.role === 'admin'
  const asked = query.account ?? (isAdmin ? ALL : caller.account)
  if (!isOwn({ account: asked }, caller) && !isAdmin) {
    throw new Problem('ROLE_REQUIRED', 'Only the role admin may read the audit of another account.')
  }
  return asked === ALL ? null : asked
}

const listAudit = async (deps: AuditNeeds, request: ApiRequest): Promise<Answer> => {
  const { since } = request.query
  const page = pageOf(request)
  if (since !== undefined && Number.isNaN(Date.parse(since))) {
    throw new Problem('INVALID_FIELD', 'since is no day or instant of the calendar.')
  }
  const filter = { account: accountOf(request), since: since === undefined ? null : new Date(since).toISOString() }
  const { rows, total } = await deps.auditReader.list(filter, page)
  const items = rows.map(({ requestId, ...row }) => ({ ...row, request_id: requestId }))
  return pagedAnswer('entries', { items, total }, page)
}

const verifyAudit = async (deps: AuditNeeds, request: ApiRequest): Promise<Answer> => {
  const account = accountOf(request)
  if (account === null) return verifyAll(deps)
  const { count, headHash, firstBad } = await deps.auditReader.verify(account)
  const body = { verified: firstBad === null, count, head_hash: headHash }
  return { status: 200, body: firstBad === null ? body : { ...body, first_bad: firstBad } }
}

/** Every chain, one after the other: a chain belongs to one account, so each has a head of its own. */
const verifyAll = async (deps: AuditNeeds): Promise<Answer> => {
  const chains = []
  for (const account of await deps.auditReader.accounts()) {
    const { count, headHash, firstBad } = await deps.auditReader.verify(account)
    chains.push({ account, count, head_hash: headHash, ...(firstBad !== null && { first_bad: firstBad }) })
  }
  const bad = chains.find((chain) => chain.first_bad !== undefined)
  const count = chains.reduce((sum, chain) => sum + chain.count, 0)
  const found = bad && { account: bad.account, first_bad: bad.first_bad }
  return { status: 200, body: { verified: bad === undefined, count, ...found, chains } }
}

const headHash = text('Hash of the newest entry: write it down elsewhere, and later it shows what was rewritten.')
const firstBad = whole('First place at which something is wrong; absent when nothing is.')
const chain = object('One chain.', {
  account: text('Whose.'),
  count: whole('How many entries it has.'),
  head_hash: headHash,
  first_bad: firstBad,
})
const entry = object('One event.', {
  account: text('Whose chain.'),
  seq: whole('Place in the chain, from 1.'),
  at: text('When the outcome was known.'),
  who: object('Who did it, as far as it is known.', {
    kind: text('token, session, kubernetes or anonymous.'),
    id: text('Names the token or the session.'),
    manager: text('The field manager that the Kubernetes client gave; the user is in the audit log of the API server.'),
    operation: text('Apply or Update.'),
  }),
  what: object('What was done.', {
    verb: text('Method and route, or words.'),
    resource: textOrNull('What it was done to.'),
    fields: { type: 'array', description: 'Names of what was set; never values.', items: text('A name.') },
  }),
  ip: textOrNull('Address of the peer.'),
  request_id: textOrNull('Names the request in the logs.'),
  status: { type: ['integer', 'null'], description: 'HTTP status of the outcome.' },
  hash: text('Covers this entry and the hash of the one before.'),
})

const account: JsonSchema = named('AuditedAccount', {
  type: 'string',
  description:
    'One account; * is all, which is what an admin sees who names none. Another one than the own: role admin.',
  maxLength: 63,
})
const DAY = '[1-9]\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])'
const TIME = 'T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)'
const tag = 'Account'

export const auditRoutes: Route<AuditNeeds>[] = [
  {
    method: 'GET',
    path: '/api/audit',
    summary: 'Read the audit',
    description: 'Who changed what, newest first. Behind a session or a full-access token.',
    tag,
    scope: { kind: 'full' },
    query: {
      account,
      since: {
        type: 'string',
        description: 'Then (a day in UTC, or an instant) or later.',
        pattern: `^${DAY}(${TIME})?$`,
      },
      ...pageQuery,
    },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', {
          entries: list('Newest first.', entry),
          ...paging,
        }),
      },
    },
    codes: ['ROLE_REQUIRED'],
    handle: listAudit,
  },
  {
    method: 'GET',
    path: '/api/audit/verify',
    summary: 'Recompute the chain of the audit',
    tag,
    scope: { kind: 'full' },
    query: { account },
    answers: {
      200: {
        description: 'What was found.',
        schema: object('What was found.', {
          verified: flag('Nothing is missing, moved or altered.'),
          count: whole('How many entries there are.'),
          head_hash: headHash,
          first_bad: firstBad,
          account: text('Of all chains: the first one in which something is wrong.'),
          chains: list('Of all chains: how each stands.', chain),
        }),
      },
    },
    codes: ['ROLE_REQUIRED'],
    handle: verifyAudit,
  },
]
