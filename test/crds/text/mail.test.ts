/** The frame of every mail: its two parts say the same, and mail programs that drop half of it still show it right. */
import { mailOf } from '../../../crds/text/mail.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { mailsAbout } from './mails.ts'

const url = 'https://pay.test/i/inv-1.abc'
const MAILS = mailsAbout('ACME', url)

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
