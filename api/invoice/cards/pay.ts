/**
 * Pay now: a request that the controllers decide on once the card processor has made a checkout session; the client is sent
 * there. One that is open for the present balance is used again (rules/invoice.md#card-collection).
 */
import { randomBytes } from 'node:crypto'
import { checkoutKey, collectedOf } from '../../../crds/invoice/facts/collected.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { refusalOf } from '../../../crds/invoice/money/collect.ts'
import { sameOwner } from '../../command/own.ts'
import { reportAndSee } from '../../command/report.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { refuseBehind } from '../money/money.ts'
import type { PageNeeds } from '../needs.ts'
import type { FoundInvoice } from '../page/found.ts'
import { findPage, isOpen, langOf, PAYS, pageHtml, refuseVisitor, wantsJson } from '../page/show.ts'
import { pageOf } from '../page/view.ts'
import { openSession, standOf, withCheckout } from './checkout.ts'

/** How long the processor may need to come back. */
const RETRY_AFTER_SECONDS = '30'

/** @throws Problem when there is nothing to pay by card, or the processor is away */
const checkoutOf = async (deps: PageNeeds, found: FoundInvoice): Promise<string> => {
  const { name, view } = found
  refuseBehind(found.row.view)
  const { offered, reason } = view.collect
  if (!offered && reason) {
    const { code, detail } = refusalOf(reason, view.number ?? '', standOf(found))
    throw new Problem(code, `${detail}.`)
  }
  const open = openSession(deps, found, found.facts)?.opened
  if (open) return open.url
  const fact = { key: checkoutKey(randomBytes(16).toString('hex')), kind: 'checkout', body: {} }
  const decided = await reportAndSee(deps, {
    kind: INVOICE,
    name,
    whose: sameOwner(found.row),
    fact,
    isAsync: false,
    isPatient: true,
  })
  const session = decided?.fact.outcome?.session
  const url = decided && collectedOf(decided.facts).sessions.find((one) => one.session === session)?.opened?.url
  if (url) return url
  throw new Problem('PROCESSOR_UNAVAILABLE', 'The card processor has not opened a checkout in time.', {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
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
    const url = await checkoutOf(deps, found)
    if (isJson) return { status: 200, body: { checkout_url: url } }
    return withCheckout(deps, pageHtml(303, '', { location: url }))
  } catch (error) {
    if (isJson || !(error instanceof Problem)) throw error
    return inWords(deps, request, found, error)
  }
}
