/**
 * The Site: what is to be shown, where, and whether it is to be live. Names are those of REST in camelCase
 * (rules/platform.md#names-of-fields). What was submitted, decided and published are facts; this is desire. Source:
 * rules/site.md#the-site.
 */

import { accountField, externalRefField, metadataField } from '../kernel/fields.ts'
import { COMMON_STATUS } from '../kernel/kind.ts'
import type { Resource } from '../kernel/object.ts'
import type { Infer, ObjectSchema } from '../kernel/schema.ts'
import { content } from './content/content.ts'
import { PRESET_VERSION, PRESETS } from './content/presets/presets.ts'
import { SITE_LINK_FIELDS } from './links.ts'

/** The kind's name, for what its kind.ts rests on itself. */
export const SITE_KIND = 'Site'

/** What a caller may send (rules/site.md#pictures). */
export const ASSETS_MAX = 40
export const ASSETS_MAX_BYTES = 10_000_000
/** Assets in the resource: those that were sent, and one for each picture that came inside the content. */
export const ASSET_REFS_MAX = 400
/** UTF-8 JSON of `spec.content`: etcd is small, and a page is read by people. */
export const CONTENT_MAX_BYTES = 262_144
export const HOSTNAME_MAX = 253
export const LABEL_MAX = 63
export const ENDED_REDIRECTS_MAX = 100
export const PHASES = [
  'draft',
  'in_review',
  'changes_requested',
  'approved',
  'publishing',
  'live',
  'unpublished',
] as const

export const SHA256_PATTERN = '^[0-9a-f]{64}$'
export const ASSET_KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
export const LABEL_PATTERN = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'

const sha256 = { type: 'string', minLength: 64, maxLength: 64, pattern: SHA256_PATTERN } as const

export const spec = {
  type: 'object',
  description: 'What is to be shown, where, and whether it is to be live.',
  required: ['account', 'content'],
  'x-cel': [
    {
      rule: '!(has(self.subdomain) && has(self.domain))',
      message: 'BAD_DOMAIN: a site has either a subdomain or a domain of its own',
      fieldPath: '.domain',
    },
  ],
  properties: {
    account: accountField,
    externalRef: externalRefField,
    metadata: metadataField,
    preset: {
      type: 'string',
      description: 'A trade, whose sections, order and words stand under those of the content.',
      enum: PRESETS,
      'x-code': 'BAD_PRESET',
    },
    presetVersion: {
      type: 'integer',
      description: 'Which version of the preset; fixed when the site is made, so that no later one changes it.',
      minimum: 1,
      default: PRESET_VERSION,
      'x-rest': 'hidden',
    },
    content,
    assets: {
      type: 'map',
      description: 'Key → sha256 of a picture in the blob store; content names it as asset:KEY. Uploaded over REST.',
      maxProperties: ASSET_REFS_MAX,
      'x-rest': 'hidden',
      values: { ...sha256, description: 'Names the bytes.' },
    },
    subdomain: {
      type: 'string',
      description: "One label below the base domain of the site's host.",
      minLength: 1,
      maxLength: LABEL_MAX,
      pattern: LABEL_PATTERN,
      'x-code': 'BAD_DOMAIN',
      'x-rest': 'hidden',
    },
    domain: {
      type: 'string',
      description: "A full name of the owner's own, which points to the site's host.",
      minLength: 4,
      maxLength: HOSTNAME_MAX,
      pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
      'x-code': 'BAD_DOMAIN',
      'x-rest': 'hidden',
    },
    endedRedirects: {
      type: 'array',
      description: 'Names that the site was live under before, and that lead to it no longer; others do for 90 days.',
      maxItems: ENDED_REDIRECTS_MAX,
      'x-list': 'set',
      'x-rest': 'hidden',
      items: { type: 'string', description: 'A subdomain, or a full name.', minLength: 1, maxLength: HOSTNAME_MAX },
    },
    submit: {
      type: 'boolean',
      description: 'True submits for review what is rendered, and again after each change.',
      default: false,
      'x-rest': 'hidden',
    },
    publish: {
      type: 'boolean',
      description: 'True puts the approved bytes live; false takes the site down. Releases are kept.',
      default: false,
      'x-rest': 'hidden',
    },
    linkVersions: SITE_LINK_FIELDS.spec,
    digest: {
      ...sha256,
      description: 'Which approved bytes are to be live; what is rendered now when left out.',
      'x-rest': 'hidden',
    },
  },
} as const satisfies ObjectSchema

const digest = { type: 'string', maxLength: 64 } as const

export const status = {
  type: 'object',
  description: 'What has become of the site. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: { type: 'string', description: `One word for display: ${PHASES.join(', ')}.`, maxLength: 32 },
    review: { type: 'string', description: 'How what is rendered now stands in review.', maxLength: 32 },
    url: { type: 'string', description: 'Where it is live.', maxLength: 2048 },
    release: { type: 'integer', description: 'The release that is live.', minimum: 0 },
    digest: { ...digest, description: 'Names the bytes that are rendered now; an approval binds them.' },
    liveDigest: { ...digest, description: 'Names the bytes that are live.' },
    hostname: { type: 'string', description: 'The name that it is, or will be, live under.', maxLength: HOSTNAME_MAX },
    host: { type: 'string', description: 'The Host that serves it.', maxLength: HOSTNAME_MAX },
    pictures: {
      type: 'string',
      description: 'How many of its pictures have all their widths, of how many, as 3/7.',
      maxLength: 16,
    },
    linkVersions: SITE_LINK_FIELDS.status,
    domainState: {
      type: 'string',
      description: 'How the name that is asked for stands: asked, verified, missing, lapsed.',
      maxLength: 32,
    },
    domainRecords: {
      type: 'array',
      description: "DNS records of which one proves the domain to be the account's.",
      maxItems: 4,
      'x-list': 'atomic',
      items: { type: 'string', description: 'Type, name and value.', maxLength: 1024 },
    },
    redirects: {
      type: 'array',
      description: 'Names that lead to the one that it is live under.',
      maxItems: ENDED_REDIRECTS_MAX,
      'x-list': 'atomic',
      items: { type: 'string', description: 'A full name.', maxLength: HOSTNAME_MAX },
    },
  },
} as const satisfies ObjectSchema

export type SiteSpec = Infer<typeof spec>
export type SiteStatus = Infer<typeof status>
export type SitePhase = (typeof PHASES)[number]

export type SiteResource = Resource<SiteSpec, SiteStatus>
