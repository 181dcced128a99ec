/** The routes of websites as data: what the server serves and what the OpenAPI document says (rules/site.md#over-rest). */

import type { ProblemCode } from '../../crds/kernel/problem.ts'
import { restSchema } from '../../crds/kernel/rest.ts'
import { listedSiteAnswer, releaseAnswer, siteAnswer } from '../../crds/site/answer.ts'
import { brandTokens } from '../../crds/site/content/brand/brand.ts'
import { PHASES } from '../../crds/site/schema.ts'
import type { Scope } from '../auth/scopes.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import { flag, list, object, text, whole } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { deleteSite, updateSite } from './change.ts'
import { putBrandTokens } from './choosing/brand.ts'
import { listTemplates } from './choosing/catalogue.ts'
import { variantRoutes } from './choosing/variants.ts'
import { DRAFT_CODES, draftingRoutes } from './drafting/routes.ts'
import { generateSite } from './generate.ts'
import { attestRoutes } from './live/attest.ts'
import { messageRoutes } from './live/messages/list.ts'
import { rotateRoutes } from './live/rotate.ts'
import { metricsRoutes } from './metrics/metrics.ts'
import { baseRoutes } from './names/base.ts'
import { nameRoutes } from './names/domain.ts'
import type { SiteNeeds } from './needs.ts'
import { publishSite, republishSite, unpublishSite } from './publish.ts'
import { listReleases, sites } from './read.ts'
import { certificateRoutes } from './reviewing/certificate.ts'
import { historyRoutes } from './reviewing/history.ts'
import { queueRoutes } from './reviewing/queue.ts'
import { decideSite, submitReview } from './reviewing/review.ts'
import {
  answered,
  closed,
  decisionBody,
  draftAnswer,
  generateBody,
  pendingAnswer,
  pendingDraft,
  plan,
  updateBody,
  warnings,
} from './shapes.ts'

/** Content with its pictures (rules/platform.md#bodies). */
const BODY_MAX_BYTES = 15_000_000
const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })
const tag = 'Websites'
const one = '/api/website/:id'

const CONTENT_CODES: ProblemCode[] = [
  'BAD_EXTERNAL_REF',
  'BAD_METADATA',
  'BAD_SECTION_ORDER',
  'BAD_PAGES',
  'BAD_REDIRECTS',
  'BAD_LANG',
  'BAD_VIDEO_URL',
  'BAD_PRESET',
]
const templates = {
  scope: { kind: 'public' as const },
  tag,
  method: 'GET' as const,
  description:
    'Templates, layouts, presets, font pairs, languages and sections, each pair with its drawing; a page when asked for HTML.',
  answers: {
    200: {
      description: 'The catalogue.',
      schema: { type: 'object', description: 'The catalogue.' },
      orAs: ['text/html'],
    },
  },
  codes: [],
  handle: listTemplates,
}

export const siteRoutes: Route<SiteNeeds>[] = [
  {
    method: 'POST',
    path: '/api/website/generate',
    summary: 'Create a site',
    description:
      'From content, or from a brief that a language model drafts a content from. A repeat of an external_ref gives the existing site, whatever its content, and asks no model.',
    tag,
    scope: scope('websites:write'),
    body: generateBody,
    bodyMaxBytes: BODY_MAX_BYTES,
    answers: {
      201: answered('Made and rendered.', { draft: draftAnswer, warnings, replayed: flag('False.') }),
      200: answered('Made by an earlier call.', { warnings, replayed: flag('True.') }),
      202: pendingDraft,
    },
    codes: [...CONTENT_CODES, ...DRAFT_CODES, 'BRIEF_TOO_SHORT', 'BRIEF_TOO_LONG', 'NAME_TAKEN', 'SITE_QUOTA'],
    handle: generateSite,
  },
  // before what takes any word for an id
  ...draftingRoutes,
  {
    method: 'GET',
    path: '/api/website',
    summary: 'List sites',
    description: 'Newest first, without their content.',
    tag,
    scope: scope('websites:read'),
    query: {
      status: { type: 'string', description: 'Only sites that stand like this.', enum: [...PHASES] },
      external_ref: { type: 'string', description: 'Exactly this reference.', maxLength: 128 },
      ...pageQuery,
    },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { sites: list('Newest first.', listedSiteAnswer), ...paging }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: sites.list,
  },
  {
    method: 'PUT',
    path: '/api/website/brand-tokens',
    summary: 'Set my brand tokens',
    description: 'For all sites of the account; clamped so that everything can be read. What is live stays as it is.',
    tag,
    scope: scope('websites:write'),
    body: restSchema(brandTokens, { partial: true }),
    answers: {
      200: {
        description: 'Stored.',
        schema: object('Stored.', {
          tokens: restSchema(brandTokens),
          clamped: list(
            'What was moved, and why.',
            object('One token.', {
              token: text('Which.'),
              from: text('As sent.'),
              to: text('As used.'),
              ratio: { type: 'number', description: 'The contrast that is reached.' },
              reason: text('Why.'),
            }),
          ),
          warnings,
        }),
      },
    },
    codes: ['BAD_TOKENS'],
    handle: putBrandTokens,
  },
  ...baseRoutes,
  ...queueRoutes,
  { ...templates, path: '/templates', summary: 'List templates', id: 'listTemplatesShort' },
  { ...templates, path: '/api/website/templates', summary: 'List templates' },
  {
    method: 'GET',
    path: one,
    summary: 'Read a site',
    tag,
    scope: scope('websites:read'),
    answers: { 200: answered('The site.') },
    codes: ['NOT_FOUND'],
    handle: sites.get,
  },
  {
    method: 'DELETE',
    path: one,
    summary: 'Delete a site that is not live',
    tag,
    scope: scope('websites:write'),
    answers: { 204: { description: 'Gone; its name and its place are free.' }, 202: pendingAnswer },
    codes: ['NOT_FOUND', 'SITE_LIVE'],
    handle: deleteSite,
  },
  {
    method: 'POST',
    path: `${one}/update`,
    summary: 'Update a site',
    description: 'What is live stays as it is; the new bytes need a new approval.',
    tag,
    scope: scope('websites:write'),
    body: updateBody,
    bodyMaxBytes: BODY_MAX_BYTES,
    answers: { 200: answered('The site.', { warnings }), 202: pendingAnswer },
    codes: ['NOT_FOUND', 'REF_IMMUTABLE', ...CONTENT_CODES],
    handle: updateSite,
  },
  {
    method: 'POST',
    path: `${one}/submit-review`,
    summary: 'Submit a site for review',
    description:
      'Freezes the digest of what is rendered now. While pictures are under way it is recorded, and takes effect with the last of them.',
    tag,
    scope: scope('websites:write'),
    body: closed('Nothing.', {}),
    answers: { 200: answered('The site.'), 202: pendingAnswer },
    codes: ['NOT_FOUND', 'CHANGED_SINCE'],
    handle: submitReview,
  },
  {
    method: 'POST',
    path: `${one}/decision`,
    summary: 'Decide on a site',
    description: "By a reviewer, about anybody's newest submission but their own.",
    tag,
    scope: scope('websites:write'),
    role: 'reviewer',
    body: decisionBody,
    answers: { 200: answered('The site.'), 202: pendingAnswer },
    codes: ['NOT_FOUND', 'SELF_APPROVAL', 'NOT_SUBMITTED', 'ALREADY_DECIDED', 'CHANGED_SINCE'],
    handle: decideSite,
  },
  {
    method: 'POST',
    path: `${one}/publish`,
    summary: 'Publish a site',
    description: 'Puts the approved bytes live. dry_run: true tells what would be done.',
    tag,
    scope: scope('websites:write'),
    body: closed('How.', { dry_run: flag('Only tell what would be done.') }),
    answers: {
      200: {
        description: 'Live; or the plan.',
        schema: { type: 'object', description: 'Live; or the plan.', properties: { site: siteAnswer, plan } },
      },
      202: pendingAnswer,
    },
    codes: [
      'NOT_FOUND',
      'FAR_OVER_BUDGET',
      'NOT_APPROVED',
      'NO_DOMAIN',
      'DOMAIN_UNPROVEN',
      'DOMAIN_LAPSED',
      'DOMAIN_TAKEN',
      'PUBLISH_QUOTA',
      'CA_LIMIT',
    ],
    handle: publishSite,
  },
  {
    method: 'POST',
    path: `${one}/unpublish`,
    summary: 'Take a site down',
    description: 'Releases are kept.',
    tag,
    scope: scope('websites:write'),
    body: closed('Nothing.', {}),
    answers: { 200: answered('The site.'), 202: pendingAnswer },
    codes: ['NOT_FOUND'],
    handle: unpublishSite,
  },
  {
    method: 'POST',
    path: `${one}/republish`,
    summary: 'Put a kept release live again',
    description: 'Without an upload, and without counting. The newest one when none is named.',
    tag,
    scope: scope('websites:write'),
    body: closed('Which.', { release: { type: 'integer', description: 'Its number.', minimum: 1 } }),
    answers: { 200: answered('The site.'), 202: pendingAnswer },
    codes: [
      'NOT_FOUND',
      'NOT_PUBLISHED',
      'NOT_APPROVED',
      'NO_DOMAIN',
      'DOMAIN_UNPROVEN',
      'DOMAIN_LAPSED',
      'DOMAIN_TAKEN',
      'CA_LIMIT',
    ],
    handle: republishSite,
  },
  ...nameRoutes,
  {
    method: 'GET',
    path: `${one}/releases`,
    summary: 'List the releases of a site',
    tag,
    scope: scope('websites:read'),
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('Newest first.', { releases: list('Newest first.', releaseAnswer), total: whole('How many.') }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listReleases,
  },
  ...attestRoutes,
  ...messageRoutes,
  ...metricsRoutes,
  ...historyRoutes,
  ...certificateRoutes,
  ...variantRoutes,
  ...rotateRoutes,
]
