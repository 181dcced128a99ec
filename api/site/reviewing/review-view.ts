/**
 * The reviewer's page of a site: what was submitted, how it differs from what was approved last, what deserves a look, and the
 * decision. Full HTML, no script, one stylesheet, so that the strictest policy holds.
 */
import type { FileDiff } from '../../../crds/site/publishing/manifest.ts'
import type { WarningView } from '../../../crds/site/view.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { fact } from '../../page/facts.ts'
import { button, form, hiddenField, textField } from '../../page/form.ts'
import { page } from '../../page/page.ts'
import { REVIEW_SHEET } from './review-style.ts'

export type ReviewFacts = {
  site: { id: string; account: string; company: string; domain: string | null; url: string | null }
  submission: { digest: string; at: string; by: string | null }
  decision: { decision: 'approve' | 'request_changes'; by: string; at: string; note: string } | null
  /** Who opened what was submitted, oldest first. */
  openings: { by: string; at: string }[]
  /** Against what was approved last; null when nothing was. */
  diff: FileDiff | null
  /** Parts of the content that differ from that, by their names. */
  sections: string[]
  warnings: WarningView[]
  /** What the words of a drafted site rest on. */
  provenance: Html | null
  /** The site is the reader's own. */
  isOwn: boolean
  formToken: string
  /** Path of this page. */
  path: string
}

const LISTED_MAX = 50
export const NOTE_MAX = 4000

const day = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`

const paths = (label: string, list: string[]): Html | null =>
  list.length === 0
    ? null
    : html`<p>${label} (${list.length})</p>
<ul>${list.slice(0, LISTED_MAX).map((path) => html`<li><code>${path}</code></li>`)}</ul>`

const differences = ({ diff, sections }: ReviewFacts): Html =>
  diff === null
    ? html`<section><h2>What is new</h2><p>Nothing of this site was approved before: all of it is new.</p></section>`
    : html`<section><h2>What changed since the last approval</h2>
<p>${sections.length === 0 ? 'No words or pictures of the content changed.' : `Changed parts: ${sections.join(', ')}.`}
${String(diff.unchanged)} files are the same.</p>
${paths('Changed files', diff.changed)}${paths('New files', diff.added)}${paths('Files that are gone', diff.removed)}</section>`

const warned = ({ warnings }: ReviewFacts): Html =>
  html`<section><h2>What deserves a look</h2>${
    warnings.length === 0
      ? html`<p>The automatic checks found nothing.</p>`
      : html`<ul>${warnings.map(({ code, pointer, detail }) => html`<li><code>${code}</code> ${pointer}: ${detail}</li>`)}</ul>`
  }</section>`

/** Opening is a post: it is recorded who did it, and a mail scanner that follows links records nothing. */
const openForm = ({
  path,
  formToken,
  openings,
}: ReviewFacts): Html => html`<section><h2>The site as it was submitted</h2>
${form({ action: `${path}/open`, formToken, opensWindow: true }, button({ words: 'Open the frozen preview' }))}
${
  openings.length === 0
    ? html`<p class="hint">Nobody has opened it yet.</p>`
    : html`<ul>${openings.map(({ by, at }) => html`<li>${by} opened it on ${day(at)}</li>`)}</ul>`
}</section>`

const decisionForm = ({ path, formToken, submission }: ReviewFacts): Html => html`<section><h2>Decision</h2>
${form({ action: path, formToken }, [
  hiddenField('digest', submission.digest),
  textField({ id: 'note', label: 'Note to the owner', maxLength: NOTE_MAX, isFull: true }),
  html`<p class="row">${button({ words: 'Approve these bytes', name: 'decision', value: 'approve' })}
${button({ words: 'Request changes', tone: 'plain', name: 'decision', value: 'request_changes' })}</p>`,
])}</section>`

const decided = ({ decision, isOwn }: ReviewFacts): Html | null => {
  if (decision) {
    const word = decision.decision === 'approve' ? 'Approved' : 'Changes were requested'
    return html`<section><h2>Decision</h2><p>${word} by ${decision.by} on ${day(decision.at)}.</p>
${decision.note !== '' && html`<p class="note said">${decision.note}</p>`}</section>`
  }
  return isOwn
    ? html`<section><h2>Decision</h2><p class="note">This site is your own: somebody else decides.</p></section>`
    : null
}

/** @returns the whole page */
export const reviewPage = (facts: ReviewFacts): string => {
  const { site, submission } = facts
  const title = `Review of ${site.company}`
  return page({
    title: `${title} – Bottega`,
    sheet: REVIEW_SHEET,
    layout: 'wide',
    main: html`<header><div><h1>${title}</h1><p>Site ${site.id} of account ${site.account}</p></div></header>
<dl class="facts">${fact('Submitted', `${day(submission.at)}${submission.by === null ? '' : ` by ${submission.by}`}`)}
${fact('Digest', html`<code>${submission.digest}</code>`)}
${fact('Domain', site.domain ?? 'not chosen yet')}
${fact('Live at', site.url ?? 'not live')}</dl>
${openForm(facts)}
${differences(facts)}
${warned(facts)}
${facts.provenance}
${decided(facts) ?? decisionForm(facts)}`,
  })
}
