import { type GateFacts, gatePage, invoicePage, type PageFacts } from '../../../../api/invoice/page/render.ts'
import { PAGE_SHEET } from '../../../../api/invoice/page/style.ts'
import { WORDS } from '../../../../crds/invoice/document/words/words.ts'
import { LANGS } from '../../../../crds/invoice/order/frozen.ts'
import { html, safeUrl, textOf } from '../../../../crds/text/html.ts'
import { frozenInvoice, frozenWith, HOSTILE, paidInFull } from '../../../support/builders/frozen.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const at = { path: '/i/token', url: 'https://pay.test/i/token' }
const form = { path: '/i/token/claim', date: '2026-11-22', reference: '', amount: '1440.00' }
const page = (frozen = frozenInvoice(), changes: Partial<PageFacts> = {}) =>
  invoicePage({ frozen, status: 'sent', paidCents: 0, balanceCents: 144_000, claimForm: form, ...at, ...changes })
const gate = (changes: Partial<GateFacts> = {}) => gatePage({ lang: 'en', locked: false, path: '/i/token', ...changes })

/** The elements of a page with the names of their attributes: what a browser would build, without any text. */
const shapeOf = (text: string): string[] =>
  [...text.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""').replace(/\s+/g, ' '))

const textIn = (text: string): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '&')

spec('the html template', (t) => {
  t('escapes text for content and for quoted attributes', () => {
    assert.is(textOf(html`<a title="${`"'<>&`}">${'<b>'}</a>`), '<a title="&quot;&#39;&lt;&gt;&amp;">&lt;b&gt;</a>')
  })

  t('takes pieces and lists of pieces as they are, and nothing for null and false', () => {
    assert.is(textOf(html`${[html`<i>${1}</i>`, html`<b></b>`]}${null}${false}`), '<i>1</i><b></b>')
  })

  t('does not take an object that looks like a piece', () => {
    const forged = { markup: '<script>', toString: () => '<script>' } as unknown as string
    assert.throws(() => textOf(html`${forged}`))
  })

  t('shows controls and marks that turn the direction of text', () => {
    assert.is(textOf(html`${'a\u0000b\u001bc\u202ed\u2066e\ud800'}`), 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffd')
  })

  const urls: [string, string][] = [
    ['https://pay.test/i/x?y=1', 'https://pay.test/i/x?y=1'],
    ['/i/token/pdf', '/i/token/pdf'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
    ['javascript:alert(1)', '#'],
    ['data:text/html,x', '#'],
    ['//evil.test/x', '#'],
    ['/\\evil.test', '#'],
    [' https://x.test', '#'],
    ['https://x.test/\n', '#'],
  ]
  for (const [url, safe] of urls) t(`links ${JSON.stringify(url)} as ${safe}`, () => assert.is(safeUrl(url), safe))
})

spec('the gate', (t) => {
  t('is a plain form with one field of type password that posts to its own address', () => {
    const text = gate()
    assert.match(text, /<form method="post" action="\/i\/token\?lang=en">/)
    assert.match(text, /<label for="password">Password<\/label>/)
    assert.match(text, /<input id="password" name="password" type="password" required/)
    assert.is(shapeOf(text).filter((tag) => tag.startsWith('<input')).length, 1)
    assert.not.match(text, /role="alert"/)
  })

  t('says so when a password was wrong, and when there were too many', () => {
    assert.match(gate({ wrong: true }), /role="alert">This password is not right/)
    assert.match(gate({ lang: 'es', tooMany: true }), /role="alert">Demasiadas/)
  })

  t('asks for no password when the invoice is open to an account', () => {
    const text = gate({ locked: true })
    assert.not.match(text, /<form|<input/)
    assert.match(text, /Sign in with that account/)
  })
})

spec("the client's page", (t) => {
  t('needs no script, no style of its own and nothing from elsewhere', () => {
    for (const text of [page(), gate()]) {
      for (const tag of shapeOf(text)) assert.not.match(tag, /<(script|style|iframe|img|object|base)|\s(on\w+|style)=/i)
      const links = [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1])
      assert.ok(
        links.every((link) => link?.startsWith('/i/')),
        links.join(' '),
      )
      assert.match(text, /<meta name="robots" content="noindex, nofollow">/)
    }
    assert.not.match(PAGE_SHEET.css, /url\(|@import|expression/)
  })

  t('names its stylesheet by a hash of its content', () => {
    assert.match(PAGE_SHEET.path, /^\/i\/assets\/page-[0-9a-f]{16}\.css$/)
    assert.ok(page().includes(`<link rel="stylesheet" href="${PAGE_SHEET.path}">`))
  })

  t('is a table to a screen reader: caption, scoped heads, rows', () => {
    const text = page()
    assert.match(text, /<caption class="visually-hidden">Items<\/caption>/)
    assert.is(text.match(/<th role="columnheader" scope="col"/g)?.length, 5)
    assert.is(text.match(/<th role="rowheader" scope="row"/g)?.length, 1)
    assert.is(text.match(/<h1/g)?.length, 1)
  })

  for (const lang of LANGS) {
    t(`speaks ${lang} and says so`, () => {
      const text = page(frozenInvoice({ lang }))
      assert.ok(text.includes(`<html lang="${lang}">`))
      assert.ok(text.includes(WORDS[lang].downloadPdf))
      assert.ok(gate({ lang }).includes(WORDS[lang].gateLead))
    })
  }

  t('shows the money as it is now, not as it was when frozen', () => {
    const facts = { status: 'partial', paidCents: 44_000, balanceCents: 100_000, ...at } as const
    const partly = invoicePage({ frozen: frozenInvoice(), ...facts })
    assert.match(partly, /<dt>Balance due<\/dt><dd>1,000\.00 EUR</)
    assert.match(partly, /<dt>Amount due<\/dt><dd><bdi>1,000\.00 EUR</)
    const text = textIn(partly)
    for (const shown of ['Partly paid', '-440.00 EUR', '1,000.00 EUR', '1,440.00 EUR'])
      assert.ok(text.includes(shown), shown)
    const later = { ...facts, status: 'paid', paidCents: 144_000, balanceCents: 0 } as const
    const settled = textIn(
      invoicePage({ frozen: frozenInvoice({ paid: { ...paidInFull, amountCents: 44_000 } }), ...later }),
    )
    assert.ok(settled.includes('Paid in full') && settled.includes('0.00 EUR'))
    assert.not.ok(settled.includes('-440.00 EUR'))
  })

  t('marks a test, a paid one and an overdue one', () => {
    const facts = { paidCents: 0, balanceCents: 144_000, ...at }
    assert.match(invoicePage({ frozen: frozenInvoice({ test: true }), status: 'sent', ...facts }), /class="note test"/)
    assert.match(
      invoicePage({ frozen: frozenInvoice(), status: 'overdue', ...facts }),
      /class="status overdue">Overdue/,
    )
  })

  const plainShape = shapeOf(page(frozenWith('plain')))
  for (const [name, text] of Object.entries(HOSTILE).filter(
    ([name]) => !['empty', 'spaces', 'many lines', 'newlines'].includes(name),
  )) {
    t(`has the same elements whatever the texts hold: ${name}`, () => {
      assert.equal(shapeOf(page(frozenWith(text))), plainShape)
    })
  }
  for (const name of ['empty', 'spaces', 'many lines', 'newlines']) {
    t(`stands with texts of ${name}`, () => {
      for (const tag of shapeOf(page(frozenWith(HOSTILE[name] ?? '')))) assert.not.match(tag, /script|onerror/)
    })
  }
})

// ---- contrast (WCAG 2.2, 1.4.3)

const colours = (block: string): Record<string, string> =>
  Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((match) => [match[1] ?? '', match[2] ?? '']),
  )

const luminance = (colour: string): number => {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

spec('the colours of the page', (t) => {
  const [light = '', dark = ''] = [...PAGE_SHEET.css.matchAll(/:root \{([^}]*)\}/g)].map((match) => match[1] ?? '')
  const pairs: [string, string, number][] = [
    ['ink', 'paper', 7],
    ['muted', 'paper', 4.5],
    ['ink', 'ground', 4.5],
    ['muted', 'ground', 4.5],
    ['good', 'paper', 4.5],
    ['bad', 'paper', 4.5],
    ['on-accent', 'accent', 4.5],
    ['note', 'note-ground', 4.5],
    ['edge', 'paper', 3],
    ['accent', 'paper', 4.5],
    ['accent', 'ground', 4.5],
    ['good', 'ground', 4.5],
    ['bad', 'ground', 4.5],
  ]
  for (const [scheme, block] of Object.entries({ light, dark })) {
    for (const [front, back, least] of pairs) {
      t(`have enough contrast in ${scheme}: ${front} on ${back}`, () => {
        const set = colours(block)
        const ratio = contrast(set[front] ?? '', set[back] ?? '')
        assert.ok(ratio >= least, `${ratio.toFixed(2)} is less than ${least}`)
      })
    }
  }
})
