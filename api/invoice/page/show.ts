/**
 * The client's page `/i/<token>`: behind its gate, under a strict policy. A GET never changes anything: mail scanners open
 * every link (rules/platform.md#get-changes-nothing). Source: rules/invoice.md#delivery-gate.
 */

import { newestSend } from '../../../crds/invoice/facts/ledger.ts'
import { newestDocument, recordedOf } from '../../../crds/invoice/facts/records.ts'
import { INVOICE_LINKS } from '../../../crds/invoice/facts/versions.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { DocumentLang, Frozen } from '../../../crds/invoice/order/frozen.ts'
import { FROM_CHECKOUT } from '../../../crds/invoice/order/gate.ts'
import { newestLinks } from '../../../crds/values/links.ts'
import { refuseWithout } from '../../auth/authorise.ts'
import { cookieOf } from '../../auth/cookie.ts'
import type { Scope } from '../../auth/scopes.ts'
import type { Caller } from '../../http/caller.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { makePageAnswer, pageHeaders } from '../../page/answer.ts'
import { acceptedLang } from '../../page/lang.ts'
import { DEAD_LINK, versionsElsewhere } from '../../page/links.ts'
import { withCheckout } from '../cards/checkout.ts'
import type { PageNeeds } from '../needs.ts'
import { type FoundInvoice, viewBeside } from './found.ts'
import { clientPolicy } from './policy.ts'
import { gatePage, lostPage } from './render.ts'
import { pageOf } from './view.ts'
import { isLang } from './words.ts'

export const PAGE_COOKIE = 'bottega_page'

const terms = { policy: clientPolicy(), referrer: 'no-referrer' } as const

export const pageHtml = makePageAnswer(terms)

/** Dead is dead: a link that was never made, one that was ended and one whose invoice is gone look the same. @throws Problem NOT_FOUND */
export const findPage = async (deps: PageNeeds, request: ApiRequest): Promise<FoundInvoice> => {
  const token = request.params.token ?? ''
  const asked = deps.keys.nameOfLink(token)
  const row = asked === null ? undefined : await deps.mirror.get(INVOICE, asked.name, { because: 'link' })
  const { sends, facts } = row ? await deps.ledger.observe(row.name) : { sends: [], facts: [] }
  const send = newestSend(sends)
  const { snapshots, links: known } = recordedOf(facts)
  // a fact holds before its plan has taken it in; what the view says, the resource knew of when the ledger did not
  const elsewhere = row ? await versionsElsewhere(deps, INVOICE, row.name) : []
  const links = newestLinks(INVOICE_LINKS, known.recorded, row?.view.link_versions, ...elsewhere)
  if (!row || !send || asked?.version !== links.link) throw new Problem('NOT_FOUND', DEAD_LINK)
  return {
    name: row.name,
    row,
    view: viewBeside(row.view, send),
    gate: send.gate,
    n: send.n,
    sha256: newestDocument(sends, snapshots)?.sha256 ?? send.sha256,
    frozen: send.frozen,
    links,
    facts,
    snapshots,
    path: `/i/${token}`,
  }
}

/** The language that the reader chose, else the document's; where there is no document, what the browser asks for. */
export const langOf = ({ query, headers }: ApiRequest, frozen?: Frozen): DocumentLang => {
  const { lang } = query
  return isLang(lang) ? lang : (frozen?.lang ?? acceptedLang(headers['accept-language'] ?? ''))
}

/** Who is signed in, if anybody; a bearer that is not good is refused. @throws Problem UNAUTHENTICATED */
export const callerOf = (deps: PageNeeds, { headers }: ApiRequest): Promise<Caller | null> =>
  deps.authenticate(headers).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'UNAUTHENTICATED' && !headers.authorization) return null
    throw error
  })

/** What a token must hold to look through the gate of an account, and to act behind it. A session may do both. */
export const LOOKS = 'invoices:read' satisfies Scope
export const PAYS = 'payments:write' satisfies Scope

/**
 * Whether the visitor is past the gate.
 * @param scope what the credential of the account that it opens to must hold
 * @throws Problem FORBIDDEN for a token of that account which does not hold it
 */
export const isOpen = async (
  deps: PageNeeds,
  request: ApiRequest,
  { name, frozen, gate, n, links }: FoundInvoice,
  scope: Scope,
): Promise<boolean> => {
  if (gate === 'password') {
    const cookie = cookieOf(request.headers, PAGE_COOKIE)
    return deps.keys.pageSessionOpens(cookie, { name, n, ...links }, deps.now().getTime())
  }
  const caller = await callerOf(deps, request)
  const isClient = caller !== null && caller.profile.email.toLowerCase() === frozen.client.email.toLowerCase()
  if (isClient) refuseWithout(scope, caller)
  return isClient
}

type Refused = { status: number; wrong?: boolean; tooMany?: boolean; headers?: Record<string, string> }

/** The gate, in place of what lies behind it. */
export const refuseVisitor = (
  request: ApiRequest,
  found: FoundInvoice,
  { status, headers = {}, ...why }: Refused,
): Answer => {
  const { path, frozen, gate } = found
  const page = gatePage({ lang: langOf(request, frozen), locked: gate === 'account', path, ...why })
  return pageHtml(status, page, headers)
}

/** RFC 9110 section 12.5.1, as far as a program needs it that asks for JSON. */
export const wantsJson = ({ headers }: ApiRequest): boolean =>
  /\bapplication\/(\w+\+)?json\b/.test(headers.accept ?? '')

/** A person whose link is not good sees a page that says so. */
export const forPeople =
  (handle: (deps: PageNeeds, request: ApiRequest) => Promise<Answer>) =>
  async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
    try {
      return await handle(deps, request)
    } catch (error) {
      const isLost = error instanceof Problem && error.code === 'NOT_FOUND' && !wantsJson(request)
      if (!isLost) throw error
      return pageHtml(404, lostPage(langOf(request)))
    }
  }

export const showPage = async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findPage(deps, request)
  // A password form is an ordinary page; an account's lock is a refusal.
  if (!(await isOpen(deps, request, found, LOOKS))) {
    return refuseVisitor(request, found, { status: found.gate === 'account' ? 401 : 200 })
  }
  const page = await pageOf(deps, found, langOf(request, found.frozen), { hasPaid: FROM_CHECKOUT in request.query })
  return withCheckout(deps, pageHtml(200, page))
}

type Kept = { sha256: string; contentType: string; fileName?: string }

/** Bytes that were frozen for this invoice. Whoever is not past the gate is not even told whether there are any. */
const kept =
  (what: (found: FoundInvoice, request: ApiRequest) => Kept | undefined) =>
  async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
    const found = await findPage(deps, request)
    if (!(await isOpen(deps, request, found, LOOKS))) return refuseVisitor(request, found, { status: 401 })
    const asked = what(found, request)
    if (!asked) throw new Problem('NOT_FOUND', 'This invoice has no such document.')
    const bytes = await deps.blobs.get(asked.sha256)
    if (!bytes) throw new Problem('INTERNAL', 'The document is recorded but its bytes are not there.')
    const contentType = asked.contentType === 'image/*' ? imageType(bytes) : asked.contentType
    const disposition = asked.fileName === undefined ? 'inline' : `inline; filename="${asked.fileName}"`
    const headers = { ...pageHeaders(terms), 'content-type': contentType, 'content-disposition': disposition }
    return { status: 200, bytes, headers }
  }

const PNG = 0x89
/** Logos are made by us, as a PNG or a JPEG. */
const imageType = (bytes: Buffer): string => (bytes[0] === PNG ? 'image/png' : 'image/jpeg')

const pdf = (sha256: string, name: string): Kept => ({
  sha256,
  contentType: 'application/pdf',
  fileName: `${name}.pdf`,
})

export const showPdf = kept(({ sha256, frozen }) => pdf(sha256, frozen.number))

/** A credit note of this invoice by its number. */
export const showCreditNote = kept(({ snapshots }, { params }) => {
  const note = snapshots.find(({ kind, number }) => kind === 'credit_note' && number === params.number)
  return note && pdf(note.sha256, note.number)
})

/** The seller's picture as it was frozen. */
export const showLogo = kept(({ frozen }) => {
  const { logo } = frozen.seller
  return logo ? { sha256: logo.sha256, contentType: 'image/*' } : undefined
})
