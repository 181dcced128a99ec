import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { SITE_LINKS } from '../../../../crds/site/links.ts'
import type { SiteName } from '../../../../crds/site/names/names.ts'
import { renderRequest } from '../../../../crds/site/publishing/rendering.ts'
import type { Warning } from '../../../../crds/site/render/input.ts'
import { type SiteResource, type SiteSpec, spec as specSchema } from '../../../../crds/site/schema.ts'
import type {
  PublishTurn,
  Rendering,
  ReviewDecision,
  SiteRelease,
  SiteWorld,
  Submission,
  Switch,
} from '../../../../crds/site/world.ts'
import { newestLinks, recordedLinks } from '../../../../crds/values/links.ts'

/** Sites and their worlds for tests of the plan; one change per call. */

export const NOW = '2026-11-22T10:00:00.000Z'

export const site = (spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): SiteResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Site',
  metadata: {
    name: 'site-one',
    namespace: 'test',
    uid: 'uid-one',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-22T09:00:00Z',
    ...metadata,
  },
  spec: withDefaults<SiteSpec>(specSchema, {
    account: 'demo',
    content: { meta: { companyName: 'Voss' }, hero: { title: 'Bowls' } },
    ...spec,
  }),
})

export const HOST = { name: 'h1', baseDomain: 'sites.test', httpsPort: 443, ready: true }

export const world = (change: Partial<SiteWorld> = {}): SiteWorld => ({
  at: NOW,
  account: { name: 'demo', templateLock: null },
  brand: null,
  hasQuota: true,
  names: [],
  base: null,
  hosts: [HOST],
  home: null,
  renderings: [],
  firsts: [],
  pictures: {},
  generated: true,
  removed: false,
  submissions: [],
  decisions: [],
  openings: [],
  dueNotice: null,
  switches: [],
  told: [],
  asks: [],
  reservedDigests: [],
  look: null,
  turn: null,
  words: { isKept: true, signature: null, others: [] },
  testDomains: true,
  factSeq: 0,
  links: recordedLinks(SITE_LINKS, []),
  linkVersions: newestLinks(SITE_LINKS),
  previewUrl: 'http://pages.test/preview/token/',
  reviewUrl: 'http://pages.test/review/token',
  formUrl: 'http://pages.test/s/token',
  ...change,
})

/** The rendering that fits a site in its world; `digest` is its name. */
export const rendering = (
  object: SiteResource,
  of: SiteWorld,
  digest: string,
  change: Partial<Rendering> = {},
): Rendering => {
  const request = renderRequest(object.spec, of)
  if (!request) throw new Error('there is nothing to render')
  const { input, name, hostname, template } = request
  const warnings: Warning[] = []
  const made = { input, digest, neutral: `n-${digest}`, name, hostname, template, manifest: `m-${digest}` }
  return { ...made, files: 3, bytes: 999, warnings, at: NOW, ...change }
}

const RECORDS: SiteName['records'] = [{ type: 'TXT', name: '_bottega-challenge.shop.example', value: 'token' }]

/** A settled name: a label is the platform's, a domain is proven by its TXT record. */
export const siteName = (name: string, change: Partial<SiteName> = {}): SiteName => ({
  name,
  settled: true,
  state: 'verified',
  proof: name.includes('.') ? 'txt' : 'platform',
  changedAt: NOW,
  seenAt: null,
  missingSince: null,
  until: null,
  lookedAt: null,
  dueAt: null,
  reason: null,
  routed: false,
  spare: false,
  checks: null,
  records: name.includes('.') ? RECORDS : [],
  ...change,
})

const namesOf = ({ spec: { subdomain } }: SiteResource) => (subdomain === undefined ? [] : [siteName(subdomain)])

/** Rendered, with its name and a home. */
export const homed = (object: SiteResource, digest = 'd1', change: Partial<SiteWorld> = {}): SiteWorld => {
  const base = world({ names: namesOf(object), home: 'h1', ...change })
  return { ...base, renderings: [rendering(object, base, digest), ...base.renderings] }
}

export const submission = (seq: number, digest = 'd1', neutral = `n-${digest}`): Submission => ({
  seq,
  at: NOW,
  digest,
  neutral,
  by: 'demo',
})
export const decision = (
  seq: number,
  submitted: number,
  word: ReviewDecision['decision'] = 'approve',
): ReviewDecision => ({
  seq,
  at: NOW,
  submission: submitted,
  decision: word,
  note: '',
  by: 'reviewer',
})
export const approved = { submissions: [submission(1)], decisions: [decision(2, 1)] }

export const release = (number: number, digest = `d${number}`, hostname = 'shop.sites.test'): SiteRelease => ({
  release: number,
  digest,
  neutral: `n-${digest}`,
  name: 'shop',
  hostname,
  host: 'h1',
  bytes: 999,
  files: 3,
})
export const switchTo = (k: number, to: SiteRelease | null): Switch => ({ k, at: NOW, to })
export const turn = (change: Partial<PublishTurn> = {}): PublishTurn => ({
  place: 1,
  host: 'h1',
  stage: 'waiting',
  digest: 'd1',
  since: NOW,
  ...change,
})
