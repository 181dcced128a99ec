/** A pending revision in words: on the client's page beside what was sent, and as the page of its preview for the owner. */

import { dateWords, WORDS } from '../../../crds/invoice/document/words/words.ts'
import type { DocumentLang, Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { FieldChange } from '../../../crds/invoice/order/revision.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { displayCents } from '../../../crds/values/money.ts'
import { PAGE_WORDS } from './words.ts'

/** `totalCents` is null while the edit cannot be sent. */
export type ShownRevision = { changed: readonly FieldChange[]; totalCents: number | null }

const LABELS: [RegExp, (lang: DocumentLang) => string][] = [
  [/^\/client_/, (lang) => WORDS[lang].billedTo],
  [/^\/items\//, (lang) => WORDS[lang].items],
  [/^\/discount_cents$/, (lang) => WORDS[lang].discount],
  [/^\/zero_rate$/, (lang) => WORDS[lang].tax],
  [/^\/lang$/, (lang) => PAGE_WORDS[lang].language],
  [/^\/terms$/, (lang) => WORDS[lang].terms],
]

/** From and to of what fits into a line; of all else only that it differs. */
const differences = ({ changed, totalCents }: ShownRevision, sent: Frozen, lang: DocumentLang): string[] => {
  const due = changed.find(({ pointer }) => pointer === '/due_date')
  const day = (value: unknown): string => (typeof value === 'string' ? dateWords(lang, value) : '–')
  const money = (cents: number): string => displayCents(cents, sent.currency)
  const isTotal = totalCents !== null && totalCents !== sent.totalCents
  const labels = LABELS.filter(([is]) => changed.some(({ pointer }) => is.test(pointer))).map(([, label]) =>
    label(lang),
  )
  return [
    ...(isTotal ? [`${WORDS[lang].total}: ${money(sent.totalCents)} → ${money(totalCents)}`] : []),
    ...(due ? [`${WORDS[lang].due}: ${day(due.from)} → ${day(due.to)}`] : []),
    ...labels,
  ]
}

export const revisionChanges = (revision: ShownRevision, sent: Frozen, lang: DocumentLang): Html =>
  html`<ul class="changes" aria-label="${PAGE_WORDS[lang].changes}">${differences(revision, sent, lang).map((words) => html`<li><bdi>${words}</bdi></li>`)}</ul>`

/** What stands beside the amount that counts. */
export const revisionNote = (revision: ShownRevision, sent: Frozen, lang: DocumentLang): Html =>
  html`<p class="note edited" role="note">${PAGE_WORDS[lang].edited}</p>
${revisionChanges(revision, sent, lang)}`
