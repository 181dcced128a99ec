/**
 * The reviewer's page of a site: what was submitted, how it differs from what was approved last, what deserves a look, and the
 * decision. Full HTML, no script, one stylesheet, so that the strictest policy holds.
 */
import { createHash } from 'node:crypto'
import type { FileDiff } from '../../crds/site/publishing/manifest.ts'
import type { WarningView } from '../../crds/site/view.ts'
import { type Html, html, textOf } from '../../crds/text/html.ts'
import { THEME } from '../../crds/text/theme.ts'

export const REVIEW_CSS = `${THEME}
h1, h2, p, dl, dd, ul, fieldset { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { margin-bottom: 0.75rem; font-size: 1.125rem; line-height: 1.3; }
a { color: var(--accent); }
main { max-width: 52rem; padding: clamp(1.25rem, 5vw, 3rem); }
main > * + * { margin-top: 2rem; }
section > * + * { margin-top: 0.75rem; }
header p, .hint { color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(8rem, auto) 1fr; gap: 0.5rem 1.5rem; }
dt { color: var(--muted); }
dd, li { overflow-wrap: anywhere; }
ul { padding-inline-start: 1.25rem; }
code { font: 0.9375rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
form { display: grid; gap: 1rem; justify-items: start; }
label { font-weight: 600; }
textarea {
  width: 100%; min-height: 6rem; padding: 0.625rem 0.75rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--edge); border-radius: 0.375rem;
}
.acts { display: flex; flex-wrap: wrap; gap: 0.75rem; }
button {
  padding: 0.625rem 1.125rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: 0.375rem; cursor: pointer;
}
button:hover { filter: brightness(1.12); }
button.plain { color: var(--accent); background: transparent; border-color: var(--edge); }
.note { padding: 0.75rem 1rem; color: var(--note); background: var(--note-ground); border-radius: 0.375rem; }
`

const HASH_LENGTH = 16
const hash = createHash('sha256').update(REVIEW_CSS).digest('hex').slice(0, HASH_LENGTH)
/** Where it is served; a changed sheet has another name. */
export const REVIEW_CSS_PATH = `/review/assets/review-${hash}.css`

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
  /** The site is the reader's own. */
  isOwn: boolean
  formToken: string
  /** Path of this page. */
  path: string
}

const LISTED_MAX = 50

const fact = (label: string, value: string | Html): Html => html`<dt>${label}</dt><dd>${value}</dd>`

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
<form method="post" action="${path}/open" target="_blank">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit">Open the frozen preview</button>
</form>
${
  openings.length === 0
    ? html`<p class="hint">Nobody has opened it yet.</p>`
    : html`<ul>${openings.map(({ by, at }) => html`<li>${by} opened it on ${day(at)}</li>`)}</ul>`
}</section>`

const decisionForm = ({ path, formToken, submission }: ReviewFacts): Html => html`<section><h2>Decision</h2>
<form method="post" action="${path}">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="digest" value="${submission.digest}">
<label for="note">Note to the owner</label>
<textarea id="note" name="note" maxlength="4000"></textarea>
<p class="acts"><button type="submit" name="decision" value="approve">Approve these bytes</button>
<button class="plain" type="submit" name="decision" value="request_changes">Request changes</button></p>
</form></section>`

const decided = ({ decision, isOwn }: ReviewFacts): Html | null => {
  if (decision) {
    const word = decision.decision === 'approve' ? 'Approved' : 'Changes were requested'
    return html`<section><h2>Decision</h2><p>${word} by ${decision.by} on ${day(decision.at)}.</p>
${decision.note !== '' && html`<p class="note">${decision.note}</p>`}</section>`
  }
  return isOwn
    ? html`<section><h2>Decision</h2><p class="note">This site is your own: somebody else decides.</p></section>`
    : null
}

/** @returns the whole page */
export const reviewPage = (facts: ReviewFacts): string => {
  const { site, submission } = facts
  const title = `Review of ${site.company}`
  return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title} – Bottega</title>
<link rel="stylesheet" href="${REVIEW_CSS_PATH}">
</head>
<body>
<main>
<header><h1>${title}</h1><p>Site ${site.id} of account ${site.account}</p></header>
<dl>${fact('Submitted', `${day(submission.at)}${submission.by === null ? '' : ` by ${submission.by}`}`)}
${fact('Digest', html`<code>${submission.digest}</code>`)}
${fact('Domain', site.domain ?? 'not chosen yet')}
${fact('Live at', site.url ?? 'not live')}</dl>
${openForm(facts)}
${differences(facts)}
${warned(facts)}
${decided(facts) ?? decisionForm(facts)}
</main>
</body>
</html>
`)
}
