/**
 * Pay now: a request that the controllers decide on once the card processor has made a checkout session; the client is sent
 * there. One that is open for the present balance is used again (rules/invoice.md#card-collection).
 */
import { randomBytes } from 'node:crypto'
import { checkoutKey } from '../../../crds/invoice/facts/collected.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { refusalOf } from '../../../crds/invoice/money/collect.ts'
import { sameOwner } from '../../command/own.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import { wantsAsync } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { checkoutAnswer, checkoutCommand, noCheckoutYet } from '../commands.ts'
import { refuseBehind } from '../money/money.ts'
import type { PageNeeds } from '../needs.ts'
import type { FoundInvoice } from '../page/found.ts'
import { findPage, isOpen, langOf, PAYS, pageHtml, refuseVisitor, wantsJson } from '../page/show.ts'
import { pageOf } from '../page/view.ts'
import { openSession, standOf, withCheckout } from './checkout.ts'

type Asked = { kind: string; key: string; state: string }
/** Who asks while a checkout is being made waits for the same one. */
const keyOf = (facts: readonly Asked[]): string =>
  facts.find(({ kind, state }) => kind === 'checkout' && state === 'pending')?.key ??
  checkoutKey(randomBytes(16).toString('hex'))

/** @returns the checkout, or 202 for who does not wait @throws Problem when there is nothing to pay by card, or the processor is away */
const checkoutOf = async (deps: PageNeeds, request: ApiRequest, found: FoundInvoice): Promise<Answer> => {
  const { name, view, facts } = found
  refuseBehind(found.row.view)
  const { offered, reason } = view.collect
  if (!offered && reason) {
    const { code, detail } = refusalOf(reason, view.number ?? '', standOf(found))
    throw new Problem(code, `${detail}.`)
  }
  const open = openSession(deps, found, facts)?.opened
  if (open) return checkoutAnswer(open.url)
  const fact = { key: keyOf(facts), kind: 'checkout', body: {} }
  const answer = await settle(deps, request, checkoutCommand, {
    name,
    whose: sameOwner(found.row),
    resource: found.path,
    pending: { checkout_url: null },
    act: () => append(deps, { kind: INVOICE, name, fact }),
  })
  if (answer.status === 202 && !wantsAsync(request)) throw noCheckoutYet()
  return answer
}

/** A browser has nowhere to go until there is a checkout: its form always waits. */
const asForm = (request: ApiRequest): ApiRequest => {
  const { prefer: _prefer, ...headers } = request.headers
  return { ...request, headers }
}

/** The page as it stands now, which says what is due and what is not. */
const inWords = async (
  deps: PageNeeds,
  request: ApiRequest,
  found: FoundInvoice,
  problem: Problem,
): Promise<Answer> => {
  const page = await pageOf(deps, found, langOf(request, found.frozen), { isAway: problem.status >= 500 })
  return pageHtml(problem.status, page, problem.headers)
}

export const payInvoice = async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findPage(deps, request)
  const isJson = wantsJson(request)
  if (!(await isOpen(deps, request, found, PAYS))) {
    if (isJson) throw new Problem('UNAUTHENTICATED', 'Open the page by its password or sign in first.')
    return refuseVisitor(request, found, { status: 401 })
  }
  try {
    if (isJson) return await checkoutOf(deps, request, found)
    const { checkout_url: location } = (await checkoutOf(deps, asForm(request), found)).body as { checkout_url: string }
    return withCheckout(deps, pageHtml(303, '', { location }))
  } catch (error) {
    if (isJson || !(error instanceof Problem)) throw error
    return inWords(deps, request, found, error)
  }
}
