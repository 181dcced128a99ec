/** How the Invoice is named and shown, and the rules that see its status beside its spec. */
import { type AdmissionPolicy, AGE, type Kind, READY, REASON } from '../kind.ts'
import { DEFAULT_ISSUER, type InvoiceSpec, type InvoiceStatus, spec, status } from './schema.ts'

const numbered = 'has(oldSelf.status) && has(oldSelf.status.number)'
const issuerOf = (self: string) => `(has(${self}.spec.issuerId) ? ${self}.spec.issuerId : '${DEFAULT_ISSUER}')`

/** Money that came in, by the status that only the operator writes. */
const PAID = 'oldObject.status.paidCents >= oldObject.status.totalCents'

/** A paid invoice is a record (spec/1: LOCKED_PAID, LOCKED_PARTIAL). */
const lockedPolicy: AdmissionPolicy = {
  name: 'invoice-locked',
  resources: ['invoices'],
  matchConditions: [
    {
      name: 'money-came-in',
      expression:
        'has(oldObject.status) && has(oldObject.status.paidCents) && oldObject.status.paidCents > 0 && has(oldObject.status.totalCents)',
    },
  ],
  validations: [
    {
      expression: 'object.spec == oldObject.spec',
      messageExpression: `(${PAID} ? 'LOCKED_PAID: a paid' : 'LOCKED_PARTIAL: a partly paid') + ' invoice is a record; correct it by a credit note'`,
      message: 'LOCKED_PAID: a paid invoice is a record; correct it by a credit note',
      reason: 'Invalid',
    },
  ],
}

export const INVOICE: Kind<InvoiceSpec, InvoiceStatus> = {
  kind: 'Invoice',
  plural: 'invoices',
  singular: 'invoice',
  listKind: 'InvoiceList',
  shortNames: ['inv'],
  description: 'An invoice: numbered without gaps, frozen, delivered and followed until it is paid.',
  spec,
  status,
  writers: 'edit',
  apiVerbs: ['create', 'patch', 'delete'],
  policies: [lockedPolicy],
  columns: [
    { name: 'Number', type: 'string', path: '.status.number', description: 'Number in the register.' },
    { name: 'Status', type: 'string', path: '.status.phase', description: 'draft, sent, partial, paid or overdue.' },
    { name: 'Total', type: 'string', path: '.status.total', description: 'Total with its currency.' },
    // a string, because a date column shows instants to come as <invalid>
    { name: 'Due', type: 'string', path: '.spec.dueDate', description: 'Due date.' },
    READY,
    AGE,
    { name: 'Client', type: 'string', path: '.spec.clientName', description: 'Name of the recipient.', wide: true },
    REASON,
  ],
  selectable: [
    '.spec.account',
    '.spec.clientEmail',
    '.spec.externalRef',
    '.spec.issuerId',
    '.status.number',
    '.status.phase',
  ],
  rules: [
    {
      rule: `!(${numbered}) || ${issuerOf('self')} == ${issuerOf('oldSelf')}`,
      message: 'INVALID_FIELD: issuerId is fixed once the invoice has a number',
      fieldPath: '.spec.issuerId',
    },
    {
      rule: `!(${numbered}) || !oldSelf.spec.send || self.spec.send`,
      message: 'INVALID_FIELD: send cannot be taken back once the invoice has a number',
      fieldPath: '.spec.send',
    },
    {
      rule: `!(${numbered}) || (has(self.spec.paid) ? has(oldSelf.spec.paid) && self.spec.paid == oldSelf.spec.paid : !has(oldSelf.spec.paid))`,
      message: 'INVALID_FIELD: paid is fixed once the invoice has a number; record a payment instead',
      fieldPath: '.spec.paid',
    },
    {
      rule: '!has(self.spec.paid) || self.spec.send',
      message: 'PAID_REQUIRES_SEND: paid needs send: true',
      fieldPath: '.spec.paid',
    },
  ],
}
