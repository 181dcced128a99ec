/** Bodies and answers of the routes of sites, as JSON schemas. */
import { named } from '../../crds/kernel/named.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import { textPattern } from '../../crds/kernel/schema.ts'
import { siteAnswer, warningAnswer } from '../../crds/site/answer.ts'
import { draftSchema } from '../../crds/site/content/drafting/proposal.ts'
import { LANGS } from '../../crds/site/content/meta.ts'
import { ASSET_KEY_PATTERN, ASSETS_MAX, HOSTNAME_MAX, LABEL_MAX, spec } from '../../crds/site/schema.ts'
import { flag, list, object, oneOf, pendingOf, text, textOrNull, whole } from '../openapi/schemas.ts'
import { BRIEF_MAX_CHARS, BRIEF_MIN_CHARS } from './drafting/limits.ts'

const NOTE_MAX = 4000

const base64: JsonSchema = {
  type: 'string',
  description: 'The bytes in base64.',
  format: 'base64',
}

const assetsOf = (values: JsonSchema): JsonSchema => ({
  type: 'object',
  description: 'Pictures by key; content names one as asset:KEY, and the key logo is the logo. 10 MB in all.',
  maxProperties: ASSETS_MAX,
  propertyNames: { pattern: ASSET_KEY_PATTERN },
  additionalProperties: values,
})

const briefField: JsonSchema = {
  ...text(
    'Who you are, what you offer, how one reaches you: a language model drafts the content from it, and from nothing else.',
  ),
  minLength: BRIEF_MIN_CHARS,
  maxLength: BRIEF_MAX_CHARS,
  'x-codes': { minLength: 'BRIEF_TOO_SHORT', maxLength: 'BRIEF_TOO_LONG' },
}

type Shaped = JsonSchema & { properties: Record<string, JsonSchema> }

const wholeBody = restSchema(spec) as Shaped
export const generateBody: JsonSchema = {
  ...wholeBody,
  description: 'What is to be shown: content, or a brief that it is drafted from.',
  // one of content and brief, which the handler says with a code of its own
  required: [],
  properties: {
    ...wholeBody.properties,
    brief: briefField,
    lang: { ...oneOf('Language of the brief, and of the site that is made from it.', LANGS), 'x-code': 'BAD_LANG' },
    assets: assetsOf(base64),
  },
}

/** Every section may be left out, or be null to be removed; of meta each field. */
const partialContent = (): JsonSchema => {
  const content = restSchema(spec.properties.content, { partial: true }) as Shaped
  return {
    ...content,
    properties: { ...content.properties, meta: restSchema(spec.properties.content.properties.meta, { partial: true }) },
  }
}
const partial = restSchema(spec, { partial: true }) as Shaped
export const updateBody: JsonSchema = {
  ...partial,
  description: 'The sections given replace theirs, null removes one, the rest stays.',
  properties: {
    ...partial.properties,
    content: partialContent(),
    assets: assetsOf({ ...base64, type: ['string', 'null'] }),
  },
}

export const closed = (
  description: string,
  properties: Record<string, JsonSchema>,
  required: string[] = [],
): JsonSchema => ({
  ...object(description, properties),
  additionalProperties: false,
  ...(required.length > 0 && { required }),
})

export const domainBody: JsonSchema = {
  ...closed('Where the site is to be: one of the two.', {
    subdomain: { ...text("One label below the platform's base domain."), maxLength: LABEL_MAX, 'x-code': 'BAD_DOMAIN' },
    domain: {
      ...text('A full name of your own, which points to the host.'),
      maxLength: HOSTNAME_MAX,
      'x-code': 'BAD_DOMAIN',
    },
  }),
}

export const decisionBody = closed(
  'What the reviewer decides.',
  {
    decision: { ...text('What is decided.'), enum: ['approve', 'request_changes'] },
    note: { ...text('Told to the owner.'), maxLength: NOTE_MAX, pattern: textPattern('block') },
  },
  ['decision'],
)

/** Of a site that was made from a brief. */
export const draftAnswer: JsonSchema = draftSchema

export const warnings = named('SiteWarnings', list('What deserves a look.', warningAnswer))
export const answered = (description: string, more: Record<string, JsonSchema> = {}) => ({
  description,
  schema: object(description, { site: siteAnswer, ...more }),
})
export const pendingAnswer = pendingOf(
  'PendingSite',
  'Written; the verdict is still to come. Poll the address in Location.',
  {
    site: object('The site.', { id: text('Names the site.') }),
  },
)

export const pendingDraft = pendingOf(
  'PendingNewSite',
  'Written; the verdict is still to come. Poll the address in Location.',
  {
    site: object('The site.', { id: text('Names the site.') }),
    draft: draftAnswer,
    warnings,
  },
)

const paths = (description: string): JsonSchema => list(description, text('A path.'))
export const plan = named(
  'PublishPlan',
  object('What a publish would do; nothing is changed or counted.', {
    ok: flag('Whether a publish would be taken now.'),
    problems: list(
      'What stands in its way.',
      object('One refusal.', { code: text('Its code.'), detail: text('Why.') }),
    ),
    digest: { type: ['string', 'null'], description: 'What would be live.' },
    live_digest: { type: ['string', 'null'], description: 'What is live.' },
    unchanged: flag('Both are the same: nothing would happen.'),
    files: object('How the files differ from those that are live.', {
      added: paths('New.'),
      changed: paths('With other bytes.'),
      removed: paths('Gone.'),
      unchanged: whole('How many are the same.'),
    }),
    bytes: whole('Of files that are not live already.'),
    host: { type: ['string', 'null'], description: 'Where to.' },
    domain: { type: ['string', 'null'], description: 'Under which name.' },
    queue_position: whole('1 is next.'),
    counts: flag('Whether it takes a place under the cap of the day.'),
    quota: object('The cap of the day.', {
      limit: whole('The most.'),
      used: whole('How many are used.'),
      left: whole('How many are left.'),
      resets_at: text('When it turns over.'),
    }),
    certificates: list(
      'What the certificate authority of the host would be asked for; empty before there is a host.',
      object('A registered domain.', {
        registered_domain: text('By which certificates are counted.'),
        new_names: whole('Names of the site below it that need a new certificate.'),
        used: whole('New certificates within seven days.'),
        limit: {
          type: ['integer', 'null'],
          description: 'The most within seven days; null for as many as are asked for.',
        },
        free_at: textOrNull('When there is room, where there is none.'),
      }),
    ),
  }),
)
