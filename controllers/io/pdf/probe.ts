/** The smallest document, drawn where another one failed: where it fails as well the renderer is at fault, and no document. */
import type { FrozenDraft } from '../../../crds/invoice/order/frozen.ts'

export const PROBE: FrozenDraft = {
  number: null,
  kind: 'invoice',
  test: true,
  issuedOn: '2026-01-01',
  dueDate: null,
  lang: 'en',
  currency: 'EUR',
  seller: { legalName: 'Seller', taxId: '', address: '', email: '', footer: '' },
  client: { name: 'Client', email: '' },
  items: [{ description: 'Line', qty: '1', unitCents: 100, taxRateBp: 0, amountCents: 100 }],
  subtotalCents: 100,
  discountCents: 0,
  taxGroups: [{ rateBp: 0, baseCents: 100, taxCents: 0 }],
  taxCents: 0,
  totalCents: 100,
  paid: null,
  terms: '',
}
