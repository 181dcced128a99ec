/**
 * `POST /i/<token>/claim`: a client says that it has paid. The form of the page and JSON alike; decided by the plan, and told
 * to the seller (rules/invoice.md#claims).
 */

import { INVOICE } from '../../../crds/invoice/kind.ts'
import {
  type ClaimBody,
  type Claiming,
  centsOfText,
  claimBody,
  claimFaults,
  claimId,
  claimKey,
} from '../../../crds/invoice/money/claim.ts'
import { REFERENCE_MAX } from '../../../crds/invoice/schema.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { toPatch } from '../../../crds/kernel/rest.ts'
import { dayIn, isDay } from '../../../crds/values/calendar.ts'
import { senderOf } from '../../auth/csrf.ts'
import { sameOwner } from '../../command/own.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { accepted } from '../../command/verdict.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import { fieldsOf } from '../../http/reading/form.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { withCheckout } from '../cards/checkout.ts'
import { claimCommand, claimedAnswer } from '../commands.ts'
import { refuseBehind } from '../money/money.ts'
import type { PageNeeds } from '../needs.ts'
import type { ClaimFault } from './forms.ts'
import type { FoundInvoice } from './found.ts'
import { findPage, isOpen, langOf, PAYS, pageHtml, refuseVisitor, wantsJson } from './show.ts'
import { pageOf, type Wrong, zoneFor } from './view.ts'

type Entered = Omit<Wrong, 'fault'>

const enteredOf = ({ form }: ApiRequest): Entered => {
  const fields = fieldsOf(form)
  const of = (name: string) => (fields.get(name) ?? '').trim()
  return { date: of('date'), reference: of('reference'), amount: of('amount') }
}

/** What nobody can read, or what would begin another line. */
const UNREADABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u

const claimOfForm = ({ date, reference, amount }: Entered, now: Date): Claiming | ClaimFault => {
  const amountCents = amount === '' ? null : centsOfText(amount)
  if (!isDay(date) || claimFaults({ paidOn: date }, now).length > 0) return 'badDate'
  if (amount !== '' && (amountCents === null || amountCents < 1)) return 'badAmount'
  if (reference.length > REFERENCE_MAX || UNREADABLE.test(reference)) return 'badReference'
  return { paidOn: date, reference, amountCents }
}

const FAULTS: Partial<Record<ProblemCode, ClaimFault>> = {
  BAD_PAID_AMOUNT: 'badAmount',
  NOT_PAYABLE: 'notPayable',
  NOTHING_DUE: 'notPayable',
  CLAIM_LIMIT: 'tooManyClaims',
  TOO_MANY_REQUESTS: 'tooManyClaims',
}

/** What can be told without asking the controllers: nobody fills the ledger with claims that come to nothing. */
const refuseAtOnce = ({ view }: FoundInvoice): void => {
  if (view.status === 'voided') throw new Problem('NOT_PAYABLE', `${view.number} is voided.`)
  if (view.balance_cents === 0) throw new Problem('NOTHING_DUE', `Nothing is left to pay of ${view.number}.`)
}

/** @throws Problem as it was refused, or TOO_MANY_REQUESTS */
const makeClaim = async (
  deps: PageNeeds,
  request: ApiRequest,
  found: FoundInvoice,
  claiming: Claiming,
): Promise<Answer> => {
  const { name, facts } = found
  const id = claimId(claiming)
  const key = claimKey(id)
  const known = facts.some((fact) => fact.key === key && fact.state === 'accepted')
  const claim = found.view.claims.find((one) => one.id === id)
  if (known) return claim ? claimedAnswer(claim, false) : accepted(found.path, { claim: { id } })
  refuseBehind(found.row.view)
  refuseAtOnce(found)
  const { waitMs } = await deps.attempts.begin({ ip: request.ip, target: `claim:${name}` })
  if (waitMs > 0) {
    const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) }
    throw new Problem('TOO_MANY_REQUESTS', 'Too many payments were claimed from this address.', { headers })
  }
  return settle(deps, request, claimCommand, {
    name,
    whose: sameOwner(found.row),
    resource: found.path,
    pending: { claim: { id } },
    act: () => append(deps, { kind: INVOICE, name, fact: { key, kind: 'claim', body: { ...claiming } } }),
  })
}

/** 303 back to the page, or the page with the form as it was filled in and what is wrong with it. */
const answerForm = async (deps: PageNeeds, request: ApiRequest, found: FoundInvoice): Promise<Answer> => {
  const lang = langOf(request, found.frozen)
  const entered = enteredOf(request)
  const again = async (status: number, fault: ClaimFault, headers: Record<string, string> = {}) =>
    withCheckout(deps, pageHtml(status, await pageOf(deps, found, lang, { wrong: { ...entered, fault } }), headers))
  const claiming = claimOfForm(entered, deps.now())
  if (typeof claiming === 'string') return again(400, claiming)
  try {
    await makeClaim(deps, request, found, claiming)
  } catch (error) {
    const fault = error instanceof Problem ? FAULTS[error.code] : undefined
    if (!(error instanceof Problem) || fault === undefined) throw error
    return again(error.status, fault, error.headers)
  }
  return pageHtml(303, '', { location: `${found.path}?lang=${lang}` })
}

const claimOfJson = async (deps: PageNeeds, { body }: ApiRequest, found: FoundInvoice): Promise<Claiming> => {
  const { date, reference = '', amountCents = null } = toPatch({ spec: claimBody }, body) as ClaimBody
  const paidOn = date ?? dayIn(deps.now(), await zoneFor(deps, found))
  refuseFaults(claimFaults({ paidOn }, deps.now()))
  return { paidOn, reference, amountCents }
}

export const claimPayment = async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findPage(deps, request)
  const isForm = request.body === undefined
  // a page without a referrer says "null" for where it is from, and the cookie of the page is not sent from elsewhere
  const isForeign = senderOf(request.headers, deps.publicUrl) === 'foreign' && request.headers.origin !== 'null'
  if (isForeign) throw new Problem('CROSS_SITE', 'This form was not sent from a page of this service.')
  if (!(await isOpen(deps, request, found, PAYS))) {
    if (!isForm || wantsJson(request)) throw new Problem('UNAUTHENTICATED', 'Enter the password of the page first.')
    return refuseVisitor(request, found, { status: 401 })
  }
  if (!isForm) return makeClaim(deps, request, found, await claimOfJson(deps, request, found))
  if (!wantsJson(request)) return answerForm(deps, request, found)
  const claiming = claimOfForm(enteredOf(request), deps.now())
  if (typeof claiming !== 'string') return makeClaim(deps, request, found, claiming)
  throw new Problem(
    claiming === 'badAmount' ? 'BAD_PAID_AMOUNT' : 'INVALID_FIELD',
    `The form is not right: ${claiming}.`,
  )
}
