/**
 * The client's page `/i/<token>`: behind its gate, served with a strict policy, without a script.
 * A GET never changes anything: mail scanners open every link (DESIGN section 5).
 * Source: spec/1 rule 1 (delivery gate); CONTRACT section 10, Client page.
 */
import type { Frozen } from '../../crds/invoice/frozen.ts'
import { gatePage, invoicePage, PAGE_CSS, PAGE_CSS_PATH } from '../../crds/invoice/page.ts'
import { newestDocument, recordedOf } from '../../crds/invoice/records.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest, Route } from '../route.ts'
import { withCheckout } from './checkout.ts'

const COOKIE = 'bottega_page'
const SESSION_MS = 12 * 60 * 60 * 1000

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'x-frame-options': 'DENY',
}

/** What stands behind one link: the invoice as it is now, and the document as it was last sent. */
export type Found = {
  name: string
  view: InvoiceView
  gate: 'account' | 'password'
  n: number
  sha256: string
  frozen: Frozen
}

export const html = (status: number, page: string, headers: Record<string, string> = {}): Answer => ({
  status,
  bytes: Buffer.from(page, 'utf8'),
  headers: { ...PAGE_HEADERS, ...headers },
})

/** A link that was never made and one whose invoice is gone look the same. */
export const find = async (deps: Deps, request: ApiRequest): Promise<Found> => {
  const name = deps.keys.nameOfLink(request.params.token ?? '')
  const row = name === null ? undefined : await deps.mirror.get('Invoice', name)
  const { sends, facts } = row ? await deps.ledger.observe(row.name) : { sends: [], facts: [] }
  const send = sends.at(-1)
  if (!row || !send) throw new Problem('NOT_FOUND', 'This link leads nowhere.')
  const sha256 = newestDocument(sends, recordedOf(facts).snapshots)?.sha256 ?? send.sha256
  return { ...send, sha256, name: row.name, view: row.view as InvoiceView, frozen: send.frozen as Frozen }
}

const cookieOf = (request: ApiRequest): string => {
  const pairs = (request.headers.cookie ?? '').split(';').map((part) => part.trim().split('=', 2))
  return pairs.find(([name]) => name === COOKIE)?.[1] ?? ''
}

export const isOpen = async (deps: Deps, request: ApiRequest, { name, view, gate, n }: Found): Promise<boolean> => {
  if (gate === 'password') return deps.keys.pageSessionOpens(cookieOf(request), name, n, deps.now().getTime())
  // Whoever is not signed in, or no longer, sees the gate.
  const caller = await deps.authenticate(request.headers).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'UNAUTHENTICATED' && !request.headers.authorization) return null
    throw error
  })
  if (!caller) return false
  return caller.profile.email.toLowerCase() === (view.client_email ?? '').toLowerCase()
}

type Refused = { status: number; wrong?: boolean; tooMany?: boolean; headers?: Record<string, string> }

export const refuse = (found: Found, { status, headers = {}, ...why }: Refused): Answer =>
  html(status, gatePage({ lang: found.frozen.lang, locked: found.gate === 'account', ...why }), headers)

const showPage = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const found = await find(deps, request)
  // A password form is an ordinary page; an account's lock is a refusal.
  if (!(await isOpen(deps, request, found))) return refuse(found, { status: found.gate === 'account' ? 401 : 200 })
  const { frozen, view } = found
  const page = invoicePage({
    frozen,
    status: view.status,
    paidCents: view.paid_cents,
    creditedCents: view.credited_cents,
    balanceCents: view.balance_cents ?? 0,
    pdfPath: `/i/${request.params.token}/pdf`,
    ...(view.collect?.offered && { payPath: `/i/${request.params.token}/pay` }),
  })
  return withCheckout(deps, html(200, page))
}

const showPdf = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const found = await find(deps, request)
  if (!(await isOpen(deps, request, found))) return refuse(found, { status: 401 })
  const bytes = await deps.blobs.get(found.sha256)
  if (!bytes) throw new Problem('INTERNAL', 'The snapshot is recorded but its bytes are not there.')
  const disposition = `inline; filename="${found.frozen.number}.pdf"`
  const headers = { ...PAGE_HEADERS, 'content-type': 'application/pdf', 'content-disposition': disposition }
  return { status: 200, bytes, headers }
}

const enter = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const found = await find(deps, request)
  const { name, gate, n } = found
  if (gate === 'account') return refuse(found, { status: 401 })
  const { waitMs, right } = await deps.attempts.begin({ ip: request.ip, target: `page:${name}` })
  if (waitMs > 0) {
    return refuse(found, { status: 429, tooMany: true, headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } })
  }
  const given = new URLSearchParams((request.form ?? Buffer.alloc(0)).toString('utf8')).get('password') ?? ''
  if (!deps.keys.passwordOpens(given.trim(), name, n)) {
    return refuse(found, { status: 403, wrong: true })
  }
  await right()
  const session = deps.keys.pageSession(name, n, deps.now().getTime() + SESSION_MS)
  const path = `/i/${request.params.token}`
  const secure = deps.publicUrl.startsWith('https:') ? '; Secure' : ''
  const cookie = `${COOKIE}=${session}; Path=${path}; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Lax${secure}`
  return html(303, '', { location: path, 'set-cookie': cookie })
}

const showStyle = async (): Promise<Answer> => ({
  status: 200,
  bytes: Buffer.from(PAGE_CSS, 'utf8'),
  headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' },
})

const open = { scope: { kind: 'public' }, tag: 'Client page' } as const
const page = (description: string) => ({ description, contentType: 'text/html' })

export const pageRoutes: Route[] = [
  {
    ...open,
    method: 'GET',
    path: PAGE_CSS_PATH,
    summary: 'Style of the client page',
    codes: [],
    answers: { 200: { description: 'The stylesheet.', contentType: 'text/css' } },
    handle: showStyle,
  },
  {
    ...open,
    method: 'GET',
    path: '/i/:token',
    summary: "The client's page, or its gate",
    codes: ['NOT_FOUND'],
    answers: { 200: page('The gate, or the invoice.'), 401: page('Open to one account only: sign in.') },
    handle: showPage,
  },
  {
    ...open,
    method: 'POST',
    path: '/i/:token',
    summary: 'Enter the password of the page',
    codes: ['NOT_FOUND'],
    answers: {
      303: { description: 'The password was right; a cookie opens the page.' },
      401: page('Open to one account only: sign in.'),
      403: page('The password was wrong.'),
      429: page('Too many wrong passwords; Retry-After says when to try again.'),
    },
    handle: enter,
  },
  {
    ...open,
    method: 'GET',
    path: '/i/:token/pdf',
    summary: 'The PDF of the last send',
    codes: ['NOT_FOUND'],
    answers: { 200: { description: 'The PDF.', contentType: 'application/pdf' }, 401: page('The gate is closed.') },
    handle: showPdf,
  },
]
