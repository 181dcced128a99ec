/** What the client's page adds to the base: the gate, the panel, the invoice, and how it is printed. */
import { makeSheet } from '../../page/sheet.ts'

const RULES = `ul { padding: 0; list-style: none; }
.invoice h2 { margin-bottom: var(--near); font-size: var(--tiny); font-weight: 600; color: var(--muted); }
.lines { white-space: pre-line; }
.small { font-size: var(--tiny); color: var(--muted); }
.qr { display: block; height: auto; border-radius: 0.25rem; }
.lock { display: block; margin: 0 0 1rem -0.25rem; color: var(--accent); }
.languages { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; justify-content: center; margin-top: 1.5rem; font-size: 0.875rem; }
.languages a { padding: 0.25rem 0; color: var(--muted); text-decoration: none; }
.languages a:hover { text-decoration: underline; }
.languages [aria-current] { font-weight: 600; color: var(--ink); }

.invoice { max-width: 66rem; padding: clamp(1.25rem, 4vw, 2.75rem); }
.invoice > * + * { margin-top: 1.75rem; }
.invoice > header { gap: 0.75rem 1.5rem; align-items: flex-start; }
.logo { display: block; max-width: 11rem; max-height: 3.5rem; margin-bottom: 0.75rem; padding: 0.25rem; background: #ffffff; border-radius: 0.25rem; }
.invoice .from { font-size: 1rem; font-weight: 600; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.invoice .status { color: var(--ink); padding: 0.125rem 0.75rem; font-size: 0.875rem; font-weight: 600; border: 1px solid currentcolor; border-radius: 1rem; }
.invoice .status.paid { color: var(--good); }
.invoice .status.overdue, .invoice .status.voided { color: var(--bad); }

.columns { display: grid; grid-template-columns: minmax(0, 1fr) 19rem; gap: 2.5rem; align-items: start; }
.paper { grid-column: 1; grid-row: 1; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.75rem; }
.panel { grid-column: 2; grid-row: 1; position: sticky; top: 1.5rem; padding: 1.375rem; background: var(--ground); border-radius: 0.5rem; }
.panel > * + * { margin-top: 1rem; }
.panel .due + .state { margin-top: 0.125rem; }
.panel .button, .panel button { display: block; width: 100%; }
.due dd { font-size: var(--huge); font-weight: 700; line-height: 1.2; letter-spacing: -0.02em; }
.due dd, .sums dd, .figure { font-variant-numeric: tabular-nums; }
.state { color: var(--muted); }
.overdue .state { color: var(--bad); font-weight: 600; }
.paid .state { color: var(--good); font-weight: 600; }
.pay { gap: 0.5rem; }
.pay button { padding-block: 0.75rem; }
.panel .note, .panel .changes { font-size: var(--small); }
.changes { display: grid; gap: 0.25rem; padding-inline-start: 1.25rem; list-style: disc; }
.panel .edited + .changes { margin-top: 0.5rem; }
.panel .field { max-width: none; }
.transfer, .claim { padding-top: 1rem; border-top: 1px solid var(--rule); font-size: var(--small); }
.invoice .transfer h2 { font-size: var(--small); color: var(--ink); }
.transfer dl { display: grid; gap: 0.375rem; }
.transfer dd { font-variant-numeric: tabular-nums; }
.transfer figure { margin-top: 0.875rem; }
.transfer .qr { width: 9.5rem; }
figcaption { margin-top: 0.375rem; font-size: var(--tiny); color: var(--muted); }
.claim summary { color: var(--ink); }
details > * + * { margin-top: 0.5rem; }
#claim-lead, .claimed p { font-size: 0.875rem; color: var(--muted); }
.claim .fault { font-size: 0.875rem; }
.claim form { gap: 0.75rem; }
.claim label { font-size: 0.875rem; }
.claimed { margin-bottom: 0.875rem; padding: 0.75rem 0.875rem; background: var(--paper); border-inline-start: 3px solid var(--good); }
.claimed li + li, .claimed p { margin-top: 0.375rem; }

.paper .facts { gap: 0.75rem 2.25rem; }
.facts dd { font-weight: 600; }
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1.5rem 2rem; font-size: var(--small); }
.name { font-weight: 600; }

table { width: 100%; border-collapse: collapse; font-size: var(--small); }
th, td { padding: 0.625rem 0 0.625rem 1rem; text-align: start; vertical-align: top; border-bottom: 1px solid var(--rule); }
th:first-child { padding-inline-start: 0; }
thead th { font-size: var(--tiny); font-weight: 600; color: var(--muted); border-bottom-color: var(--ink); vertical-align: bottom; }
tbody th { font-weight: 400; min-width: 9rem; }
.figure { text-align: end; white-space: nowrap; }

.sums { width: min(26rem, 100%); margin-inline-start: auto; }
.sums div { display: flex; flex-wrap: wrap; gap: 0 1.5rem; justify-content: space-between; padding: 0.25rem 0; }
.sums dt { font-size: var(--small); }
.sums dd { margin-inline-start: auto; font-size: var(--small); }
.sums .strong { margin-top: 0.25rem; padding-top: 0.5rem; border-top: 1px solid var(--ink); }
.sums .strong dt, .sums .strong dd { font-size: 1.0625rem; font-weight: 700; color: var(--ink); }
.history li { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0.375rem 0; font-size: var(--small); border-top: 1px solid var(--rule); }
.history .what { flex: 1 1 8rem; color: var(--muted); }
footer { padding-top: 1rem; font-size: var(--tiny); color: var(--muted); border-top: 1px solid var(--rule); }
.link { display: flex; gap: 0.875rem; align-items: center; }
.link .qr { width: 5.5rem; }
.link figcaption { margin: 0; }

@media (max-width: 58rem) {
  .columns { grid-template-columns: minmax(0, 1fr); gap: 1.75rem; }
  .paper, .panel { grid-column: 1; grid-row: auto; }
  .panel { position: static; }
}
@media (max-width: 40rem) {
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
  @page { margin: 15mm; }
  html { font-size: 9.5pt; }
  body, main { padding: 0; border: 0; }
  .invoice { max-width: none; padding: 0; }
  .panel .button, .panel button, .button, button, .pay, .claim, .languages { display: none; }
  .invoice > * + * { margin-top: 1.25rem; }
  .columns, .paper { grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
  .paper, .panel { grid-column: 1; grid-row: auto; }
  .panel { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; align-items: start; position: static; padding: 0.75rem 0; border-block: 1px solid var(--ink); border-radius: 0; }
  .panel > * + *, .panel .due + .state { margin-top: 0; }
  .panel .state { align-self: end; }
  .transfer { flex: 1 1 100%; display: flex; gap: 0.25rem 2rem; padding: 0; border: 0; }
  .invoice .transfer h2 { display: none; }
  .transfer dl { display: flex; flex-wrap: wrap; flex: 1; gap: 0.375rem 2rem; align-content: start; }
  .transfer figure { margin: 0; }
  .transfer .qr, .link .qr { width: 24mm; }
  thead { display: table-header-group; }
  tr, .sums div, .history li, figure { break-inside: avoid; }
}
`

export const PAGE_SHEET = makeSheet('/i/assets', 'page', RULES)
