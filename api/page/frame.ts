/** The frame of the pages about one's own account. Full HTML, no script, one stylesheet: the strictest policy holds. */
import { type Html, html, textOf } from '../../crds/text/html.ts'
import { ACCOUNT_CSS_PATH } from './style.ts'

export { ACCOUNT_CSS, ACCOUNT_CSS_PATH } from './style.ts'

export const accountPage = (title: string, body: Html): string =>
  textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title} – Bottega</title>
<link rel="stylesheet" href="${ACCOUNT_CSS_PATH}">
</head>
<body>
${body}
</body>
</html>
`)

/** A refusal, in words, for somebody in a browser. */
export const refusalPage = (facts: { title: string; detail: string; next: string; requestId: string }): string =>
  accountPage(
    facts.title,
    html`<main class="narrow">
<h1>${facts.title}</h1>
<p role="alert">${facts.detail}</p>
<p>${facts.next}</p>
<p class="hint">Request ${facts.requestId}</p>
<p><a href="/account/tokens">Back to your tokens</a></p>
</main>`,
  )
