/** The stylesheet of the client's page: one static text, so that its name can carry its hash and be cached for ever. */
import { createHash } from 'node:crypto'
import { THEME } from '../theme.ts'

export const PAGE_CSS = `${THEME}
h1, h2, p, dl, dd { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin-bottom: 0.25rem; font-size: 0.8125rem; font-weight: 600; color: var(--muted); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.lines { white-space: pre-line; }

.gate { max-width: 26rem; margin-top: 10vh; padding: 2rem; }
.gate p { margin-top: 0.75rem; }
.gate form { display: grid; gap: 0.5rem; margin-top: 1.5rem; }
.gate label { font-weight: 600; }
.gate input {
  width: 100%; padding: 0.625rem 0.75rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--edge); border-radius: 0.375rem;
}
.gate [aria-invalid] { border-color: var(--bad); }
.gate .fault { color: var(--bad); }
button, .button {
  display: inline-block; padding: 0.625rem 1.125rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: 0.375rem; cursor: pointer;
}
button { margin-top: 0.5rem; }
button:hover, .button:hover { filter: brightness(1.12); }

.invoice { max-width: 52rem; padding: clamp(1.25rem, 5vw, 3rem); }
.invoice > * + * { margin-top: 2rem; }
.test { padding: 0.5rem 0.875rem; color: var(--note); background: var(--note-ground); border-radius: 0.375rem; }
header { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; justify-content: space-between; align-items: flex-start; }
.from { font-weight: 600; color: var(--muted); }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.status { padding: 0.125rem 0.75rem; font-size: 0.875rem; font-weight: 600; border: 1px solid currentcolor; border-radius: 1rem; }
.status.paid { color: var(--good); }
.status.overdue { color: var(--bad); }
.due {
  display: flex; flex-wrap: wrap; gap: 1.25rem 2rem; justify-content: space-between; align-items: center;
  padding: 1.25rem 0; border-block: 1px solid var(--rule);
}
.due dl { display: flex; flex-wrap: wrap; gap: 0.75rem 2.25rem; }
dt { font-size: 0.8125rem; color: var(--muted); }
.due div:first-child dd { font-size: 1.25rem; font-weight: 700; line-height: 1.2; }
.due dd, .sums dd, .figure { font-variant-numeric: tabular-nums; }
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1.5rem 2rem; font-size: 0.9375rem; }
.name { font-weight: 600; }

table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { padding: 0.625rem 0 0.625rem 1.25rem; text-align: start; vertical-align: top; border-bottom: 1px solid var(--rule); }
th:first-child { padding-inline-start: 0; }
thead th { font-size: 0.8125rem; font-weight: 600; color: var(--muted); border-bottom-color: var(--ink); vertical-align: bottom; }
tbody th { font-weight: 400; min-width: 12rem; }
.figure { text-align: end; white-space: nowrap; }

.sums { width: min(26rem, 100%); margin-inline-start: auto; }
.invoice > .sums { margin-top: 1rem; }
.sums div { display: flex; flex-wrap: wrap; gap: 0 1.5rem; justify-content: space-between; padding: 0.25rem 0; }
.sums dt { font-size: 0.9375rem; }
.sums dd { margin-inline-start: auto; font-size: 0.9375rem; }
.sums .strong { margin-top: 0.25rem; padding-top: 0.5rem; border-top: 1px solid var(--ink); }
.sums .strong dt, .sums .strong dd { font-size: 1.0625rem; font-weight: 700; color: var(--ink); }
.payment { padding: 0.875rem 1.125rem; border-inline-start: 3px solid var(--good); background: var(--ground); font-size: 0.9375rem; }
.payment dl { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; margin-top: 0.5rem; }
footer { padding-top: 1rem; font-size: 0.8125rem; color: var(--muted); border-top: 1px solid var(--rule); }

@media (max-width: 40rem) {
  body { padding: 0; }
  main { border-width: 0 0 1px; border-radius: 0; }
  .gate { max-width: none; margin-top: 0; }
  .due .button { width: 100%; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, tbody th, td { display: block; }
  tr { padding: 0.75rem 0; border-bottom: 1px solid var(--rule); }
  tbody th, td { padding: 0.125rem 0; border: 0; }
  tbody th { min-width: 0; padding-bottom: 0.25rem; font-weight: 600; }
  td.figure { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; white-space: normal; }
  td::before { content: attr(data-label); color: var(--muted); }
}

@media print {
  :root {
    color-scheme: light;
    --ink: #000000; --muted: #444444; --paper: #ffffff; --ground: #ffffff; --rule: #cccccc; --good: #000000; --bad: #000000;
    --note: #000000; --note-ground: #ffffff;
  }
  @page { margin: 18mm; }
  body, main { padding: 0; border: 0; }
  .invoice { max-width: none; padding: 0; }
  .button { display: none; }
  thead { display: table-header-group; }
  tr, .sums div { break-inside: avoid; }
}
`

const HASH_LENGTH = 16
const hash = createHash('sha256').update(PAGE_CSS).digest('hex').slice(0, HASH_LENGTH)

/** File name of the stylesheet; a changed sheet has another name. */
export const PAGE_CSS_NAME = `page-${hash}.css`
