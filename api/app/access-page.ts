/** The sign-in page of a private app, served on the app's own host. Full HTML, no script; its style is named by its digest. */
import { createHash } from 'node:crypto'
import { ACCESS_PATH } from '../../crds/app/lifecycle/route.ts'
import { html, textOf } from '../../crds/text/html.ts'

const STYLE = html`<style>:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--line:#767676;--accent:#0b57d0;--fault:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#161616;--line:#8e8e8e;--accent:#a8c7fa;--fault:#f2b8b5}}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
main{max-width:22rem;margin:12vh auto;padding:0 1.25rem}
label{display:block;font-weight:600;margin-bottom:.25rem}
input{box-sizing:border-box;width:100%;padding:.6rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:.4rem}
button{margin-top:1rem;padding:.6rem 1.2rem;font:inherit;font-weight:600;color:var(--paper);background:var(--accent);border:0;border-radius:.4rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.fault{color:var(--fault);font-weight:600}</style>`

const CSS = textOf(STYLE).slice('<style>'.length, -'</style>'.length)
const CSS_DIGEST = createHash('sha256').update(CSS).digest('base64')

/** Nothing runs, nothing is loaded, nobody frames it, and its form goes home. */
export const ACCESS_POLICY = `default-src 'none'; style-src 'sha256-${CSS_DIGEST}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

export type AccessFacts = {
  /** The name of the app, as in its address. */
  slug: string
  /** A path on the app's host to go to afterwards. */
  next: string
  fault?: 'wrong' | 'tooMany'
}

const FAULTS = {
  wrong: 'This is not the password.',
  tooMany: 'Too many wrong passwords. Wait a minute and try again.',
} as const

export const accessPage = ({ slug, next, fault }: AccessFacts): string =>
  textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>Sign in – ${slug}</title>
${STYLE}
</head>
<body>
<main>
<h1>${slug}</h1>
<p id="lead">This app is private. Its password opens it on this device.</p>
${fault !== undefined && html`<p class="fault" id="fault" role="alert">${FAULTS[fault]}</p>`}
<form method="post" action="${ACCESS_PATH}">
<input type="hidden" name="next" value="${next}">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password" maxlength="200" aria-describedby="${fault === undefined ? 'lead' : 'lead fault'}"${fault === 'wrong' && html` aria-invalid="true"`}>
<button type="submit">Open</button>
</form>
</main>
</body>
</html>
`)
