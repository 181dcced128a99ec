/** The stylesheet of the pages about one's own account: one static text, so that its name can carry its hash. */
import { createHash } from 'node:crypto'
import { THEME } from '../../crds/text/theme.ts'

export const ACCOUNT_CSS = `${THEME}
h1, h2, h3, p, dl, dd, ul, fieldset { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin-bottom: 0.75rem; font-size: 1.125rem; line-height: 1.3; }
h3 { font-size: 1rem; }
a { color: var(--accent); }
.for { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.narrow { max-width: 26rem; margin-top: 10vh; padding: 2rem; }
.narrow > * + * { margin-top: 1rem; }
.wide { max-width: 52rem; padding: clamp(1.25rem, 5vw, 3rem); }
.wide > * + * { margin-top: 2rem; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; justify-content: space-between; align-items: center; }
header p, .hint { color: var(--muted); font-size: 0.9375rem; }

form { display: grid; gap: 1rem; justify-items: start; }
.field { display: grid; gap: 0.375rem; width: 100%; }
label, legend { font-weight: 600; }
.choice { display: grid; grid-template-columns: auto 1fr; gap: 0.125rem 0.625rem; padding: 0.375rem 0; }
.choice label { font-weight: 600; }
.choice .hint { grid-column: 2; }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0.1875rem 0 0; accent-color: var(--accent); }
fieldset { width: 100%; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: 0.25rem; }
input[type="email"], input[type="text"], input[type="month"], select {
  width: 100%; max-width: 26rem; padding: 0.625rem 0.75rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--edge); border-radius: 0.375rem;
}
input[aria-invalid] { border-color: var(--bad); }
.fault { color: var(--bad); }
.good { color: var(--good); }
.note { padding: 0.75rem 1rem; color: var(--note); background: var(--note-ground); border-radius: 0.375rem; }
.secret {
  padding: 0.75rem 1rem; font: 0.9375rem/1.5 ui-monospace, Menlo, Consolas, monospace; background: var(--ground);
  border: 1px solid var(--edge); border-radius: 0.375rem; overflow-wrap: anywhere; user-select: all;
}
button, .button {
  display: inline-block; padding: 0.625rem 1.125rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: 0.375rem; cursor: pointer;
}
button:hover, .button:hover { filter: brightness(1.12); }
button.plain, .button.plain { color: var(--accent); background: transparent; border-color: var(--edge); }
button.danger { color: var(--bad); background: transparent; border-color: currentcolor; }
.or { display: flex; gap: 1rem; align-items: center; color: var(--muted); }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--rule); }

.tokens { padding: 0; list-style: none; border-top: 1px solid var(--rule); }
.tokens > li { padding: 1.25rem 0; border-bottom: 1px solid var(--rule); }
.tokens h3 + * { margin-top: 0.25rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; margin-top: 0.5rem; }
dt { font-size: 0.8125rem; color: var(--muted); }
dd { font-size: 0.9375rem; }
.acts { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; margin-top: 0.75rem; }
details > form { margin-top: 0.75rem; padding-inline-start: 1rem; border-inline-start: 3px solid var(--rule); }
details[open] { flex-basis: 100%; }
summary { padding: 0.25rem 0; color: var(--accent); font-weight: 600; cursor: pointer; }

.bars { display: block; width: 100%; max-width: 40rem; height: auto; margin-bottom: 1rem; }
.bars text { font-size: 0.875rem; fill: var(--ink); }
.bars .plain { fill: var(--accent); }
.bars .good { fill: var(--good); }
.bars .bad { fill: var(--bad); }
.books { width: 100%; border-collapse: collapse; }
.books th, .books td { padding: 0.5rem 0; border-bottom: 1px solid var(--rule); text-align: start; vertical-align: top; }
.books th .hint { display: block; font-weight: 400; }
.books th:last-child, .books td { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }

.address { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin-top: 1rem; }
.log { width: 100%; border-collapse: collapse; }
.log th, .log td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--rule); text-align: start; vertical-align: top; }
.log .hint { display: block; font-weight: 400; }
.log pre { max-width: 26rem; margin: 0.25rem 0 0; font-size: 0.8125rem; white-space: pre-wrap; overflow-wrap: anywhere; }

@media (max-width: 40rem) {
  body { padding: 0; }
  main { border-width: 0 0 1px; border-radius: 0; }
  .narrow { max-width: none; margin-top: 0; }
}
`

const HASH_LENGTH = 16
const hash = createHash('sha256').update(ACCOUNT_CSS).digest('hex').slice(0, HASH_LENGTH)

/** Where it is served; a changed sheet has another name. */
export const ACCOUNT_CSS_PATH = `/account/assets/account-${hash}.css`
