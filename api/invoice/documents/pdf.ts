/** The PDF of an invoice: the snapshot of its last send, or a draft that the controllers draw on request. */
import { createHash } from 'node:crypto'
import type { StoredDocument } from '../../../controllers/store/invoice/documents.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { previewedKey, previewFact } from '../../../crds/invoice/document/preview.ts'
import { newestDocument, recordedOf } from '../../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { DEFAULT_ZONE } from '../../../crds/invoice/order/issuer.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { dayIn } from '../../../crds/values/calendar.ts'
import type { FactGoal } from '../../command/command.ts'
import { waitFor } from '../../command/look.ts'
import { sameOwner } from '../../command/own.ts'
import { refuseStalled } from '../../command/verdict.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import { assertIssuer } from '../issuers/issuers.ts'
import type { DocumentNeeds } from '../needs.ts'
import { invoices } from '../read.ts'

export const pdfAnswer = async (deps: DocumentNeeds, sha256: string, fileName: string): Promise<Answer> => {
  const bytes = await deps.blobs.get(sha256)
  if (!bytes) throw new Problem('INTERNAL', 'The PDF is recorded but its bytes are not there.')
  const headers = {
    'content-type': 'application/pdf',
    'content-disposition': `inline; filename="${fileName}.pdf"`,
    'cache-control': 'private, no-store',
    etag: `"${sha256}"`,
  }
  return { status: 200, bytes, headers }
}

/** The same draft on the same day under the same issuer is drawn once. @throws Problem BAD_ISSUER */
export const previewKey = async (
  deps: DocumentNeeds,
  { name, account, uid, generation, view }: MirrorRow<ShownInvoice>,
): Promise<string> => {
  const { issuer_id } = view
  await assertIssuer(deps, account, issuer_id)
  const issuer = await deps.issuers.get({ account, id: issuer_id })
  const { profile = {}, logo = null } = issuer ?? {}
  const day = dayIn(deps.now(), profile.timeZone ?? DEFAULT_ZONE)
  const shown = JSON.stringify([name, uid, generation, day, profile, logo])
  return createHash('sha256').update(shown).digest('hex').slice(0, 32)
}

const isGivenUp = (row: MirrorRow<ShownInvoice> | undefined): row is MirrorRow<ShownInvoice> => {
  const code = row?.view.stalled?.code
  return code === 'DOCUMENT_TOO_LARGE' || code === 'DOCUMENT_SET_ASIDE'
}

/**
 * Has a drawing made under a key, once.
 * @throws Problem DOCUMENT_TOO_LARGE, DOCUMENT_SET_ASIDE, PDF_RENDER_OFF, PDF_BUSY
 */
export const drawPreview = async (deps: DocumentNeeds, row: MirrorRow<ShownInvoice>, key: string): Promise<string> => {
  const drawn = async (): Promise<string | undefined> => {
    const { facts } = await deps.ledger.observe(row.name)
    return facts.find((fact) => fact.key === previewedKey(key))?.body.sha256 as string | undefined
  }
  const before = await drawn()
  if (before !== undefined) return before
  if (isGivenUp(row)) refuseStalled(row)
  if (deps.pdfOff) throw new Problem('PDF_RENDER_OFF', 'Drafts cannot be drawn now; PDFs of sent invoices can be had.')
  const found = await waitFor<FactGoal, ShownInvoice, string>(deps, {
    kind: INVOICE,
    name: row.name,
    whose: sameOwner(row),
    async act() {
      const { fact } = await deps.appendFact(previewFact(row.name, key, deps.now()))
      await deps.wake(INVOICE, row.name)
      return { seq: fact.seq }
    },
    // what was drawn is a fact of its own, behind the one that asked
    judge: ({ seq }, now) => (now === undefined || now.view.fact_seq > seq || isGivenUp(now) ? 'decided' : 'pending'),
    async conclude(_goal, now) {
      const after = await drawn()
      if (after === undefined && isGivenUp(now)) refuseStalled(now)
      return after ?? null
    },
  })
  const after = found ?? (await drawn())
  if (after !== undefined) return after
  throw new Problem('PDF_BUSY', 'The draft was not drawn in time.', { headers: { 'retry-after': '5' } })
}

/** The document that shows the invoice as it stands; undefined for a draft. */
export const newestOf = async (deps: Pick<Deps, 'ledger'>, name: string): Promise<string | undefined> => {
  const { sends, facts } = await deps.ledger.observe(name)
  return newestDocument(sends, recordedOf(facts).snapshots)?.sha256
}

export const getPdf = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await invoices.find(deps, request)
  const newest = await newestOf(deps, row.name)
  const { number } = row.view
  if (newest !== undefined) return pdfAnswer(deps, newest, number ?? row.name)
  return pdfAnswer(deps, await drawPreview(deps, row, await previewKey(deps, row)), `draft-${row.name}`)
}

/** What was frozen before it was decided whether the XML goes in has none. */
const UNDECIDED = { profile: null, reason: 'It was frozen before PDFs carried electronic invoices.' }

const viewDocument = ({ sha256, at, kind, number, bytes, enclosure }: StoredDocument) => {
  const { profile, reason = null } = { reason: null, ...(enclosure ?? UNDECIDED) }
  return { sha256, created_at: at, kind, number, bytes, xml: { profile, reason } }
}

export const listSnapshots = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await invoices.find(deps, request)
  return { status: 200, body: { snapshots: (await deps.documents.of(row.name)).map(viewDocument) } }
}

export const getSnapshot = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await invoices.find(deps, request)
  const wanted = (await deps.documents.of(row.name)).find(({ sha256 }) => sha256 === request.params.sha256)
  if (!wanted) throw new Problem('NOT_FOUND', 'This invoice has no such snapshot.')
  return pdfAnswer(deps, wanted.sha256, wanted.number)
}
