/** Routes of domains and of access as data (rules/app.md#domains, #plans-of-publishing). */
import {
  appAnswer,
  domainAnswer,
  domainCheckAnswer,
  operationAnswer,
  proofRecordAnswer,
} from '../../../crds/app/answer.ts'
import { SCOPE_MAX, SCOPE_PATTERN } from '../../../crds/app/lifecycle/publishing/access.ts'
import { ACCESSES, DOMAINS_MAX } from '../../../crds/app/schema.ts'
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import type { AnswerDeclaration } from '../../http/route.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { closed, flag, list, object, oneOf, pendingOf, text, textOrNull, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { AppNeeds } from '../needs.ts'
import { getDomainConfig, putDomainConfig } from './domains.ts'
import { addLink, listLinks, revokeLink } from './links.ts'
import { getPolicy, patchPolicy } from './policy.ts'

const tag = 'Apps'
const reads = { tag, scope: { kind: 'scope', scope: 'apps:read' } } as const
const manages = { tag, scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const one = '/api/apps/:id'

const etagHeader = { etag: 'Names what is there now: send it as If-Match with an apply.' }
const planId = text('The plan that was looked at.')

const plannedDomain = named('PlannedDomain', {
  ...domainAnswer,
  properties: {
    ...(domainAnswer.properties as Record<string, JsonSchema>),
    change: oneOf('What the plan does with it.', ['add', 'keep', 'remove']),
    records: list('What to set: one that proves it, and where it has to lead.', proofRecordAnswer),
    checks: list('What the last look found; empty before the first.', domainCheckAnswer),
  },
})

const config = named(
  'DomainConfig',
  object('The domains of an app.', {
    hostnames: list('Its own domains.', text('A full name.')),
    managed: textOrNull("Its name below the host's base domain, which is never taken away."),
    domains: list('All of its hostnames, and how each stands.', domainAnswer),
    host_address: textOrNull('Where its own domains have to lead.'),
    routing: text('managed, or original.'),
    applied_plan_id: textOrNull('The plan that was applied last.'),
    etag: text('As in the header.'),
    hostnames_max: whole('Own domains that one app may have.'),
  }),
)
const policy = named(
  'PublicationPolicy',
  object('Who may see an app.', {
    access: oneOf('Who.', ACCESSES),
    password_set: flag('Whether a password is kept.'),
    application_policy: text('What the app itself asks of visitors.'),
    applied_plan_id: textOrNull('The plan that was applied last.'),
    etag: text('As in the header.'),
  }),
)

const applied = { operation_id: text('Names the operation.'), operation: operationAnswer, app: appAnswer }
const pending = pendingOf('PendingApply', 'Written; it goes on. Poll the address in Location.', {
  operation: operationAnswer,
})

const answered = (name: string, members: Record<string, JsonSchema>): Record<number, AnswerDeclaration> => ({
  200: named(name, {
    description: 'What was planned or seen, or how the apply ended.',
    schema: object('By the step that was asked for.', { ...members, etag: text('As in the header.'), ...applied }),
    headers: etagHeader,
  }),
  202: pending,
})

const accessLink = named(
  'AccessLink',
  object('A link that opens a private app.', {
    id: text('Names the link.'),
    url: textOrNull('The whole of it; null while the app has no address.'),
    path: text('The same on any hostname of the app.'),
    scope: text('The path below which it opens the app.'),
    state: oneOf('Whether it opens the app.', ['good', 'used', 'expired', 'revoked']),
    expires_at: textOrNull('When it ends; null: never by itself.'),
    max_uses: { ...whole('Sessions that it may open; null: as many as come.'), type: ['integer', 'null'] },
    uses: whole('Sessions that it opened.'),
    log: list(
      'The newest of them.',
      named('AccessLinkUse', object('A session.', { at: text('Its first page.'), path: text('Which that was.') })),
    ),
    created_at: text('When it was made.'),
    revoked_at: textOrNull('When it was revoked.'),
  }),
)

const APPLY_CODES: ProblemCode[] = [
  'PRECONDITION_REQUIRED',
  'PRECONDITION_FAILED',
  'IDEMPOTENCY_KEY_REQUIRED',
  'PLAN_STALE',
  'UNKNOWN_PLAN',
]

export const publishingRoutes: Route<AppNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: `${one}/domain-config`,
    summary: 'Read the domains of an app',
    answers: {
      200: {
        description: 'How they stand.',
        schema: object('The domains.', { domain_config: config }),
        headers: etagHeader,
      },
    },
    codes: ['NOT_FOUND'],
    handle: getDomainConfig,
  },
  {
    ...manages,
    method: 'PUT',
    path: `${one}/domain-config`,
    summary: 'Plan, verify or apply the domains of an app',
    description:
      'plan: what would change, and which records to set. verify: each hostname is looked for in the DNS now. apply: the plan, with If-Match and Idempotency-Key, once each hostname is verified; nothing is built or restarted. [] leaves the name below the host alone.',
    body: closed(
      object('Which step.', {
        step: oneOf('What to do.', ['plan', 'verify', 'apply']),
        hostnames: {
          ...list('Its own domains, all of them.', { ...text('A full name, as people type it.'), maxLength: 2_048 }),
          maxItems: DOMAINS_MAX,
        },
        plan_id: planId,
      }),
      ['step'],
    ),
    answers: answered('DomainConfigStep', {
      step: text('The step.'),
      plan_id: planId,
      managed: textOrNull('The name below the host.'),
      verified: flag('Whether all of them are.'),
      hostnames: list('One by one.', plannedDomain),
      builds: flag('Whether anything is built.'),
      restarts: flag('Whether anything is restarted.'),
    }),
    codes: [
      'NOT_FOUND',
      'BAD_DOMAIN',
      'DOMAIN_TAKEN',
      'DOMAIN_UNPROVEN',
      'DOMAIN_LAPSED',
      'DOMAIN_UNVERIFIED',
      ...APPLY_CODES,
    ],
    handle: putDomainConfig,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/publication-policy`,
    summary: 'Read who may see an app',
    answers: {
      200: { description: 'Who.', schema: object('The policy.', { publication_policy: policy }), headers: etagHeader },
    },
    codes: ['NOT_FOUND'],
    handle: getPolicy,
  },
  {
    ...manages,
    method: 'PATCH',
    path: `${one}/publication-policy`,
    summary: 'Plan or apply who may see an app',
    description:
      'Without apply: what would change. With apply: the plan, with If-Match and Idempotency-Key. A private app needs a password that is kept; public access takes neither the login of the app itself away nor its expiry.',
    body: closed(
      object('The policy.', {
        access: oneOf('Who may see it.', ACCESSES),
        password: { ...text('Opens a private app. Kept as a slow hash; never shown.'), minLength: 8, maxLength: 200 },
        apply: flag('Whether the plan is carried out.'),
        plan_id: planId,
      }),
    ),
    answers: answered('PublicationPolicyStep', {
      plan_id: planId,
      changes: object('What would change.', {
        access: object('Who may see it.', { from: text('Now.'), to: text('Then.') }),
        password: oneOf('What becomes of it.', ['kept', 'set', 'none']),
        sessions: oneOf('What becomes of visitors who signed in.', ['kept', 'ended']),
      }),
      warnings: list('What stays as it is.', text('A sentence.')),
      builds: flag('Whether anything is built.'),
      restarts: flag('Whether anything is restarted.'),
    }),
    codes: ['NOT_FOUND', 'PASSWORD_REQUIRED', ...APPLY_CODES],
    handle: patchPolicy,
  },
  {
    ...reads,
    method: 'GET',
    path: `${one}/access-links`,
    summary: 'List the access links of an app',
    query: pageQuery,
    answers: {
      200: {
        description: 'Newest first.',
        schema: object('One page.', { access_links: list('Newest first.', accessLink), ...paging }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listLinks,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/access-links`,
    summary: 'Make an access link',
    description:
      'Opens the private app for whoever holds it, until it expires or is revoked. What only follows the link is not counted; a session is, with its first page.',
    body: closed(
      object('What it opens, and for how long.', {
        expires_at: { ...text('When it ends; never by itself when left out.'), format: 'date-time' },
        max_uses: {
          ...whole('Sessions that it may open; as many as come when left out.'),
          minimum: 1,
          maximum: 100_000,
        },
        scope: {
          ...text('The path below which it opens the app; all of it when left out.'),
          maxLength: SCOPE_MAX,
          pattern: SCOPE_PATTERN,
        },
      }),
    ),
    answers: { 201: { description: 'Made.', schema: object('Made.', { access_link: accessLink }) } },
    codes: ['NOT_FOUND', 'LINK_LIMIT'],
    handle: addLink,
  },
  {
    ...manages,
    method: 'DELETE',
    path: `${one}/access-links/:linkId`,
    summary: 'Revoke an access link',
    description: 'Sessions and WebSockets that it opened end within two seconds.',
    answers: { 204: { description: 'Revoked.' } },
    codes: ['NOT_FOUND'],
    handle: revokeLink,
  },
]
