import { type WebhookNotice, webhookMail } from '../../../crds/webhook/mail.ts'
import { HOSTILE } from '../../support/builders/frozen.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const PAGE = 'https://pay.example.test/account/webhooks'
const about = { to: 'owner@demo.test', endpoint: 'https://shop.test/hooks/in', url: PAGE, why: 'HTTP_503' }
const dead = (changes: Partial<WebhookNotice> = {}) =>
  webhookMail({ mail: 'webhook-dead', ...about, ...changes } as WebhookNotice)
const disabled = (changes: Partial<WebhookNotice> = {}) =>
  webhookMail({ mail: 'webhook-disabled', ...about, why: 'it answered 410 Gone', ...changes } as WebhookNotice)
const MAILS = { 'webhook-dead': dead, 'webhook-disabled': disabled }

const unescaped = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
const paragraphs = (html: string) => [...html.matchAll(/<p[^>]*>([^<]*)<\/p>/g)].map(([, text = '']) => unescaped(text))

spec('the mail about a webhook endpoint', (t) => {
  t('names the endpoint, how many were given up, the last error, and how to send again', () => {
    const one = dead()
    assert.is(one.subject, 'An event could not be delivered to shop.test')
    for (const said of ['https://shop.test/hooks/in', 'HTTP_503', '/redeliver', '/api/events?after=', PAGE]) {
      assert.ok(one.text.includes(said), said)
    }
    const many = webhookMail({ mail: 'webhook-dead', ...about, count: 12 })
    assert.is(many.subject, '12 events could not be delivered to shop.test')
    assert.ok(many.text.includes('they are not tried again'))
  })

  t('says why it was switched off, and how to switch it on again', () => {
    const { subject, text } = disabled()
    assert.is(subject, 'The webhook endpoint at shop.test was switched off')
    for (const said of [
      'https://shop.test/hooks/in',
      'it answered 410 Gone',
      '{"status": "enabled"}',
      '/redeliver',
      PAGE,
    ]) {
      assert.ok(text.includes(said), said)
    }
    assert.ok(disabled({ why: '' }).text.includes('it answered 410 Gone'))
  })

  for (const [name, mail] of Object.entries(MAILS)) {
    t(`says the same in text and in HTML: ${name}`, () => {
      const { text, html } = mail()
      assert.is(`${paragraphs(html).join('\n\n')}`, text.split('\n\nYour webhooks')[0])
      assert.equal(
        [...html.matchAll(/href="([^"]*)"/g)].map(([, to]) => to),
        [PAGE, PAGE],
      )
      assert.not.match(text + html, /undefined|null|\$\{/)
    })

    t(`keeps to itself what stands in the query of the endpoint: ${name}`, () => {
      const { subject, text, html } = mail({ endpoint: 'https://shop.test/in?key=s3cr3t' })
      assert.not.ok((subject + text + html).includes('s3cr3t'))
      assert.ok(text.includes('https://shop.test/in?…'))
    })

    t(`links nothing but web addresses: ${name}`, () => {
      assert.not.match(mail({ url: 'javascript:alert(1)' }).html, /javascript/)
    })

    for (const [what, hostile] of Object.entries(HOSTILE)) {
      t(`keeps its subject one line and its HTML whole, whatever a receiver answered: ${name}, ${what}`, () => {
        const shape = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""'))
        const changes: Partial<WebhookNotice>[] = [
          { why: hostile },
          { endpoint: hostile },
          { endpoint: `https://x.test/${hostile}` },
        ]
        for (const change of changes) {
          const made = mail(change)
          const plain = change.why?.trim() === '' ? { why: '' } : {}
          assert.equal(shape(made.html), shape(mail(plain).html))
          assert.not.match(made.subject, /[\p{Cc}\u2028\u2029]/u)
          assert.not.match(made.text, /^Bcc:/m)
          assert.ok(made.text.length < 1_800 && [...made.subject].length < 260)
        }
      })
    }
  }
})
