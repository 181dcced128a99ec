import { invoiceMail } from '../../../crds/invoice/mail/invoice.ts'
import { ownerMail } from '../../../crds/invoice/mail/owner.ts'
import { statusMail } from '../../../crds/invoice/mail/status.ts'
import { type Frozen, LANGS } from '../../../crds/invoice/order/frozen.ts'
import { frozenInvoice, frozenWith, HOSTILE, paidInFull } from '../../support/builders/frozen.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const URL = 'https://pay.example.test/i/abcdefghijklmnopqrstuv'
const PASSWORD = 'k7m2x9qrw4tz'

const mail = (frozen = frozenInvoice(), changes: Partial<Parameters<typeof invoiceMail>[0]> = {}) =>
  invoiceMail({ frozen, url: URL, password: PASSWORD, locked: false, purpose: 'invoice', ...changes })

const status = (purpose: 'voided' | 'credited', frozen = frozenInvoice()) =>
  statusMail({ frozen, url: URL, password: PASSWORD, locked: false, purpose })
const creditNote = (changes: Partial<Frozen> = {}): Frozen =>
  frozenInvoice({
    kind: 'credit_note',
    number: 'CNINV-026-0001',
    dueDate: null,
    credits: { number: 'INV-026-0001', issuedOn: '2026-11-21', reason: '' },
    ...changes,
  })

const linksIn = (text: string): Set<string> => new Set(text.match(/https?:\/\/[^\s"<]+/g))

spec('the mail of an invoice', (t) => {
  t('has number, seller, amount and due date in its subject', () => {
    assert.is(mail().subject, 'Invoice INV-026-0001 from Demo Studio SL: 1,440.00 EUR due 20 December 2026')
    assert.is(mail(frozenInvoice({ dueDate: null })).subject, 'Invoice INV-026-0001 from Demo Studio SL: 1,440.00 EUR')
  })

  t('goes back to the issuer when answered', () => {
    assert.equal(mail().replyTo, { name: 'Demo Studio SL', address: 'owner@demo.test' })
    assert.ok(mail().text.includes('Reply to this email to reach Demo Studio SL.'))
  })

  t('has no address for replies when the issuer gave none that can be used', () => {
    for (const email of ['', 'owner', 'a@b.test, evil@evil.test', 'a@b.test\r\nBcc: evil@evil.test', '<a@b.test>']) {
      const made = mail(frozenInvoice({ seller: { ...frozenInvoice().seller, email } }))
      assert.is(made.replyTo, undefined, email)
      assert.not.ok(made.text.includes('Reply to'), email)
    }
  })

  for (const lang of LANGS) {
    for (const purpose of ['invoice', 'receipt'] as const) {
      t(`says the same in text and HTML, with the same link: ${purpose}, ${lang}`, () => {
        const made = mail(frozenInvoice({ lang, paid: purpose === 'receipt' ? paidInFull : null }), { purpose })
        assert.equal(linksIn(made.text), new Set([URL]))
        assert.equal(linksIn(made.html), new Set([URL]))
        for (const said of ['INV-026-0001', '1,440.00 EUR', PASSWORD, 'Demo Studio SL']) {
          assert.ok(made.text.includes(said), said)
          assert.ok(made.html.includes(said), said)
        }
        assert.ok(made.html.includes(`<html lang="${lang}" dir="ltr">`))
        assert.not.match(made.subject + made.text + made.html, /\{\w+\}|undefined|null/)
      })
    }
  }

  t('shows its lead first, hidden, for the list of mails', () => {
    assert.match(
      mail().html,
      /<body[^>]*>\s*<div style="display:none[^"]*">Demo Studio SL has sent you invoice INV-026-0001/,
    )
  })

  t('shows a password only when there is one, and sends an account to sign in', () => {
    assert.ok(mail().text.includes(PASSWORD))
    const account = mail(frozenInvoice(), { password: null, locked: true })
    assert.not.match(account.text + account.html, /password/i)
    assert.ok(account.text.includes('sign in with the account of this email address'))
    assert.not.match(mail(frozenInvoice(), { password: null }).text, /password|sign in/i)
  })

  t('is a receipt with what was paid, and what is left', () => {
    const full = mail(frozenInvoice({ paid: paidInFull }), { purpose: 'receipt' })
    assert.is(full.subject, 'Receipt for invoice INV-026-0001 from Demo Studio SL: 1,440.00 EUR paid')
    assert.not.ok(full.text.includes('balance'))
    const part = mail(frozenInvoice({ paid: { ...paidInFull, amountCents: 40_000 } }), { purpose: 'receipt' })
    assert.ok(part.text.includes('has received 400.00 EUR'))
    assert.ok(part.text.includes('The balance still due is 1,040.00 EUR.') && part.html.includes('1,040.00 EUR'))
  })

  t('links nothing but web addresses', () => {
    assert.not.match(mail(frozenInvoice(), { url: 'javascript:alert(1)' }).html, /javascript/)
  })

  const shapeOf = (text: string): string[] =>
    [...text.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""'))
  for (const [name, text] of Object.entries(HOSTILE)) {
    t(`keeps its subject one line and its HTML whole, whatever the texts hold: ${name}`, () => {
      const made = mail(frozenWith(text))
      assert.not.match(made.subject, /[\p{Cc}\u2028\u2029]/u)
      assert.ok([...made.subject].length <= 180)
      assert.equal(shapeOf(made.html), shapeOf(mail(frozenWith('plain')).html))
      assert.is(made.replyTo, undefined)
      assert.not.match(made.text, /^Bcc:/m)
    })
  }
})

spec('the mail of what became of an invoice', (t) => {
  for (const lang of LANGS) {
    t(`says that it was voided, and that some was credited, the same in text and HTML: ${lang}`, () => {
      const voided = status('voided', frozenInvoice({ lang, voidedOn: '2026-11-22' }))
      const credited = status('credited', creditNote({ lang }))
      for (const made of [voided, credited]) {
        assert.equal([linksIn(made.text), linksIn(made.html)], [new Set([URL]), new Set([URL])])
        for (const said of ['INV-026-0001', '1,440.00 EUR', PASSWORD, 'Demo Studio SL']) {
          assert.ok(made.text.includes(said) && made.html.includes(said), said)
        }
        assert.ok(made.html.includes(`<html lang="${lang}" dir="ltr">`))
        assert.not.match(made.subject + made.text + made.html, /\{\w+\}|undefined|null/)
      }
      assert.ok(credited.subject.includes('CNINV-026-0001'))
    })
  }

  t('names the money that had come in when it was voided', () => {
    const voided = (paid: Frozen['paid']) => status('voided', frozenInvoice({ voidedOn: '2026-11-22', paid })).text
    assert.ok(voided({ ...paidInFull, amountCents: 44_000 }).includes('440.00 EUR of it had been paid'))
    assert.not.ok(voided(null).includes('had been paid'))
  })
})

spec('the mail to the owner', (t) => {
  const about = { to: 'owner@demo.test', number: 'INV-026-0001', client: 'billing@acme.test', url: URL }
  t('tells of a claim with its reference, and of a mail that failed with its reason', () => {
    const claimed = ownerMail({ mail: 'claimed', ...about, amount: '1.00 EUR', paidOn: '2026-11-20', reference: 'S-7' })
    assert.is(claimed.subject, 'INV-026-0001: its client says that 1.00 EUR was paid')
    const failed = ownerMail({ mail: 'undelivered', ...about, why: '550 no such user' })
    assert.is(failed.subject, 'INV-026-0001 did not reach its client')
    for (const [made, said] of [
      [claimed, 'S-7'],
      [failed, '550 no such user'],
    ] as const) {
      assert.ok(made.text.includes(said) && made.html.includes(said))
      assert.equal([linksIn(made.text), linksIn(made.html)], [new Set([URL]), new Set([URL])])
    }
  })

  for (const [name, text] of Object.entries(HOSTILE)) {
    t(`keeps its subject one line and its HTML whole, whatever a client wrote: ${name}`, () => {
      const shape = (reference: string) =>
        ownerMail({ mail: 'claimed', ...about, client: reference, amount: '1.00 EUR', paidOn: '2026-11-20', reference })
          .html.match(/<[^>]*>/g)
          ?.filter((tag) => !/^<\/?p\b/.test(tag))
          .map((tag) => tag.replace(/"[^"]*"/g, '""'))
      assert.equal(shape(text), shape('plain'))
    })
  }
})
