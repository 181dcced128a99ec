/** The frame of every mail: its two parts say the same, and mail programs that drop half of it still show it right. */
import { signinMail } from '../../../crds/account/mail.ts'
import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import { ownerMail } from '../../../crds/invoice/mail/owner.ts'
import { reminderMail } from '../../../crds/invoice/mail/reminder.ts'
import { statusMail } from '../../../crds/invoice/mail/status.ts'
import { type MailParts, mailOf } from '../../../crds/text/mail.ts'
import { webhookMail } from '../../../crds/webhook/mail.ts'
import { frozenInvoice, paidInFull } from '../../support/builders/frozen.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const url = 'https://pay.test/i/inv-1.abc'
const frozen = frozenInvoice()
const client = { frozen, url, password: 'k7m2x9qrw4tz', locked: false }
const owner = { to: 'owner@demo.test', number: 'INV-026-0001', client: 'ACME', url }
const endpoint = { to: 'owner@demo.test', endpoint: 'https://shop.test/hooks', url, why: 'HTTP_500' }

const MAILS: Record<string, MailParts> = {
  invoice: invoiceMail({ ...client, purpose: 'invoice' }),
  receipt: invoiceMail({ ...client, frozen: { ...frozen, paid: paidInFull }, purpose: 'receipt' }),
  reminder: reminderMail({ frozen, url, gate: 'password', tone: 'after', dueDate: '2026-12-20', balanceCents: 100 }),
  voided: statusMail({ ...client, purpose: 'voided' }),
  credited: statusMail({ ...client, purpose: 'credited' }),
  'sign-in': signinMail({ url, minutes: 15 }),
  claimed: ownerMail({ ...owner, mail: 'claimed', amount: '1.00 EUR', paidOn: '2026-11-20', reference: 'S-7' }),
  undelivered: ownerMail({ ...owner, mail: 'undelivered', why: '550 no such user' }),
  'webhook-dead': webhookMail({ ...endpoint, mail: 'webhook-dead', count: 2 }),
  'webhook-disabled': webhookMail({ ...endpoint, mail: 'webhook-disabled' }),
}

/** What is read, without the markup. */
const wordsOf = (markup: string): string =>
  markup
    .replace(/<head>[\s\S]*<\/head>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')

spec('the frame of mails', (t) => {
  for (const [name, mail] of Object.entries(MAILS)) {
    t(`holds every line of the text part in the HTML part: ${name}`, () => {
      for (const line of mail.text.split('\n').filter((one) => one.trim() !== '')) {
        assert.ok(wordsOf(mail.html).includes(line.trim().replace(/:$/, '')), line)
      }
    })
    t(`names the language and the direction where programs that drop html and body keep them: ${name}`, () => {
      assert.match(mail.html, /^<!doctype html>\n<html lang="en" dir="ltr">/)
      assert.match(mail.html, /<table role="presentation" lang="en" dir="ltr"/)
    })
    t(`begins with the first words for the list of mails, and hides them: ${name}`, () => {
      const [, hidden = ''] = /<body[^>]*>\s*<div style="display:none[^"]*">([^<]*)<\/div>/.exec(mail.html) ?? []
      assert.ok(hidden.length > 20 && mail.text.includes(hidden.slice(0, 20)), hidden)
    })
    t(`needs nothing from anywhere, and leads to one place: ${name}`, () => {
      assert.not.match(mail.html, /<(script|img|style|link|form)\b|url\(/)
      assert.equal(new Set([...mail.html.matchAll(/href="([^"]*)"/g)].map((match) => match[1])), new Set([url]))
    })
  }

  t('keeps a secret out of the HTML when there is none, and in both parts when there is', () => {
    const letter = { lang: 'en', subject: 's', greeting: 'Hello,', lead: ['a'] }
    const link = { url, words: 'Open', label: null }
    const open = mailOf({ ...letter, link, gate: { words: 'Sign in.', secret: null } })
    assert.is(open.text, `Hello,\n\na\n\n${url}\n\nSign in.\n`)
    assert.not.match(open.html, /monospace/)
    const closed = mailOf({ ...letter, link, gate: { words: 'It asks for:', secret: 'k7m2' }, footer: ['Small.'] })
    assert.is(closed.text, `Hello,\n\na\n\n${url}\n\nIt asks for:\n    k7m2\n\nSmall.\n`)
    assert.match(closed.html, /monospace[^>]*>k7m2</)
  })
})
