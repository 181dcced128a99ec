/**
 * The second document, Websites, walked clause by clause in its order, over REST and kubectl, on a real host. What is walked is a table
 * (service.ts, payload.ts, states.ts, errors.ts); at its end every code of the document's table was provoked and every rule was shown.
 */
import { existsSync, readFileSync } from 'node:fs'
import { type LlmStandIn, startLlmStandIn } from '../../../../hack/stage/llmstandin.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type SitePlatform, startSitePlatform } from '../../../support/stage/publishing.ts'
import { BRIEFS } from './briefs.ts'
import { ERRORS } from './errors.ts'
import { PAYLOAD } from './payload.ts'
import { SERVICE } from './service.ts'
import { STATES } from './states.ts'
import { type Clause, makeWalk, PARTS, type Walk } from './walk.ts'

const LONG = { timeoutMs: 240_000 }

const CLAUSES: Clause[] = [...SERVICE, ...PAYLOAD, ...STATES, ...BRIEFS, ...ERRORS].sort(
  (a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part),
)

/** The document's table of errors. */
const CODES = [
  'BAD_EXTERNAL_REF',
  'BAD_METADATA',
  'BAD_VIDEO_URL',
  'BAD_SECTION_ORDER',
  'BAD_PAGES',
  'BAD_PRESET',
  'BAD_LANG',
  'BAD_TOKENS',
  'BAD_DOMAIN',
  'DOMAIN_TAKEN',
  'SITE_QUOTA',
  'PUBLISH_QUOTA',
  'NOT_APPROVED',
  'SUBDOMAIN_TAKEN',
  'BAD_SOURCE',
  'BRIEF_TOO_SHORT',
  'ASSIST_QUOTA',
  'LLM_NOT_CONFIGURED',
]

/** Rules that the document has no clause of, and the tests that show them. */
const BEYOND: Record<string, string> = {
  messages: 'test/api/site/form.test.ts',
  provenance: 'test/api/site/drafting.test.ts',
  redirects: 'test/crds/site/content/redirects.test.ts',
  icons: 'test/controllers/io/icons.test.ts',
  choosing: 'test/api/site/choosing.test.ts',
  'review-desk': 'test/api/site/desk.test.ts',
  certificate: 'test/api/site/desk.test.ts',
  'names-as-people-type-them': 'test/crds/site/names/names.test.ts',
  'names-that-lead-to-a-site': 'test/hosts/site/aliases.test.ts',
}

const anchors = (): string[] =>
  [
    ...readFileSync(new URL('../../../../hack/docs/rules/site.md', import.meta.url), 'utf8').matchAll(/^## (.+)$/gm),
  ].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'))

spec('the second document, Websites', (t) => {
  let platform: SitePlatform
  let llm: LlmStandIn
  let w: Walk
  t.before(async () => {
    llm = await startLlmStandIn({ port: 0 })
    platform = await startSitePlatform({ BOTTEGA_LLM_URL: llm.url, BOTTEGA_LLM_MODEL: 'stand-in' })
    w = makeWalk(platform)
  })
  t.after(async () => {
    await platform?.end()
    await llm?.stop()
  })

  for (const { part, says, over, walk } of CLAUSES) t(`${part}: ${says} (${over})`, () => walk(w), LONG)

  t('every code of its table was refused with', () => {
    assert.equal(
      CODES.filter((code) => !w.refused.has(code)),
      [],
    )
  })

  t('every rule of websites is shown by a clause, or by the test that is named for it; no clause names another', () => {
    const named = new Set([...CLAUSES.flatMap(({ rules }) => rules), ...Object.keys(BEYOND)])
    const known = anchors()
    assert.equal(
      known.filter((anchor) => !named.has(anchor)),
      [],
    )
    assert.equal(
      [...named].filter((anchor) => !known.includes(anchor)),
      [],
    )
    const top = new URL('../../../../', import.meta.url)
    assert.equal(
      Object.values(BEYOND).filter((file) => !existsSync(new URL(file, top))),
      [],
    )
  })

  t('every part of it is walked', () => {
    assert.equal(
      PARTS.filter((part) => !CLAUSES.some((clause) => clause.part === part)),
      [],
    )
  })
})
