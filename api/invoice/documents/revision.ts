/**
 * What was edited since it was sent, as its owner sees it before it is sent: the page that the client would get for a
 * browser, the PDF for others. Both are marked as not sent, and nobody but the owner gets them.
 */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { sizeFaults } from '../../../crds/invoice/document/drawcost.ts'
import { revisedOf } from '../../../crds/invoice/document/freeze.ts'
import { revisionPreviewKey } from '../../../crds/invoice/document/preview.ts'
import { newestSend } from '../../../crds/invoice/facts/ledger.ts'
import { LANGS } from '../../../crds/invoice/order/frozen.ts'
import { issuerFor } from '../../../crds/invoice/order/issuer.ts'
import { specOfView } from '../../../crds/invoice/planning/restore.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Route } from '../../wiring/route.ts'
import type { DocumentNeeds } from '../needs.ts'
import { revisionPage } from '../page/preview.ts'
import { pageHtml } from '../page/show.ts'
import { isLang } from '../page/words.ts'
import { invoices } from '../read.ts'
import { drawPreview, pdfAnswer, previewKey } from './pdf.ts'

/** @throws Problem NOT_FOUND when nothing waits to be sent; with the code of the rule that the edit breaks */
const revisedRow = async (deps: DocumentNeeds, request: ApiRequest): Promise<MirrorRow<ShownInvoice>> => {
  const row = await invoices.find(deps, request)
  const { pending_revision: revision, stalled, number } = row.view
  if (!revision) throw new Problem('NOT_FOUND', `Nothing of ${number ?? row.name} waits to be sent again.`)
  const [fault] = sizeFaults(specOfView(row.account, row.view))
  if (fault) throw new Problem(fault.code, `${fault.pointer} ${fault.detail}`)
  if (revision.totals) return row
  throw new Problem('NOT_FOUND', `The edit of ${number} cannot be sent: ${stalled?.detail ?? 'it breaks a rule'}`)
}

const asPdf = async (deps: DocumentNeeds, row: MirrorRow<ShownInvoice>): Promise<Answer> => {
  const sha256 = await drawPreview(deps, row, revisionPreviewKey(await previewKey(deps, row)))
  return pdfAnswer(deps, sha256, `revision-${row.view.number}`)
}

const asPage = async (
  deps: DocumentNeeds,
  { caller, query: { lang } }: ApiRequest,
  row: MirrorRow<ShownInvoice>,
): Promise<Answer> => {
  const { view, account } = row
  const sent = newestSend((await deps.ledger.observe(row.name)).sends)?.frozen
  const known = await deps.issuers.get({ account, id: view.issuer_id })
  const issuer = issuerFor(caller.profile, view.issuer_id, known && { ...known, archived: false }, true)
  if (!sent || !issuer) throw new Problem('NOT_FOUND', `Nothing of ${view.number} can be shown.`)
  const draft = revisedOf(specOfView(account, view), issuer, sent)
  const page = revisionPage({
    draft: isLang(lang) ? { ...draft, lang } : draft,
    sent,
    changed: view.pending_revision?.changed ?? [],
    path: `/api/invoices/${row.name}/revision`,
    url: view.url ?? '',
  })
  return pageHtml(200, page)
}

/** RFC 9110 section 12.5.1, as far as browsers differ from programs: they name HTML. */
const wantsPage = ({ headers }: ApiRequest): boolean => /\btext\/html\b/i.test(headers.accept ?? '')

const getRevision = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await revisedRow(deps, request)
  return wantsPage(request) ? asPage(deps, request, row) : asPdf(deps, row)
}

const getRevisionPdf = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> =>
  asPdf(deps, await revisedRow(deps, request))

const shown = {
  method: 'GET',
  tag: 'Invoices',
  scope: { kind: 'scope', scope: 'invoices:read' },
  codes: ['NOT_FOUND', 'BAD_ISSUER', 'DOCUMENT_TOO_LARGE', 'DOCUMENT_SET_ASIDE', 'PDF_BUSY', 'PDF_RENDER_OFF'],
} as const satisfies Partial<Route<DocumentNeeds>>

export const revisionRoutes: Route<DocumentNeeds>[] = [
  {
    ...shown,
    codes: [...shown.codes],
    path: '/api/invoices/:id/revision',
    summary: 'Preview what was edited since it was sent',
    description: 'The revised document, marked as not sent: a page to who accepts HTML, else the PDF.',
    query: { lang: { type: 'string', description: 'Language of the page.', enum: [...LANGS] } },
    answers: {
      200: { description: 'The revised document.', contentType: 'application/pdf', orAs: ['text/html'] },
    },
    handle: getRevision,
  },
  {
    ...shown,
    codes: [...shown.codes],
    path: '/api/invoices/:id/revision/pdf',
    summary: 'Preview the PDF of what was edited since it was sent',
    answers: { 200: { description: 'The PDF, marked as not sent.', contentType: 'application/pdf' } },
    handle: getRevisionPdf,
  },
]
