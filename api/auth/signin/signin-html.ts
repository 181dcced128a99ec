/** The pages of signing in: ask for a link, look into the mailbox, confirm. */
import { html, safeUrl } from '../../../crds/text/html.ts'
import { accountPage } from '../../page/frame.ts'

export type SigninFacts = {
  /** A path of ours to go to afterwards. */
  next: string
  /** Name of the provider of OpenID Connect; null when none is configured. */
  provider: string | null
  /** What was wrong with the last try. */
  fault?: string
  /** What was entered then. */
  email?: string
}

/** Asks for the address. The form posts `email` and `next` to `/signin`. */
export const signinPage = ({ next, provider, fault, email = '' }: SigninFacts): string =>
  accountPage(
    'Sign in',
    html`<main class="narrow">
<h1>Sign in</h1>
<p id="lead">We send a link to your e-mail address. There is no password.</p>
${fault !== undefined && html`<p class="fault" id="fault" role="alert">${fault}</p>`}
<form method="post" action="/signin">
<input type="hidden" name="next" value="${next}">
<div class="field">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" required autocomplete="email" autocapitalize="none" spellcheck="false" maxlength="254" value="${email}" aria-describedby="${fault === undefined ? 'lead' : 'lead fault'}"${fault !== undefined && html` aria-invalid="true"`}>
</div>
<button type="submit">Send me a link</button>
</form>
${provider !== null && html`<p class="or">or</p><p><a class="button plain" href="${safeUrl(`/signin/oidc?next=${encodeURIComponent(next)}`)}">Sign in with ${provider}</a></p>`}
</main>`,
  )

/** The same for every address, known or not. */
export const sentPage = (minutes: number): string =>
  accountPage(
    'Look into your mailbox',
    html`<main class="narrow">
<h1>Look into your mailbox</h1>
<p role="status">If the address belongs to an account, a link is on its way to it. The link works once, for ${minutes} minutes.</p>
<p>Nothing came? Look into the spam folder, or <a href="/signin">ask for another link</a>.</p>
</main>`,
  )

/** What the mailed link opens. Only the form signs in: programs that look at links before people do change nothing. */
export const confirmPage = (facts: { email: string }): string =>
  accountPage(
    'Sign in',
    html`<main class="narrow">
<h1>Sign in</h1>
<p>You are about to sign in as <strong>${facts.email}</strong>.</p>
<form method="post">
<button type="submit">Sign in</button>
</form>
<p class="hint">Not your address? Close this page.</p>
</main>`,
  )

/** The link, or the visit to the provider, led to nothing. */
export const failedPage = (facts: { title: string; detail: string }): string =>
  accountPage(
    facts.title,
    html`<main class="narrow">
<h1>${facts.title}</h1>
<p role="alert">${facts.detail}</p>
<p><a class="button" href="/signin">Ask for a new link</a></p>
</main>`,
  )
