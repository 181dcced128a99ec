/** The sign-in page of a private app, served on the app's own host. Full HTML, no script; its style is named by its digest. */
import { ACCESS_PATH } from '../../crds/app/lifecycle/route.ts'
import { html } from '../../crds/text/html.ts'
import { hashOf, policyOf, SELF } from '../../crds/text/policy.ts'
import { button, form, hiddenField, passwordField } from '../page/form.ts'
import { page } from '../page/page.ts'
import { makeSheet } from '../page/sheet.ts'

/** Held by the page: the app's own host serves nothing else of ours. */
const SHEET = makeSheet(ACCESS_PATH, 'access')

/** Nothing runs, nothing is loaded, nobody frames it, and its form goes home. */
export const ACCESS_POLICY = policyOf({ styles: [hashOf(SHEET.css)], forms: [SELF] })

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

export const accessPage = ({ slug, next, fault }: AccessFacts): string => {
  const password = { label: 'Password', fault: fault === undefined ? null : FAULTS[fault] }
  return page({
    title: `Sign in – ${slug}`,
    sheet: SHEET,
    holdsSheet: true,
    layout: 'narrow',
    main: html`<h1>${slug}</h1>
<p id="lead">This app is private. Its password opens it on this device.</p>
${form({ action: ACCESS_PATH }, [hiddenField('next', next), passwordField(password), button({ words: 'Open' })])}`,
  })
}
