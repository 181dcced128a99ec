/** What invoicing adds to the catalogues. */
import { COLLECT_PROBLEMS } from '../problems/collect.ts'
import { INVOICE_PROBLEMS } from '../problems/invoices.ts'
import type { KindCatalogue } from './entry.ts'

export const INVOICE_CATALOGUE = {
  events: [
    'invoice.sent',
    'invoice.viewed',
    'invoice.payment_claimed',
    'invoice.paid',
    'invoice.overdue',
    'invoice.voided',
    'invoice.credit_noted',
    'invoice.refunded',
    'invoice.delivery_failed',
    'invoice.link_rotated',
  ],
  problems: { ...INVOICE_PROBLEMS, ...COLLECT_PROBLEMS },
  scopes: {
    'create.invoice': 'Create invoices, and send them in the same call.',
    'invoices:read': 'See invoices, their PDFs and their history.',
    'invoices:write': 'Change, send, void and delete invoices, and issue credit notes.',
    'payments:write': 'Record payments and confirm what clients claim to have paid.',
  },
  presets: {
    invoicing: {
      description: 'Invoices, payments and the seller profile, and nothing else.',
      scopes: ['create.invoice', 'invoices:read', 'invoices:write', 'payments:write', 'account:profile'],
    },
  },
  quotas: {
    sends_per_day: {
      description: 'Sends of invoices on this day (UTC); test sends do not count.',
      byPlan: { free: 20, pro: 200, team: 1000 },
      daily: true,
    },
  },
} as const satisfies KindCatalogue
