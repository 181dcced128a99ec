/** What goes out with every page: its policy, and that nobody keeps, frames or indexes it. */
import type { Answer } from '../http/route.ts'

export type PageTerms = {
  /** Made by `policyOf`. */
  policy: string
  /** What other places are told of where a visitor comes from. */
  referrer: 'no-referrer' | 'same-origin'
}

export const pageHeaders = ({ policy, referrer }: PageTerms) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store',
  'content-security-policy': policy,
  'referrer-policy': referrer,
  'cross-origin-opener-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
  'x-frame-options': 'DENY',
})

export type PageAnswer = (status: number, page: string, headers?: Record<string, string>) => Answer

/** The answer of one family of pages; what is given last goes before its terms. */
export const makePageAnswer = (terms: PageTerms): PageAnswer => {
  const own = pageHeaders(terms)
  return (status, page, headers = {}) => ({
    status,
    bytes: Buffer.from(page, 'utf8'),
    headers: { ...own, ...headers },
  })
}
