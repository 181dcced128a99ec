/** The JSON schema of `SiteView`, for the OpenAPI document and the clients made from it. Open: fields may be added. */
import { named } from '../kernel/named.ts'
import { type JsonSchema, restSchema } from '../kernel/rest.ts'
import { NAME_PROOFS, NAME_STATES } from '../names/life.ts'
import { PHASES, spec } from './schema.ts'

const text = (description: string): JsonSchema => ({ type: 'string', description })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const whole = (description: string): JsonSchema => ({ type: 'integer', description })
const object = (description: string, properties: Record<string, JsonSchema>, nullable = false): JsonSchema => ({
  type: nullable ? ['object', 'null'] : 'object',
  description,
  required: Object.keys(properties),
  properties,
})

export const warningAnswer = named(
  'SiteWarning',
  object('A gap or a cost that does not forbid the site.', {
    code: text('What it is, as MISSING_ALT.'),
    pointer: text('Where in the request.'),
    detail: text('The finding.'),
  }),
)
const findingFields = warningAnswer.properties as Record<string, JsonSchema>
warningAnswer.properties = {
  ...findingFields,
  severity: { ...text('Of a draft: how much it matters.'), enum: ['high', 'medium', 'low'] },
}

export const releaseAnswer = named(
  'SiteRelease',
  object('What was live, or is.', {
    number: whole('Counts from 1.'),
    digest: text('Names the bytes.'),
    hostname: text('Under which name.'),
    state: { type: 'string', description: 'live, or kept.', enum: ['live', 'kept'] },
    bytes: whole('All files together.'),
    files: whole('How many.'),
    created_at: text('When it first went live.'),
  }),
)

export const recordAnswer = named(
  'ProofRecord',
  object('A record of the DNS.', {
    type: text('TXT, CNAME, A or AAAA.'),
    name: text('Where it is set.'),
    value: text('What it holds.'),
  }),
)

const domainAnswer = named(
  'SiteDomain',
  object("A name of the site, and whether it is proven to be the account's.", {
    name: text('The subdomain, or the domain.'),
    hostname: text('As it stands in the DNS.'),
    unicode: text('The same in the letters that people type.'),
    state: {
      type: 'string',
      description: 'Where it is in its life.',
      enum: NAME_STATES.filter((one) => one !== 'free'),
    },
    served: { type: 'boolean', description: 'Whether the site may be served under it.' },
    proof: {
      type: ['string', 'null'],
      description: 'What proves it.',
      enum: [...NAME_PROOFS, null],
    },
    records: { type: 'array', description: 'One of these proves it.', items: recordAnswer },
    looked_at: textOrNull('When the record was looked for last.'),
    next_look_at: textOrNull('When it is looked for next; PUT the same domain again to have it looked for now.'),
    seen_at: textOrNull('When the record was seen last.'),
    missing_since: textOrNull('Since when the record is missing; the site is served for three days more.'),
    kept_until: textOrNull('Until when nobody else may have it.'),
    reason: textOrNull('What the last look saw instead of the record.'),
    code: textOrNull('The code that a publish is refused with; null where it is served.'),
    next: textOrNull('What to do.'),
  }),
)

const redirectAnswer = named(
  'SiteRedirect',
  object('A name that leads to the one that the site is live under, with path and query (308).', {
    name: text('The subdomain, or the domain.'),
    hostname: text('As it stands in the DNS.'),
    unicode: text('The same in the letters that people type.'),
    kind: {
      type: 'string',
      description: 'www: with or without www. moved: it was live there before.',
      enum: ['www', 'moved'],
    },
    to: text('Where it leads.'),
    until: textOrNull('Until when; null for as long as it is proven.'),
  }),
)

const review = named(
  'SiteReview',
  object(
    'The newest submission; null before the first.',
    {
      url: text("The reviewer's page."),
      digest: text('The bytes that were frozen.'),
      submitted_at: text('When.'),
      decision: {
        type: ['string', 'null'],
        description: 'What was decided.',
        enum: ['approve', 'request_changes', null],
      },
      decided_by: textOrNull('Which account decided.'),
      decided_at: textOrNull('When.'),
      note: textOrNull('What the reviewer says.'),
    },
    true,
  ),
)

const phase = (description: string, nullable = false): JsonSchema => ({
  type: nullable ? ['string', 'null'] : 'string',
  description,
  enum: [...PHASES, ...(nullable ? [null] : [])],
})

const fields: Record<string, JsonSchema> = {
  id: text('Names the site.'),
  external_ref: textOrNull("The caller's own key."),
  status: phase('How it stands.'),
  pending_status: phase('How an edit stands beside what is live; null when there is none.', true),
  preset: textOrNull('The trade whose words stand under the content.'),
  template: text('The brand in use.'),
  layout: text('The structure.'),
  lang: text('The language of its own words.'),
  url: textOrNull('Where it is live.'),
  preview_url: text('What is rendered now, for whoever has the link.'),
  link_versions: named(
    'SiteLinkVersions',
    object('Which are good: those of a lower version were ended.', {
      preview: whole('Of the link to the preview.'),
      review: whole("Of the link to the reviewer's page."),
      form: whole('Of the address that the contact form posts to.'),
    }),
  ),
  domain: textOrNull('The name that was chosen.'),
  domains: { type: 'array', description: 'How each of its names stands.', items: domainAnswer },
  redirects: { type: 'array', description: 'Names that lead to where it is live.', items: redirectAnswer },
  host: textOrNull('The host that serves it.'),
  digest: textOrNull('Names the bytes that are rendered now; null while pictures are under way.'),
  live_digest: textOrNull('Names the bytes that are live.'),
  preview_digest: textOrNull('Names the bytes that the preview shows; they are final once digest is the same.'),
  pictures: named(
    'SitePictures',
    object('Pictures are shown at once in one width; the others follow.', {
      ready: whole('How many have all their widths.'),
      total: whole('How many there are.'),
      submit_waits: { type: 'boolean', description: 'It was submitted, which takes effect with the last of them.' },
    }),
  ),
  review,
  review_state: {
    type: 'string',
    description: 'How what is rendered now stands in review.',
    enum: ['draft', 'in_review', 'changes_requested', 'approved'],
  },
  release: { type: ['integer', 'null'], description: 'The release that is live.' },
  releases: { type: 'array', description: 'Newest first.', items: releaseAnswer },
  warnings: { type: 'array', description: 'What deserves a look.', items: warningAnswer },
  metadata: { type: 'object', description: 'As it was sent.' },
  created_at: text('When it was created.'),
  updated_at: text('When something last happened to it.'),
  version: whole('Rises with every edit.'),
  stalled: object(
    'Why nothing more happens until a person acts.',
    { code: text('The code that a request would have been refused with.'), detail: text('The rule and the figures.') },
    true,
  ),
  fact_seq: whole('Recorded facts that this view has taken in.'),
}

/** In a list. */
export const listedSiteAnswer = named('ListedSite', object('A site.', fields))

export const siteAnswer = named(
  'Site',
  object('A site.', {
    ...fields,
    content: restSchema(spec.properties.content),
  }),
)
