/** The platform's pages about a contact form: what is wrong with what was written, and what became of it. In the site's language. */
import type { SiteLang } from '../../../../crds/site/content/content.ts'
import { FORM_WORDS, type FormWords } from '../../../../crds/site/publishing/messages/words.ts'
import {
  PAGE_FIELD,
  STAMP_FIELD,
  TRAP_FIELD,
  WRITTEN_MAX,
  type WrittenField,
  type WrittenWords,
} from '../../../../crds/site/publishing/messages/written.ts'
import { type Html, html } from '../../../../crds/text/html.ts'
import { policyOf, SELF } from '../../../../crds/text/policy.ts'
import { makePageAnswer } from '../../../page/answer.ts'
import { button, buttonLink, form, hiddenField, inputField, notice, textField } from '../../../page/form.ts'
import { page } from '../../../page/page.ts'
import { makeSheet } from '../../../page/sheet.ts'

export const FORM_SHEET = makeSheet('/s/assets', 'form', '.trap { display: none; }\ntextarea { min-height: 9rem; }')

/** The origin stays in what the page posts, for it tells who asks; nothing leaves the host. */
export const formAnswer = makePageAnswer({
  policy: policyOf({ styles: [SELF], forms: [SELF] }),
  referrer: 'same-origin',
})

/** `back`: the page of the site that the visitor came from; null where there is none to go back to. */
export type About = { lang: SiteLang; company: string; back: string | null }

export type ShownForm = About & {
  /** Where it is posted to. */
  action: string
  page: string
  stamp: string
  written: WrittenWords
  faults: readonly WrittenField[]
  say: { tone: 'note' | 'fault'; words: string } | null
}

const backLink = ({ lang, company, back }: About): Html | null =>
  back === null ? null : buttonLink(back, FORM_WORDS[lang].back(company), 'plain')

const fieldsOf = ({ written, faults }: ShownForm, words: FormWords): Html[] => {
  const own = (name: WrittenField) => ({
    id: `write-${name}`,
    name,
    maxLength: WRITTEN_MAX[name],
    value: written[name],
    fault: faults.includes(name) ? words.faults[name] : null,
  })
  return [
    inputField({ ...own('name'), label: words.name, autocomplete: 'name' }),
    inputField({ ...own('email'), label: words.email, type: 'email', autocomplete: 'email', isVerbatim: true }),
    inputField({
      ...own('phone'),
      label: `${words.phone} (${words.optional})`,
      type: 'tel',
      autocomplete: 'tel',
      isOptional: true,
    }),
    textField({ ...own('message'), label: words.message, rows: 6, isRequired: true }),
  ]
}

const trap = (words: FormWords): Html =>
  html`<div class="trap"><label for="write-${TRAP_FIELD}">${words.trap}</label><input id="write-${TRAP_FIELD}" name="${TRAP_FIELD}" type="text" tabindex="-1" autocomplete="off"></div>`

export const writePage = (shown: ShownForm): string => {
  const { lang, company, say } = shown
  const words = FORM_WORDS[lang]
  return page({
    lang,
    title: `${words.title} – ${company}`,
    sheet: FORM_SHEET,
    layout: 'narrow',
    main: html`<p class="hint">${company}</p>
<h1>${words.title}</h1>
${say !== null && notice(say.tone, say.words)}
${form({ action: shown.action }, [
  ...fieldsOf(shown, words),
  trap(words),
  hiddenField(PAGE_FIELD, shown.page),
  hiddenField(STAMP_FIELD, shown.stamp),
  html`<p class="hint">${words.privacy}</p>`,
  button({ words: words.send }),
])}
${backLink(shown)}`,
  })
}

export const wordPage = (about: About, title: string, text: string): string =>
  page({
    lang: about.lang,
    title: about.company === '' ? title : `${title} – ${about.company}`,
    sheet: FORM_SHEET,
    layout: 'narrow',
    main: html`${about.company !== '' && html`<p class="hint">${about.company}</p>`}
<h1>${title}</h1>
<p>${text}</p>
${backLink(about)}`,
  })
