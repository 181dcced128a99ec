/** The pages of signing in: ask for a link, look into the mailbox, confirm. */
import { html } from '../../../crds/text/html.ts'
import { accountPage } from '../../page/account.ts'
import { button, buttonLink, form, hiddenField, inputField, notice } from '../../page/form.ts'

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
export const signinPage = ({ next, provider, fault, email = '' }: SigninFacts): string => {
  const address = {
    id: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'email',
    isVerbatim: true,
    maxLength: 254,
    value: email,
    about: 'lead',
    fault: fault ?? null,
  } as const
  const elsewhere =
    provider !== null &&
    html`<p class="or">or</p>
${buttonLink(`/signin/oidc?next=${encodeURIComponent(next)}`, `Sign in with ${provider}`, 'plain')}`
  return accountPage({
    title: 'Sign in',
    layout: 'narrow',
    main: html`<h1>Sign in</h1>
<p id="lead">We send a link to your e-mail address. There is no password.</p>
${form({ action: '/signin' }, [hiddenField('next', next), inputField(address), button({ words: 'Send me a link' })])}
${elsewhere}`,
  })
}

/** The same for every address, known or not. */
export const sentPage = (minutes: number): string =>
  accountPage({
    title: 'Look into your mailbox',
    layout: 'narrow',
    main: html`<h1>Look into your mailbox</h1>
<p role="status">If the address belongs to an account, a link is on its way to it. The link works once, for ${minutes} minutes.</p>
<p>Nothing came? Look into the spam folder, or <a href="/signin">ask for another link</a>.</p>`,
  })

/** What the mailed link opens. Only the form signs in: programs that look at links before people do change nothing. */
export const confirmPage = (facts: { email: string }): string =>
  accountPage({
    title: 'Sign in',
    layout: 'narrow',
    main: html`<h1>Sign in</h1>
<p>You are about to sign in as <strong>${facts.email}</strong>.</p>
${form({}, button({ words: 'Sign in' }))}
<p class="hint">Not your address? Close this page.</p>`,
  })

/** The link, or the visit to the provider, led to nothing. */
export const failedPage = (facts: { title: string; detail: string }): string =>
  accountPage({
    title: facts.title,
    layout: 'narrow',
    main: html`<h1>${facts.title}</h1>
${notice('fault', facts.detail)}
${buttonLink('/signin', 'Ask for a new link')}`,
  })
