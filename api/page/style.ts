/** The style that every page begins with: the theme in the light and in the dark, the scale of type, and the form kit. */

const THEME = `:root {
  color-scheme: light dark;
  --ink: #16191f; --muted: #555e6b; --paper: #ffffff; --ground: #f3f4f6; --rule: #d7dbe0; --edge: #767f8b;
  --accent: #1d4ed8; --on-accent: #ffffff; --good: #146c43; --bad: #a61b1b; --note: #6b4a00; --note-ground: #fff4d6;
  --tiny: 0.8125rem; --small: 0.9375rem; --large: 1.125rem; --title: 1.5rem; --huge: 1.875rem;
  --near: 0.375rem; --gap: 1rem; --apart: 2rem; --round: 0.375rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eceff3; --muted: #a7b0bd; --paper: #191d24; --ground: #0f1216; --rule: #343b46; --edge: #8a94a3;
    --accent: #93b4ff; --on-accent: #0b1220; --good: #6fd3a0; --bad: #ff9d97; --note: #ffd98a; --note-ground: #3a2f12;
  }
}`

const TEXT = `*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; padding: 1.5rem 1rem 3rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", sans-serif;
}
h1, h2, h3, p, dl, dd, ul, fieldset, figure { margin: 0; }
h1 { font-size: var(--title); line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance; }
h2 { font-size: var(--large); line-height: 1.3; }
h3 { font-size: 1rem; }
a, summary { color: var(--accent); }
a { text-underline-offset: 0.15em; }
code, pre { font: var(--small)/1.5 ui-monospace, Menlo, Consolas, monospace; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dt { font-size: var(--tiny); color: var(--muted); }
summary { padding: 0.25rem 0; font-weight: 600; cursor: pointer; }`

const LAYOUT = `main {
  margin: 0 auto; background: var(--paper); border: 1px solid var(--rule); border-radius: 0.5rem; overflow-wrap: anywhere;
}
.narrow { max-width: 26rem; margin-top: 10vh; padding: 2rem; }
.narrow > * + * { margin-top: var(--gap); }
.narrow button, .narrow .button { width: 100%; }
.wide { max-width: 52rem; padding: clamp(1.25rem, 5vw, 3rem); }
.wide > * + * { margin-top: var(--apart); }
main > header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; justify-content: space-between; align-items: center; }
main > header p { color: var(--muted); font-size: var(--small); }
.facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; }
.row { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; }
@media (max-width: 40rem) {
  body { padding: 0 0 2rem; }
  main { border-width: 0 0 1px; border-radius: 0; }
  .narrow { max-width: none; margin-top: 0; padding: 2rem 1.25rem; }
}`

const FORM = `form { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--gap); justify-items: start; }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--near); width: 100%; max-width: 26rem; }
.field.full { max-width: none; }
label, legend { font-weight: 600; }
fieldset { width: 100%; min-width: 0; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: 0.25rem; }
input, select, textarea {
  width: 100%; min-width: 0; padding: 0.625rem 0.75rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--edge); border-radius: var(--round);
}
textarea { min-height: 6rem; resize: vertical; }
[aria-invalid] { border: 2px solid var(--bad); }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.125rem 0.625rem; padding: var(--near) 0; }
.choice .hint { grid-column: 2; }
.choice input { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--accent); }
.hint { color: var(--muted); font-size: var(--small); }
.fault { color: var(--bad); font-weight: 600; }
.fault[tabindex] { padding: 0.25rem 0.875rem; border-inline-start: 0.25rem solid var(--bad); outline: none; }
.good { color: var(--good); }
.note { padding: 0.75rem 1rem; color: var(--note); background: var(--note-ground); border-radius: var(--round); }
button, .button {
  display: inline-block; padding: 0.625rem 1.125rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: var(--round); cursor: pointer;
}
button:hover, .button:hover { filter: brightness(1.12); }
button.plain, .button.plain { color: var(--accent); background: transparent; border-color: var(--edge); }
button.quiet, .button.quiet { color: var(--ink); background: transparent; border-color: var(--edge); }
button.danger { color: var(--bad); background: transparent; border-color: currentcolor; }`

/** What a sheet adds to it has no rules of its own for text, fields and buttons. */
export const BASE_CSS = [THEME, TEXT, LAYOUT, FORM].join('\n')
