/**
 * The reviewer's page of a site: what was submitted, side by side with what was approved, how it differs in words, what must not be
 * overlooked, the rounds before, and the decision. Full HTML, no script, one stylesheet, so that the strictest policy holds.
 */
import type { ReviewRound } from '../../../crds/site/reviewing/rounds.ts'
import type { TextDiff } from '../../../crds/text/difference.ts'
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { fact, instant } from '../../page/facts.ts'
import { button, form, hiddenField, textField } from '../../page/form.ts'
import type { ComparedPage, Comparison } from './compare.ts'
import { deskPage, mark, tabs } from './desk.ts'
import { changes, fileList, warned, words } from './differences.ts'
import { addressOf, type LookedAt, pageTabs, pictures } from './pictures.ts'

export type ReviewFacts = {
  site: { id: string; account: string; company: string; domain: string | null; url: string | null }
  /** Newest last; the page is about one of them, `round`. */
  rounds: readonly ReviewRound[]
  round: ReviewRound
  looked: LookedAt
  /** The round whose bytes it is held against; null where there is none. */
  base: ReviewRound | null
  comparison: Comparison
  page: ComparedPage
  diff: TextDiff
  previews: { before: string | null; after: string }
  /** Where the words come from, for what was drafted; null where the owner wrote them. */
  provenance: Html | null
  /** The site is the reader's own. */
  isOwn: boolean
  formToken: string
  /** Path of this page. */
  path: string
}

export const NOTE_MAX = 4000

const by = (account: string | null): string => (account === null ? '' : ` by ${account}`)

const verdictMark = ({ decision }: ReviewRound): Html => {
  if (decision === null) return mark('same', 'not decided')
  return decision.decision === 'approve' ? mark('new', 'approved') : mark('changed', 'changes requested')
}

const baseWords = ({ base, looked }: ReviewFacts): string => {
  if (base === null) return ''
  if (looked.against === 'round') return `Round ${base.round}, submitted before`
  return `Approved on ${base.decision?.at.slice(0, 10) ?? ''}`
}

/** Where on the page one is led, and against what all of it is held. */
const ways = (facts: ReviewFacts): Html => {
  const { path, looked, rounds } = facts
  const against = (one: LookedAt['against'], label: string) => ({
    href: addressOf(path, { ...looked, against: one }),
    words: label,
    isCurrent: looked.against === one,
  })
  return html`<nav class="row" aria-label="On this page"><a href="#pictures">Side by side</a> <a href="#words">Words</a> <a href="#changes">Links, prices, contacts</a> <a href="#warnings">Warnings</a> <a href="#rounds">Rounds</a> <a href="#decision">Decision</a></nav>
${rounds.length > 1 && tabs('Held against', [against('approved', 'the last approval'), against('round', 'the round before')])}`
}

const summary = ({ comparison, base, looked }: ReviewFacts): Html => {
  const { pages, sections, files, isCut } = comparison
  const differ = pages.filter(({ state }) => state !== 'same')
  const missing =
    looked.against === 'approved'
      ? 'Nothing of this site was approved before: all of it is new.'
      : 'It was not submitted before.'
  return html`<section aria-labelledby="summary-title"><h2 id="summary-title">What changed</h2>
${
  base === null
    ? html`<p>${missing}</p>`
    : html`<p>${differ.length === 0 ? 'No page differs.' : `${differ.length} of ${pages.length} pages differ: ${differ.map(({ path }) => path).join(', ')}.`}
${sections.length === 0 ? 'No words or pictures of the content changed.' : `Changed parts: ${sections.join(', ').replaceAll('_', ' ')}.`}</p>`
}
${isCut && html`<p class="note">The site is so long that not all of its words were read: look at its last pages yourself.</p>`}
${fileList(files)}</section>`
}

/** Opening is a post: it is recorded who did it, and a mail scanner that follows links records nothing. */
const openForm = ({ path, formToken, round }: ReviewFacts): Html =>
  html`${form({ action: `${path}/open`, formToken, opensWindow: true }, button({ words: 'Open the frozen preview', tone: 'plain' }))}
<p class="hint">${round.openings.length === 0 ? 'Nobody has opened it yet.' : html`Opened by ${round.openings.map(({ by: who, at }, index) => html`${index > 0 && ', '}${who} on ${instant(at)}`)}. `}</p>`

const decisionForm = ({ path, formToken, round }: ReviewFacts): Html =>
  form({ action: path, formToken, className: 'narrower' }, [
    hiddenField('digest', round.submission.digest),
    textField({
      id: 'note',
      label: 'Note to the owner',
      hint: 'It is mailed to the owner and stays on record.',
      maxLength: NOTE_MAX,
      isFull: true,
    }),
    html`<p class="row">${button({ words: 'Approve these bytes', name: 'decision', value: 'approve' })}
${button({ words: 'Request changes', tone: 'plain', name: 'decision', value: 'request_changes' })}</p>`,
  ])

const decided = ({ round: { decision }, isOwn }: ReviewFacts): Html | null => {
  if (decision) {
    const word = decision.decision === 'approve' ? 'Approved' : 'Changes were requested'
    return html`<p>${word} by ${decision.by} on ${instant(decision.at)}.</p>
${decision.note !== '' && html`<p class="note said">${decision.note}</p>`}`
  }
  return isOwn ? html`<p class="note">This site is your own: somebody else decides.</p>` : null
}

/** All rounds, newest first. */
export const roundList = (rounds: readonly ReviewRound[]): Html =>
  html`<ol class="rounds" reversed>${rounds.toReversed().map(
    (one) => html`<li><h3>Round ${one.round} ${verdictMark(one)}</h3>
<p>Submitted on ${instant(one.submission.at)}${by(one.submission.by)}; digest <code>${one.submission.digest}</code></p>
${one.decision !== null && html`<p>Decided on ${instant(one.decision.at)} by ${one.decision.by}</p>`}
${one.decision !== null && one.decision.note !== '' && html`<p class="said">${one.decision.note}</p>`}
${one.openings.length > 0 && html`<p class="hint">Opened by ${one.openings.map(({ by: who }) => who).join(', ')}</p>`}</li>`,
  )}</ol>`

const head = ({ site, round }: ReviewFacts, title: string): Html =>
  html`<header><div><h1>${title} ${verdictMark(round)}</h1><p>Site ${site.id} of account ${site.account}, round ${round.round}</p></div></header>
<dl class="facts">${fact('Submitted', html`${instant(round.submission.at)}${by(round.submission.by)}`)}
${fact('Domain', site.domain ?? 'not chosen yet')}
${fact('Live at', site.url ?? 'not live')}
${fact('Digest', html`<code>${round.submission.digest}</code>`)}</dl>`

/** @returns the whole page */
export const reviewPage = (facts: ReviewFacts): string => {
  const { site, looked, path, comparison, page, diff, provenance, rounds, base } = facts
  const title = `Review of ${site.company}`
  const pageAt = (file: string) => {
    const found = comparison.pages.find((one) => one.file === file)?.path ?? '/'
    return { path: found, href: `${addressOf(path, { ...looked, page: found })}#pictures` }
  }
  return deskPage({
    title,
    main: html`${head(facts, title)}
${openForm(facts)}
${ways(facts)}
${summary(facts)}
${pictures({ ...facts, pages: comparison.pages, baseWords: baseWords(facts) }, page)}
<section id="words" aria-labelledby="words-title"><h2 id="words-title">Words of ${page.path}</h2>
${pageTabs({ path, looked, pages: comparison.pages }, 'words')}
${words(diff, base !== null)}</section>
${changes(comparison.changes)}
${provenance}
${warned(comparison.warnings, pageAt)}
<section id="rounds" aria-labelledby="rounds-title"><h2 id="rounds-title">Rounds</h2>${roundList(rounds)}</section>
<section id="decision" aria-labelledby="decision-title"><h2 id="decision-title">Decision</h2>${decided(facts) ?? decisionForm(facts)}</section>
<p><a href="${safeUrl('/review')}">Back to all reviews</a></p>`,
  })
}
