/** What the pages of reviewers add to the base: the queue, two versions side by side, and words that came and went. */
import { makeSheet } from '../../page/sheet.ts'

const PLACES = `.places { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; max-width: 84rem; margin: 0 auto 1rem; }
.places a { padding: 0.25rem 0; color: var(--muted); text-decoration: none; }
.places a:hover { text-decoration: underline; }
.places [aria-current] { font-weight: 600; color: var(--ink); }
.wide { max-width: 84rem; }
section > * + * { margin-top: 0.75rem; }
section > h3 { margin-top: 1.5rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 0.75rem 2rem; }
.facts > :has(code) { grid-column: 1 / -1; }
.facts code { overflow-wrap: anywhere; }
ul { padding-inline-start: 1.25rem; }
.said { white-space: pre-line; }
.narrower { max-width: 52rem; }`

/** A mark says in words what its colour says. */
const MARKS = `.mark {
  display: inline-block; padding: 0 0.375rem; font-size: var(--tiny); font-weight: 600; color: var(--muted);
  border: 1px solid var(--edge); border-radius: var(--round); white-space: nowrap;
}
.mark.new { color: var(--good); border-color: currentcolor; }
.mark.gone { color: var(--bad); border-color: currentcolor; }
.mark.changed { color: var(--note); border-color: currentcolor; }
.tabs { display: flex; flex-wrap: wrap; gap: 0.375rem; align-items: center; }
.tabs > span { color: var(--muted); font-size: var(--small); }
.tabs a { padding: 0.375rem 0.75rem; color: var(--ink); text-decoration: none; border: 1px solid var(--edge); border-radius: var(--round); }
.tabs a:hover { text-decoration: underline; }
.tabs a[aria-current] { color: var(--on-accent); background: var(--accent); border-color: transparent; font-weight: 600; }
.tabs a[aria-current] .mark { color: inherit; }`

/**
 * A window of so many pixels shown as wide as its column: the frame keeps its width, and is drawn smaller. tan(atan2(a, b)) is a / b
 * for two lengths; a browser that does not know it shows a quarter.
 */
const SHOTS = `.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem 1.25rem; }
.pair > p { grid-column: 1 / -1; margin: 0; font-weight: 600; }
.pair figure { min-width: 0; }
.pair figcaption { display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; padding-bottom: 0.375rem; color: var(--muted); font-size: var(--small); }
.shot { position: relative; overflow: hidden; container-type: inline-size; background: #ffffff; border: 1px solid var(--edge); border-radius: var(--round); }
.shot iframe { position: absolute; top: 0; left: 0; border: 0; transform-origin: 0 0; transform: scale(0.25); }
.shot.w1440 { aspect-ratio: 1440 / 900; }
.shot.w1440 iframe { width: 1440px; height: 900px; transform: scale(tan(atan2(100cqw, 1440px))); }
.shot.w768 { aspect-ratio: 768 / 1024; max-width: 36rem; }
.shot.w768 iframe { width: 768px; height: 1024px; transform: scale(tan(atan2(100cqw, 768px))); }
.shot.w360 { aspect-ratio: 360 / 740; max-width: 22.5rem; }
.shot.w360 iframe { width: 360px; height: 740px; transform: scale(tan(atan2(100cqw, 360px))); }
.none { display: grid; place-items: center; min-height: 8rem; padding: 1rem; color: var(--muted); text-align: center; border: 1px dashed var(--edge); border-radius: var(--round); }`

const DIFFS = `.diff { max-width: 60rem; border: 1px solid var(--rule); border-radius: var(--round); }
.diff p { padding: 0.25rem 0.75rem 0.25rem 2rem; text-indent: -1.25rem; border-inline-start: 4px solid transparent; }
.diff p::before { content: attr(data-sign); display: inline-block; width: 1.25rem; text-indent: 0; color: var(--muted); font-weight: 600; }
.diff .left { padding-inline-start: 0.75rem; text-indent: 0; color: var(--muted); font-size: var(--small); background: var(--ground); }
.diff .is-gone { border-color: var(--bad); }
.diff .is-new { border-color: var(--good); }
.diff .is-changed { border-color: var(--note); }
del { color: var(--bad); text-decoration: line-through; text-decoration-thickness: 2px; }
ins { color: var(--good); font-weight: 600; text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 0.15em; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--rule); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
td:last-child { padding-inline-end: 0; }
.alarm { padding: 0.75rem 1rem; border: 2px solid var(--bad); border-radius: var(--round); }
.alarm > * + * { margin-top: 0.375rem; }
.rounds { padding: 0; list-style: none; }
.rounds > li { padding: 1rem 0; border-top: 1px solid var(--rule); }
.rounds > li > * + * { margin-top: 0.375rem; }
.queue { padding: 0; list-style: none; border-top: 1px solid var(--rule); }
.queue > li { padding: 1.25rem 0; border-bottom: 1px solid var(--rule); }
.queue > li > * + * { margin-top: 0.375rem; }
.queue h3 a { font-size: var(--large); }
.filter { display: flex; flex-wrap: wrap; align-items: end; }
.filter .field { width: auto; }`

const SUMS = `.sums th { font-weight: 400; }
.sums th:first-child { width: 30%; }
.sums th:nth-child(2), .sums td:nth-child(2) { width: 6rem; text-align: end; font-variant-numeric: tabular-nums; }
.sums code { font-size: var(--tiny); }
.jws code { font-size: var(--tiny); overflow-wrap: anywhere; }`

const PHONE = `@media (max-width: 48rem) {
  .places { margin: 0; padding: 0.75rem 1.25rem; }
  .pair { grid-template-columns: minmax(0, 1fr); }
  .changes thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .changes, .changes tbody, .changes tr, .changes th, .changes td { display: block; }
  .changes tr { padding: 0.5rem 0; border-bottom: 1px solid var(--rule); }
  .changes th, .changes td { padding: 0.125rem 0; border: 0; }
  .changes td::before { content: attr(data-name) ": "; color: var(--muted); }
}
@media print {
  .places, .tabs, form { display: none; }
}`

export const REVIEW_SHEET = makeSheet('/review/assets', 'review', [PLACES, MARKS, SHOTS, DIFFS, SUMS, PHONE].join('\n'))
