/**
 * What all pages of one's own account share: a policy under which no script runs and nobody frames them, refusals in
 * words instead of JSON, and the way to sign in for visitors who have not.
 */

import { PROBLEMS } from '../../crds/kernel/problem.ts'
import { DATA, policyOf, SELF } from '../../crds/text/policy.ts'
import { refusalPage } from '../page/account.ts'
import { makePageAnswer } from '../page/answer.ts'
import type { Exchange, Stage } from './exchange.ts'
import { Problem } from './problem.ts'
import type { Answer, RouteHead } from './route.ts'

/** Origin stays in form posts (`same-origin`), which the check against foreign sites looks at; nothing leaves the host. */
export const pageAnswer = makePageAnswer({
  policy: policyOf({ styles: [SELF], images: [SELF, DATA], forms: [SELF] }),
  referrer: 'same-origin',
})

/** The same of a page that shows others of our own in frames. */
export const framingAnswer = makePageAnswer({
  policy: policyOf({ styles: [SELF], images: [SELF, DATA], forms: [SELF], framed: [SELF] }),
  referrer: 'same-origin',
})

/** 303: what comes next is a GET, so that a reload repeats nothing. */
export const goTo = (location: string, headers: Record<string, string> = {}): Answer =>
  pageAnswer(303, '', { location, ...headers })

export const isPage = ({ hidden, path }: RouteHead): boolean =>
  hidden === true && /^\/(signin|signout|account|review|certificates)(\/|$)/.test(path)

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

/** A page that was asked for is shown after signing in; a form that was sent is not sent again. */
const toSignin = ({ method, url }: Exchange): Answer => {
  const path = isRead(method) ? (url.split('?', 1)[0] ?? '') : ''
  return goTo(path === '' ? '/signin' : `/signin?next=${encodeURIComponent(path)}`)
}

const inWords = (problem: Problem, exchange: Exchange): Answer => {
  if (problem.code === 'UNAUTHENTICATED') return toSignin(exchange)
  const { title, next } = PROBLEMS[problem.code]
  const page = refusalPage({ title, detail: problem.message, next, requestId: exchange.requestId })
  return pageAnswer(problem.status, page, problem.headers)
}

/** The outermost stage of pages: what is thrown beneath becomes a page, or the way to sign in. */
export const makePages = (routes: readonly RouteHead[]): Stage => {
  const pages = new Set(routes.filter(isPage))
  return async (exchange, next) => {
    if (!pages.has(exchange.route)) return next()
    return next().catch((error: unknown) => {
      if (error instanceof Problem) return inWords(error, exchange)
      throw error
    })
  }
}
