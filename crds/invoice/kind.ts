/** How the Invoice is named and shown, and the rules that see its status beside its spec. */
import { type AdmissionPolicy, AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { TIMING } from './order/timing.ts'
import type { ShownInvoice } from './rest/shown.ts'
import { DEFAULT_ISSUER, INVOICE_KIND, type InvoiceSpec, type InvoiceStatus, spec, status } from './schema.ts'

const numbered = 'has(oldSelf.status) && has(oldSelf.status.number)'
/** What is asked is what the status says of what is on record. */
const isAs = (field: string, asked: string) => `(has(oldSelf.status.${field}) && ${asked} == oldSelf.status.${field})`
const issuerOf = (self: string) => `(has(${self}.spec.issuerId) ? ${self}.spec.issuerId : '${DEFAULT_ISSUER}')`

/** By the status that only the operator writes: nothing is left to pay. */
const PAID =
  '(oldObject.status.paidCents + (has(oldObject.status.creditedCents) ? oldObject.status.creditedCents : 0)) >= oldObject.status.totalCents'
const moved = (field: string) => `has(oldObject.status.${field}) && oldObject.status.${field} > 0`

const isSame = (field: string) =>
  `(has(object.spec.${field}) ? has(oldObject.spec.${field}) && object.spec.${field} == oldObject.spec.${field} : !has(oldObject.spec.${field}))`
/** Nothing but `void` differs, and what does not stand on the document. */
const MAY_DIFFER: readonly string[] = ['void', 'linkVersions', ...TIMING]
const sameBut = (fields: readonly string[]): string =>
  Object.keys(spec.properties)
    .filter((field) => !fields.includes(field))
    .map(isSame)
    .join(' && ')
const SAME_ORDER = sameBut(MAY_DIFFER)

/** A paid invoice is a record (LOCKED_PAID, LOCKED_PARTIAL: rules/invoice.md#locked), which may still be voided. */
const lockedPolicy: AdmissionPolicy = {
  name: 'invoice-locked',
  resources: ['invoices'],
  matchConditions: [
    // of two that deny, the API server names either; REST says LOCKED_VOID
    { name: 'not-voided', expression: '!(has(oldObject.spec.void) && oldObject.spec.void)' },
    {
      name: 'money-came-in',
      expression: `has(oldObject.status) && has(oldObject.status.totalCents) && has(oldObject.status.paidCents) && (${moved('paidCents')} || ${moved('creditedCents')})`,
    },
  ],
  validations: [
    {
      expression: SAME_ORDER,
      messageExpression: `(${PAID} ? 'LOCKED_PAID: a paid' : 'LOCKED_PARTIAL: a partly paid or credited') + ' invoice is a record; correct it by a credit note'`,
      message: 'LOCKED_PAID: a paid invoice is a record; correct it by a credit note',
      reason: 'Invalid',
    },
  ],
}

/** Voided for ever, as it was (LOCKED_VOID: rules/invoice.md#locked); who may look at it can still be ended. */
const voidedPolicy: AdmissionPolicy = {
  name: 'invoice-voided',
  resources: ['invoices'],
  matchConditions: [{ name: 'was-voided', expression: 'has(oldObject.spec.void) && oldObject.spec.void' }],
  validations: [
    {
      expression: sameBut(['linkVersions']),
      message: 'LOCKED_VOID: a voided invoice is a record; create another invoice',
      reason: 'Invalid',
    },
  ],
}

export const INVOICE: Kind<InvoiceSpec, InvoiceStatus, ShownInvoice> = {
  kind: INVOICE_KIND,
  plural: 'invoices',
  singular: 'invoice',
  listKind: 'InvoiceList',
  shortNames: ['inv'],
  description: 'An invoice: numbered without gaps, frozen, delivered and followed until it is paid.',
  spec,
  status,
  writers: 'edit',
  apiVerbs: ['create', 'patch', 'delete'],
  // an invoice is repeated, and a test goes after its time
  controllerVerbs: ['create', 'delete'],
  policies: [lockedPolicy, voidedPolicy],
  columns: [
    { name: 'Number', type: 'string', path: '.status.number', description: 'Number in the register.' },
    {
      name: 'Status',
      type: 'string',
      path: '.status.phase',
      description: 'draft, sent, partial, paid, overdue or voided.',
    },
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
    // what was written beside the taking of the number can be put back to what the status says
    {
      rule: `!(${numbered}) || ${issuerOf('self')} == ${issuerOf('oldSelf')} || ${isAs('issuerId', issuerOf('self'))}`,
      message: 'LOCKED_NUMBERED: issuerId is fixed with the number; void it and create another invoice',
      fieldPath: '.spec.issuerId',
    },
    {
      rule: `!(${numbered}) || self.spec.currency == oldSelf.spec.currency || ${isAs('currency', 'self.spec.currency')}`,
      message: 'LOCKED_NUMBERED: currency is fixed with the number; void it and create another invoice',
      fieldPath: '.spec.currency',
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
      rule: '!(has(oldSelf.spec.void) && oldSelf.spec.void) || (has(self.spec.void) && self.spec.void)',
      message: 'LOCKED_VOID: void cannot be taken back',
      fieldPath: '.spec.void',
    },
    {
      rule: '!has(self.spec.paid) || self.spec.send',
      message: 'PAID_REQUIRES_SEND: paid needs send: true',
      fieldPath: '.spec.paid',
    },
  ],
}
