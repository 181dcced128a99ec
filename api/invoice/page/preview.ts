/** The page of a pending revision, as its owner sees it before it is sent: the client's page of it, and in what it differs. */
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import type { FieldChange } from '../../../crds/invoice/order/revision.ts'
import { invoicePage } from './render.ts'

type Preview = { draft: FrozenDraft; sent: Frozen; changed: readonly FieldChange[]; path: string; url: string }

/** @param preview `path`: where it is shown; `url`: the client's page */
export const revisionPage = ({ draft, sent, changed, path, url }: Preview): string =>
  invoicePage({
    frozen: { ...draft, number: sent.number },
    lang: draft.lang,
    status: 'draft',
    paidCents: 0,
    balanceCents: draft.totalCents,
    preview: { draft, sent, revision: { changed, totalCents: draft.totalCents } },
    path,
    url,
  })
