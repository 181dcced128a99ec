/**
 * Requests that a foreign page makes a browser send. The session's cookie is SameSite=Lax already; beside that, a change
 * in its name must come from our own origin, and a form must carry the token that only our own page was given.
 * Source: OWASP Cross-Site Request Forgery Prevention; Fetch Metadata (Sec-Fetch-Site).
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Keys } from '../../controllers/base/keys.ts'
import type { Stage } from '../http/exchange.ts'
import { Problem } from '../http/problem.ts'
import { fieldsOf } from '../http/reading/form.ts'

const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i
const SAFE = new Set(['GET', 'HEAD'])
/** Field of every form on a page behind the session. */
export const FORM_TOKEN = 'form_token'

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null)

/**
 * Whose page sent this. Browsers say so themselves (Sec-Fetch-Site); one that does not yet, or talks to plain http, says
 * in Origin where the page is from, with every POST. `silent`: neither, so it is no browser.
 */
export const senderOf = (headers: IncomingHttpHeaders, publicUrl: string): 'ours' | 'foreign' | 'silent' => {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' ? 'ours' : 'foreign'
  const { origin } = headers
  if (origin === undefined) return 'silent'
  const from = hostOf(origin)
  return from !== null && (from === hostOf(publicUrl) || from === headers.host) ? 'ours' : 'foreign'
}

const refuse = (detail: string): never => {
  throw new Problem('CROSS_SITE', detail)
}

/** For forms before there is a session, which a program may send too. @throws Problem CROSS_SITE */
export const refuseForeign = (headers: IncomingHttpHeaders, publicUrl: string): void => {
  if (senderOf(headers, publicUrl) === 'foreign') refuse('This form was not sent from a page of this service.')
}

/** The stage after the caller is known: guards every change that rests on the cookie. */
export const makeCsrf =
  ({ keys, publicUrl }: { keys: Keys; publicUrl: string }): Stage =>
  async (exchange, next) => {
    const { caller, headers, method } = exchange
    // A bearer is never sent by a browser on its own.
    const byCookie = caller?.by.kind === 'session' && headers.authorization === undefined
    if (!byCookie || SAFE.has(method)) return next()
    refuseForeign(headers, publicUrl)
    if (FORM.test(headers['content-type'] ?? '')) {
      const form = fieldsOf(await exchange.bytes())
      if (!keys.formTokenFits(form.get(FORM_TOKEN) ?? '', caller.by.id)) {
        refuse('The form is not of this session; open the page again.')
      }
    } else if (senderOf(headers, publicUrl) === 'silent') {
      refuse('A change by cookie says where it comes from; a program sends Authorization: Bearer.')
    }
    return next()
  }
