/** The sign-in page of a private app, served on the app's own host. Full HTML, no script; its style is named by its digest. */
import { ACCESS_PATH } from '../../../../crds/app/lifecycle/route.ts'
import { html } from '../../../../crds/text/html.ts'
import { hashOf, policyOf, SELF } from '../../../../crds/text/policy.ts'
import { button, form, hiddenField, passwordField } from '../../../page/form.ts'
import type { PageLang } from '../../../page/lang.ts'
import { page } from '../../../page/page.ts'
import { makeSheet } from '../../../page/sheet.ts'
import { GATE_WORDS } from './words.ts'

/** Held by the page: the app's own host serves nothing else of ours. */
const SHEET = makeSheet(ACCESS_PATH, 'access')

/** Nothing runs, nothing is loaded, nobody frames it, and its form goes home. */
export const ACCESS_POLICY = policyOf({ styles: [hashOf(SHEET.css)], forms: [SELF] })

export type AccessFacts = {
  lang: PageLang
  /** The name of the app, as in its address. */
  slug: string
  /** A path on the app's host to go to afterwards. */
  next: string
  /** `lost`: a link that opens nothing any more. */
  fault?: 'wrong' | 'lost' | { waitSeconds: number }
}

const faultOf = ({ lang, fault }: AccessFacts): string | null => {
  const words = GATE_WORDS[lang]
  if (fault === undefined || fault === 'lost') return null
  return fault === 'wrong' ? words.wrong : words.tooMany(fault.waitSeconds)
}

export const accessPage = (facts: AccessFacts): string => {
  const { lang, slug, next, fault } = facts
  const words = GATE_WORDS[lang]
  const lost = fault === 'lost' && html`<p role="alert"><strong>${words.lost}</strong></p><p>${words.lostLead}</p>`
  return page({
    lang,
    title: words.title(slug),
    sheet: SHEET,
    holdsSheet: true,
    layout: 'narrow',
    main: html`<h1>${slug}</h1>
${lost}
<p id="lead">${words.lead}</p>
${form({ action: ACCESS_PATH }, [hiddenField('next', next), passwordField({ label: words.password, fault: faultOf(facts) }), button({ words: words.open })])}`,
  })
}
