/** What the pages about one's own account add to the base: the way between them, tokens, books and deliveries. */
import { makeSheet } from './sheet.ts'

const RULES = `.places { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; max-width: 52rem; margin: 0 auto 1rem; }
.places a { padding: 0.25rem 0; color: var(--muted); text-decoration: none; }
.places a:hover { text-decoration: underline; }
.places [aria-current] { font-weight: 600; color: var(--ink); }
section > * + * { margin-top: 0.75rem; }
.secret {
  padding: 0.75rem 1rem; font: var(--small)/1.5 ui-monospace, Menlo, Consolas, monospace; background: var(--ground);
  border: 1px solid var(--edge); border-radius: var(--round); overflow-wrap: anywhere; user-select: all;
}
.or { display: flex; gap: 1rem; align-items: center; color: var(--muted); }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--rule); }
.tokens { padding: 0; list-style: none; border-top: 1px solid var(--rule); }
.tokens > li { padding: 1.25rem 0; border-bottom: 1px solid var(--rule); }
.tokens > li > * + * { margin-top: 0.5rem; }
.facts dd { font-size: var(--small); }
details > form { margin-top: 0.75rem; padding-inline-start: 1rem; border-inline-start: 3px solid var(--rule); }
details[open] { flex-basis: 100%; }
.row > details > * + * { margin-top: 0.5rem; }
.bars { display: block; width: 100%; max-width: 40rem; overflow: visible; }
.bars text { font-size: 0.875rem; fill: var(--ink); }
.bars .plain { fill: var(--accent); }
.bars .coming { fill: var(--rule); }
.bars .good { fill: var(--good); }
.bars .bad { fill: var(--bad); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--rule); text-align: start; vertical-align: top; }
th .hint, td .hint { display: block; font-weight: 400; }
.books th:last-child, .books td { padding-inline-end: 0; text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.log td:last-child { padding-inline-end: 0; text-align: end; }
.log form { display: inline-block; }
.log button { white-space: nowrap; }
.log pre { max-width: 26rem; margin: 0.25rem 0 0; font-size: var(--tiny); white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  .places { margin: 0; padding: 0.75rem 1.25rem; }
  .log thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .log, .log tbody, .log tr, .log th, .log td { display: block; }
  .log tr { padding: 0.75rem 0; border-bottom: 1px solid var(--rule); }
  .log th, .log td, .log td:last-child { padding: 0.125rem 0; border: 0; text-align: start; }
  .log td:empty { display: none; }
}`

export const ACCOUNT_SHEET = makeSheet('/account/assets', 'account', RULES)
