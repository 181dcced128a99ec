/** The frame of pages and the form kit, read as markup: what is said about a field is tied to it. */
import { button, choice, form, inputField, notice, selectField, textField } from '../../../api/page/form.ts'
import { type PageParts, page } from '../../../api/page/page.ts'
import { makeSheet } from '../../../api/page/sheet.ts'
import { html, textOf } from '../../../crds/text/html.ts'
import { hashOf } from '../../../crds/text/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const sheet = makeSheet('/assets', 'one', '.x { color: var(--ink); }')
const framed = (more: Partial<PageParts> = {}) =>
  page({ title: 'A <title>', sheet, layout: 'narrow', main: html`<h1>Hello</h1>`, ...more })

const EMAIL = { id: 'email', label: 'Address', type: 'email', autocomplete: 'email' } as const

/** The ids that an element says describe it, and whether each is there. */
const describers = (markup: string): [string, boolean][] =>
  (/aria-describedby="([^"]*)"/.exec(markup)?.[1] ?? '').split(' ').map((id) => [id, markup.includes(` id="${id}"`)])

spec('the frame of pages', (t) => {
  t('says its language, fits a phone, is found by nobody, and takes the colours of its reader', () => {
    const text = framed({ lang: 'es' })
    assert.match(text, /^<!doctype html>\n<html lang="es">/)
    for (const meta of ['width=device-width, initial-scale=1', 'noindex, nofollow', 'light dark'])
      assert.ok(text.includes(`content="${meta}"`), meta)
    assert.ok(text.includes('<title>A &lt;title&gt;</title>'))
    assert.match(framed(), /<html lang="en">/)
    assert.not.match(framed({ isIndexed: true }), /noindex/)
  })

  t('has one main part, between what is given above and below it', () => {
    const text = framed({ header: html`<nav>a</nav>`, footer: html`<footer>b</footer>` })
    assert.match(text, /<nav>a<\/nav>\s*<main class="narrow">\s*<h1>Hello<\/h1>\s*<\/main>\s*<footer>b<\/footer>/)
  })

  t('links its sheet by a name that changes with it, or holds it so that its hash allows it', () => {
    assert.ok(framed().includes(`<link rel="stylesheet" href="${sheet.path}">`))
    assert.not.equal(makeSheet('/assets', 'one').path, sheet.path)
    const [, held = ''] = /<style>([\s\S]*)<\/style>/.exec(framed({ holdsSheet: true })) ?? []
    assert.is(hashOf(held), hashOf(sheet.css))
  })

  t('holds a script so that its hash allows it, and none that looks like a tag', () => {
    const script = { text: 'go(1);\n', path: '/i/x/viewed' }
    const [, path, held = ''] = /<script data-path="([^"]*)">([\s\S]*)<\/script>/.exec(framed({ script })) ?? []
    assert.equal([path, hashOf(held)], [script.path, hashOf(script.text)])
    assert.throws(() => framed({ script: { ...script, text: '</script><script>' } }))
    assert.not.match(framed(), /<script/)
  })
})

spec('the form kit', (t) => {
  t('gives each field a label of its own, and says what the browser may fill in', () => {
    const text = textOf(inputField({ ...EMAIL, maxLength: 9, isVerbatim: true, value: '"x"' }))
    assert.match(text, /<label for="email">Address<\/label>/)
    assert.match(text, /<input id="email" name="email" type="email" required autocomplete="email"/)
    assert.match(text, /autocapitalize="none" spellcheck="false" maxlength="9" value="&quot;x&quot;"/)
    assert.not.match(text, /aria-|autofocus|role=/)
    assert.not.match(textOf(inputField({ ...EMAIL, isOptional: true })), / required/)
  })

  t('ties hint, fault and lead to the field, which is marked and has the focus', () => {
    const text = textOf(html`<p id="lead">x</p>${inputField({ ...EMAIL, hint: 'h', fault: 'f', about: 'lead' })}`)
    assert.equal(describers(text), [
      ['lead', true],
      ['email-hint', true],
      ['email-fault', true],
    ])
    assert.match(text, /id="email-fault" role="alert">f</)
    assert.match(text, /aria-invalid="true" autofocus/)
  })

  t('does the same for many lines and for one of a few', () => {
    const many = textOf(textField({ id: 'note', label: 'Note', hint: 'h', maxLength: 5 }))
    const few = textOf(selectField({ id: 'days', label: 'Days', fault: 'f', options: [['1', 'One']], chosen: '1' }))
    assert.match(many, /<label for="note">/)
    assert.equal([describers(many), describers(few)], [[['note-hint', true]], [['days-fault', true]]])
    assert.match(few, /<option value="1" selected>One</)
    const tick = { id: 'a', name: 'b', value: 'c', label: 'L', hint: 'h', isChosen: true } as const
    assert.equal(describers(textOf(choice({ type: 'checkbox', ...tick }))), [['a-hint', true]])
  })

  t('says what a button is for to whoever does not see where it stands', () => {
    assert.is(
      textOf(button({ words: 'Revoke', about: 'Shop', tone: 'danger' })),
      '<button class="danger" type="submit">Revoke<span class="visually-hidden"> Shop</span></button>',
    )
  })

  t('posts home, and guards its forms where a token is given', () => {
    const text = textOf(form({ action: 'https://x.test\n', formToken: 'guard' }, button({ words: 'Go' })))
    assert.match(text, /<form method="post" action="#">\s*<input type="hidden" name="form_token" value="guard">/)
    assert.match(textOf(form({}, [])), /^<form method="post">/)
  })

  t('speaks of a fault at once, and of all else when there is a pause', () => {
    assert.match(textOf(notice('fault', 'x')), /role="alert" tabindex="-1" autofocus/)
    assert.match(textOf(notice('good', 'x')), /role="status"/)
  })
})
