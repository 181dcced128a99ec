/** Issuers and the seller profile, which is the default issuer under its old name (rules/invoice.md#issuers). */
import type { IssuerRefusal } from '../../../controllers/store/invoice/issuers.ts'
import type { AccountView } from '../../../crds/account/view.ts'
import {
  DEFAULT_ZONE,
  freePrefix,
  ISSUERS_MAX,
  type IssuerRow,
  issuerChange,
  issuerOf,
  newIssuer,
  viewIssuer,
  yearOf,
} from '../../../crds/invoice/order/issuer.ts'
import { type IssuerProfile, profileFaults } from '../../../crds/invoice/order/profile.ts'
import { DEFAULT_ISSUER } from '../../../crds/invoice/schema.ts'
import { restPointer, toPatch } from '../../../crds/kernel/rest.ts'
import type { ObjectSchema } from '../../../crds/kernel/schema.ts'
import { nameFor } from '../../command/name.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { IssuerNeeds } from '../needs.ts'
import { wakeAccount } from './wake.ts'

/** Two callers may want the same free prefix at once. */
const PREFIX_TRIES = 5

type Caller = ApiRequest['caller']
type Asked = { nextNumber?: number; archived?: boolean } & { [K in keyof IssuerProfile]: IssuerProfile[K] | null }

/** The caller's issuer. Another account's is not there at all (rules/platform.md#ownership). */
export const ownIssuer = async (deps: IssuerNeeds, { caller, params }: ApiRequest): Promise<IssuerRow> => {
  const id = params.id ?? ''
  const row = await deps.issuers.get({ account: caller.account, id })
  if (!row) throw new Problem('NOT_FOUND', `There is no issuer ${id}.`)
  return row
}

/** @throws Problem BAD_ISSUER unless the account may invoice under this issuer; none named is the default one */
export const assertIssuer = async (
  deps: Pick<Deps, 'issuers'>,
  account: string,
  issuerId: string | undefined,
): Promise<void> => {
  if (issuerId === undefined || issuerId === DEFAULT_ISSUER) return
  const row = await deps.issuers.get({ account, id: issuerId })
  const faultOf = (detail: string) => [{ code: 'BAD_ISSUER' as const, pointer: '/issuer_id', detail }]
  if (!row) refuseFaults(faultOf(`${issuerId} is not an issuer of this account`))
  else if (row.archivedAt !== null) refuseFaults(faultOf(`${issuerId} is archived and invoices no more`))
}

const ownerOf = ({ profile }: Caller): Pick<AccountView, 'name' | 'email'> => profile

const viewAll = async (deps: Pick<Deps, 'issuers' | 'now'>, caller: Caller, rows: readonly IssuerRow[]) => {
  const now = deps.now()
  const seriesOf = ({ id, profile }: IssuerRow): string =>
    yearOf({ account: caller.account, id }, profile.timeZone ?? DEFAULT_ZONE, now).series[0] ?? ''
  const last = await deps.issuers.lastOf(rows.map(seriesOf))
  return rows.map((row) => viewIssuer(ownerOf(caller), row, last.get(seriesOf(row))))
}

/** The issuer as it stands now, wrapped by its name. */
export const answerIssuer = async (
  deps: Pick<Deps, 'issuers' | 'now'>,
  caller: Caller,
  id: string,
  { status = 200, name = 'issuer' }: { status?: number; name?: 'issuer' | 'profile' } = {},
): Promise<Answer> => {
  const row = await deps.issuers.get({ account: caller.account, id })
  if (!row) throw new Problem('NOT_FOUND', `There is no issuer ${id}.`)
  const [view] = await viewAll(deps, caller, [row])
  const headers = status === 201 ? { location: `/api/invoices/issuers/${id}` } : {}
  return { status, headers, body: { [name]: view } }
}

export const listIssuers = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const { caller, query } = request
  const page = pageOf(request)
  const all = await deps.issuers.list(caller.account)
  const asked = query.archived === 'true' ? all : all.filter(({ archivedAt }) => archivedAt === null)
  const items = await viewAll(deps, caller, asked.slice(page.offset, page.offset + page.limit))
  return pagedAnswer('issuers', { items, total: asked.length }, page)
}

export const getIssuer = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const { id } = await ownIssuer(deps, request)
  return answerIssuer(deps, request.caller, id)
}

/** An IBAN is written with spaces by people and without them by machines. */
const withoutSpaces = (body: unknown): unknown => {
  const iban = (body as { iban?: unknown }).iban
  return typeof iban === 'string' ? { ...(body as object), iban: iban.replaceAll(' ', '') } : body
}

const askedOf = (schema: ObjectSchema, body: unknown): Asked => {
  const asked = toPatch({ spec: schema }, withoutSpaces(body)) as Asked
  refuseFaults(profileFaults(asked).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
  return asked
}

/** Names what was asked for and what stands in its way. */
const problemOf = (refusal: Exclude<IssuerRefusal, null>, asked: Asked, prefix: string): Problem => {
  const at = (pointer: string, detail: string) =>
    new Problem(refusal, detail, { faults: [{ code: refusal, pointer, detail }] })
  switch (refusal) {
    case 'NOT_FOUND':
      return new Problem(refusal, 'There is no such issuer.')
    case 'PREFIX_TAKEN':
      return at('/number_prefix', `Another issuer of this account has the prefix ${prefix}.`)
    case 'PREFIX_IN_USE':
      return at('/number_prefix', 'Numbers of this year were given under the present prefix.')
    case 'NEXT_NUMBER_FIXED':
      return at('/next_number', `The register has begun, or is beyond ${asked.nextNumber}.`)
    case 'ISSUER_LIMIT':
      return new Problem(refusal, `The account has ${ISSUERS_MAX} issuers, archived ones among them.`)
    default: {
      const never: never = refusal
      throw new Error(String(never))
    }
  }
}

const refuse = (refusal: IssuerRefusal, asked: Asked, prefix: string): void => {
  if (refusal !== null) throw problemOf(refusal, asked, prefix)
}

const withoutNulls = ({ nextNumber: _, archived: __, ...fields }: Asked): IssuerProfile =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** Makes an issuer; one without a prefix is given the first that is free. */
const create = async (deps: IssuerNeeds, { account }: Caller, id: string, asked: Asked): Promise<void> => {
  const year = yearOf({ account, id }, asked.timeZone ?? DEFAULT_ZONE, deps.now())
  for (let left = PREFIX_TRIES; ; left--) {
    const taken = (await deps.issuers.list(account)).map((row) => issuerOf({ name: '', email: '' }, row).numberPrefix)
    const numberPrefix = asked.numberPrefix ?? freePrefix(taken)
    const profile = { ...withoutNulls(asked), numberPrefix }
    const refusal = await deps.issuers.create({ account, id }, { profile, nextNumber: asked.nextNumber, year })
    if (refusal === 'PREFIX_TAKEN' && typeof asked.numberPrefix !== 'string' && left > 1) continue
    refuse(refusal, asked, numberPrefix)
    return
  }
}

export const createIssuer = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const id = nameFor('iss', request)
  await create(deps, request.caller, id, askedOf(newIssuer, request.body))
  await wakeAccount(deps, request)
  return answerIssuer(deps, request.caller, id, { status: 201 })
}

const change = async (deps: IssuerNeeds, { account }: Caller, row: IssuerRow, asked: Asked): Promise<void> => {
  const { nextNumber, archived, ...profile } = asked
  if (row.id === DEFAULT_ISSUER && archived === true) {
    throw new Problem('ISSUER_DEFAULT', 'Invoices that name no issuer are under this one.')
  }
  if (row.id !== DEFAULT_ISSUER && profile.numberPrefix === null) {
    const detail = 'an issuer has a prefix'
    refuseFaults([{ code: 'BAD_PREFIX', pointer: '/number_prefix', detail }])
  }
  const now = deps.now()
  const timeZone = profile.timeZone === undefined ? row.profile.timeZone : profile.timeZone
  const year = yearOf({ account, id: row.id }, timeZone ?? DEFAULT_ZONE, now)
  const desired = { profile, archived, nextNumber, year, at: now.toISOString() }
  refuse(await deps.issuers.change({ account, id: row.id }, desired), asked, String(profile.numberPrefix))
}

export const patchIssuer = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownIssuer(deps, request)
  await change(deps, request.caller, row, askedOf(issuerChange, request.body))
  await wakeAccount(deps, request)
  return answerIssuer(deps, request.caller, row.id)
}

/**
 * Archives it. It is never taken out: its documents need its zone for what is due and its prefix for credit notes, a number
 * may be on its way at this very moment, and its prefix must never number another's invoices.
 */
export const deleteIssuer = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownIssuer(deps, request)
  await change(deps, request.caller, row, { archived: true })
  return { status: 204 }
}

export const getProfile = (deps: IssuerNeeds, { caller }: ApiRequest): Promise<Answer> =>
  answerIssuer(deps, caller, DEFAULT_ISSUER, { name: 'profile' })

export const patchProfile = async (deps: IssuerNeeds, { caller, body }: ApiRequest): Promise<Answer> => {
  const row = await deps.issuers.get({ account: caller.account, id: DEFAULT_ISSUER })
  if (!row) throw new Error('every account has its default issuer')
  await change(deps, caller, row, askedOf(newIssuer, body))
  return answerIssuer(deps, caller, DEFAULT_ISSUER, { name: 'profile' })
}
