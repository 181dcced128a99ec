/** The frozen documents of one invoice: which there are, and what stands on each (sql/functions/documents_of.sql). */
import type { Enclosure, Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { Pg } from '../pg/pg.ts'

/** One PDF. `enclosure` is null where nothing was decided about its electronic invoice: it has none. */
export type StoredDocument = {
  /** Of its bytes, in hex. */
  sha256: string
  /** ISO instant. */
  at: string
  kind: 'invoice' | 'paid' | 'void' | 'credit_note'
  number: string
  bytes: number
  enclosure: Enclosure | null
}

export type Documents = {
  /** Newest first. */
  of(resource: string): Promise<StoredDocument[]>
  /** What stands on one of them; null when this invoice has none of these bytes. @param sha256 in hex */
  frozen(resource: string, sha256: string): Promise<Frozen | null>
}

const OF = 'select sha256, at, kind, number, bytes, enclosure from documents_of($1)'
const FROZEN = 'select frozen from frozen_document($1, $2)'

export const makeDocuments = ({ pg }: { pg: Pg }): Documents => ({
  of: async (resource) => (await pg.query<StoredDocument>('documents_of', OF, [resource])).rows,
  frozen: async (resource, sha256) =>
    (await pg.query<{ frozen: Frozen }>('frozen_document', FROZEN, [resource, sha256])).rows[0]?.frozen ?? null,
})
