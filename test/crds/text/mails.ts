/** One mail of every purpose, as they are written. */
import { signinMail } from '../../../crds/account/mail.ts'
import { budgetMail } from '../../../crds/devinstance/costs/mail.ts'
import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import { ownerMail } from '../../../crds/invoice/mail/owner.ts'
import { reminderMail } from '../../../crds/invoice/mail/reminder.ts'
import { statusMail } from '../../../crds/invoice/mail/status.ts'
import { nameMail } from '../../../crds/site/names/mail.ts'
import { messageMail } from '../../../crds/site/publishing/messages/message.ts'
import type { MailParts } from '../../../crds/text/mail.ts'
import { webhookMail } from '../../../crds/webhook/mail.ts'
import { frozenInvoice, paidInFull } from '../../support/builders/frozen.ts'

/** @param words stand wherever somebody writes something, and `url` wherever there is a link */
export const mailsAbout = (words: string, url: string): Record<string, MailParts> => {
  const { seller, ...rest } = frozenInvoice()
  const frozen = {
    ...rest,
    seller: { ...seller, legalName: words },
    client: { name: words, email: 'billing@acme.test' },
  }
  const client = { frozen, url, password: 'k7m2x9qrw4tz', locked: false }
  const owner = { to: 'owner@demo.test', number: 'INV-026-0001', client: words, url }
  const endpoint = { to: 'owner@demo.test', endpoint: `https://shop.test/${words}`, url, why: words }
  const records = [{ type: 'TXT' as const, name: `_bottega-challenge.${words}`, value: words }]
  const domain = {
    to: 'owner@demo.test',
    domain: words,
    site: 'site-one',
    records,
    by: '2026-12-20T00:00:00.000Z',
    url,
  }
  return {
    invoice: invoiceMail({ ...client, purpose: 'invoice' }),
    receipt: invoiceMail({ ...client, frozen: { ...frozen, paid: paidInFull }, purpose: 'receipt' }),
    reminder: reminderMail({ frozen, url, gate: 'password', tone: 'after', dueDate: '2026-12-20', balanceCents: 100 }),
    voided: statusMail({ ...client, purpose: 'voided' }),
    credited: statusMail({ ...client, purpose: 'credited' }),
    'sign-in': signinMail({ url, minutes: 15 }),
    claimed: ownerMail({ ...owner, mail: 'claimed', amount: '1.00 EUR', paidOn: '2026-11-20', reference: words }),
    undelivered: ownerMail({ ...owner, mail: 'undelivered', why: words }),
    'devbox-budget': budgetMail({
      ...{ mail: 'devbox-budget', to: 'owner@demo.test', month: words, threshold: 80, url },
      ...{ spentUsd: 80, forecastUsd: 120.5, capUsd: 100 },
    }),
    'webhook-dead': webhookMail({ ...endpoint, mail: 'webhook-dead', count: 2 }),
    'webhook-disabled': webhookMail({ ...endpoint, mail: 'webhook-disabled' }),
    message: messageMail(
      { mail: 'site-message', message: 'msg-1', to: 'owner@demo.test', site: words, url },
      {
        name: words,
        email: 'ana@visitor.test',
        phone: '+34 600 000 000',
        message: `${words}\n\n${words}`,
        page: 'index.html',
        lang: 'en',
      },
    ),
    'domain-missing': nameMail({ ...domain, mail: 'domain-missing' }),
    'domain-lapsed': nameMail({ ...domain, mail: 'domain-lapsed' }),
    'base-missing': nameMail({ ...domain, site: '', mail: 'base-missing' }),
    'base-lapsed': nameMail({ ...domain, site: '', mail: 'base-lapsed' }),
  }
}
