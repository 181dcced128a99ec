/** The frame of the pages about one's own account, and the way between them. No script: the strictest policy holds. */
import { DEVBOXES_PAGE } from '../../crds/devinstance/page.ts'
import { type Html, html, safeUrl } from '../../crds/text/html.ts'
import { WEBHOOKS_PAGE } from '../../crds/webhook/endpoint.ts'
import { ACCOUNT_SHEET } from './account-style.ts'
import { buttonLink, notice } from './form.ts'
import { page } from './page.ts'

export const TOKENS_PATH = '/account/tokens'
export const SESSIONS_PATH = '/account/sessions'
export const BOOKS_PATH = '/account/reconciliation'

const PLACES = [
  { path: TOKENS_PATH, words: 'Tokens' },
  { path: SESSIONS_PATH, words: 'Sessions' },
  { path: WEBHOOKS_PAGE, words: 'Webhooks' },
  { path: BOOKS_PATH, words: 'Books' },
  { path: DEVBOXES_PAGE, words: 'Dev instances' },
] as const

/** For those who decide on the websites of others. */
const REVIEWS = { path: '/review', words: 'Reviews' } as const

const places = (at: string, isReviewer: boolean): Html =>
  html`<nav class="places" aria-label="Your account">${[...PLACES, ...(isReviewer ? [REVIEWS] : [])].map(
    ({ path, words }) =>
      html`<a href="${safeUrl(path)}"${path === at && html` aria-current="page"`}>${words}</a>
`,
  )}</nav>`

/** `at`: which of the places the page is; left out for whoever is not signed in. */
export type AccountPage = { title: string; layout: 'narrow' | 'wide'; at?: string; isReviewer?: boolean; main: Html }

export const accountPage = ({ title, layout, at, isReviewer = false, main }: AccountPage): string =>
  page({
    title: `${title} – Bottega`,
    sheet: ACCOUNT_SHEET,
    layout,
    header: at === undefined ? null : places(at, isReviewer),
    main,
  })

/** What a page is called and who looks at it, with what can be done there for all of it. */
export const accountHeader = (title: string, email: string, acts: Html): Html =>
  html`<header><div><h1>${title}</h1><p>Signed in as ${email}</p></div>${acts}</header>`

/** A refusal, in words, for somebody in a browser. */
export const refusalPage = (facts: { title: string; detail: string; next: string; requestId: string }): string =>
  accountPage({
    title: facts.title,
    layout: 'narrow',
    main: html`<h1>${facts.title}</h1>
${notice('fault', facts.detail)}
<p>${facts.next}</p>
<p class="hint">Request ${facts.requestId}</p>
${buttonLink(TOKENS_PATH, 'Back to your tokens', 'plain')}`,
  })

/** What a code means, for whoever follows the `type` of a refusal. */
export const problemPage = (facts: { code: string; status: number; title: string; next: string }): string =>
  page({
    title: facts.code,
    sheet: ACCOUNT_SHEET,
    layout: 'wide',
    isIndexed: true,
    main: html`<h1>${facts.code}</h1>
<p>${facts.title} (HTTP ${facts.status}).</p>
<p>${facts.next}</p>`,
  })
