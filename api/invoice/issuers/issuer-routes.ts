/** The routes of issuers, of their logos, and of the profile, as data (rules/invoice.md#issuers). */

import { LOGO_BYTES_MAX } from '../../../crds/files/logo.ts'
import { issuerAnswer, issuerChange, newIssuer } from '../../../crds/invoice/order/issuer.ts'
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { type JsonSchema, restSchema } from '../../../crds/kernel/rest.ts'
import type { Scope } from '../../auth/scopes.ts'
import { pageQuery, paging } from '../../openapi/paging.ts'
import { list, object, operationId, POLL_HEADERS, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { IssuerNeeds } from '../needs.ts'
import { createIssuer, deleteIssuer, getIssuer, getProfile, listIssuers, patchIssuer, patchProfile } from './issuers.ts'
import { deleteLogo, getLogo, putLogo } from './logo.ts'

const all = '/api/invoices/issuers'
const one = `${all}/:id`
const common = { tag: 'Issuers' } as const
const scope = (name: Scope) => ({ kind: 'scope' as const, scope: name })

const wrapped = named('OneIssuer', {
  description: 'The issuer.',
  schema: object('The issuer.', { issuer: issuerAnswer }),
})
const profile = named('SellerProfile', {
  description: 'The profile.',
  schema: object('The profile.', { profile: issuerAnswer }),
})
const pending = named('PendingLogo', {
  description: 'Stored; the picture is still to be looked into. Poll the address in Location.',
  schema: object('The issuer.', { operation_id: operationId, issuer: issuerAnswer }),
  headers: POLL_HEADERS,
})
const picture = {
  description: 'A PNG, or a JPEG of what would be a large one.',
  contentType: 'image/png',
  orAs: ['image/jpeg'],
}

const SELLER = {
  legal_name: 'Studio Uno S.L.',
  tax_id: 'ESB12345674',
  address: 'Calle Mayor 1\n28013 Madrid',
  country: 'ES',
  email: 'billing@uno.test',
  iban: 'ES91 2100 0418 4502 0005 1332',
  time_zone: 'Europe/Madrid',
}

/** Spaces are taken out of an IBAN, so the request may hold some. */
const spaced = (body: JsonSchema): JsonSchema => {
  const properties = body.properties as Record<string, JsonSchema>
  const { pattern: _, ...iban } = properties.iban ?? {}
  return {
    ...body,
    properties: { ...properties, iban: { ...iban, pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9 ]{10,40}$', maxLength: 44 } },
  }
}
/** What has a default, or must be one thing or the other, is not emptied by null. */
const never = ['next_number', 'archived']
const partial = (schema: typeof newIssuer | typeof issuerChange): JsonSchema => {
  const body = spaced(restSchema(schema, { partial: true }))
  const properties = Object.entries(body.properties as Record<string, JsonSchema>).map(([name, child]) => [
    name,
    never.includes(name) ? { ...child, type: (child.type as string[])[0] } : child,
  ])
  return { ...body, properties: Object.fromEntries(properties) }
}

const FIELD_CODES: ProblemCode[] = ['BAD_PREFIX', 'PREFIX_TAKEN', 'NEXT_NUMBER_FIXED']

const crud: Route<IssuerNeeds>[] = [
  {
    ...common,
    method: 'GET',
    path: all,
    summary: 'List issuers',
    description: 'The default one first, then as they were made.',
    scope: scope('invoices:read'),
    query: {
      archived: { type: 'string', description: 'true: archived ones too.', enum: ['true', 'false'] },
      ...pageQuery,
    },
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { issuers: list('The default one first.', issuerAnswer), ...paging }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: listIssuers,
  },
  {
    ...common,
    method: 'POST',
    path: all,
    summary: 'Make an issuer',
    description: 'With a register of its own. Without number_prefix it is given the first that is free.',
    scope: scope('invoices:write'),
    body: withExamples(spaced(restSchema(newIssuer)), {}, { ...SELLER, number_prefix: 'UNO', next_number: 42 }),
    answers: { 201: wrapped },
    codes: [...FIELD_CODES, 'ISSUER_LIMIT'],
    handle: createIssuer,
  },
  {
    ...common,
    method: 'GET',
    path: one,
    summary: 'Read an issuer',
    scope: scope('invoices:read'),
    answers: { 200: wrapped },
    codes: ['NOT_FOUND'],
    handle: getIssuer,
  },
  {
    ...common,
    method: 'PATCH',
    path: one,
    summary: 'Change an issuer',
    description: 'Frozen onto each invoice at send; what was sent stays as it was. null empties a field.',
    scope: scope('invoices:write'),
    body: withExamples(partial(issuerChange), { footer: 'Thank you', iban: null }, { archived: true }),
    answers: { 200: wrapped },
    codes: ['NOT_FOUND', ...FIELD_CODES, 'PREFIX_IN_USE', 'ISSUER_DEFAULT'],
    handle: patchIssuer,
  },
  {
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Archive an issuer',
    description: 'It invoices no more. Its documents, its register and its prefix stay; archived: false takes it back.',
    scope: scope('invoices:write'),
    answers: { 204: { description: 'Archived.' } },
    codes: ['NOT_FOUND', 'ISSUER_DEFAULT'],
    handle: deleteIssuer,
  },
]

const logo: Route<IssuerNeeds>[] = [
  {
    ...common,
    method: 'POST',
    path: `${one}/logo`,
    summary: 'Set the logo of an issuer',
    description: 'The bytes of one still PNG, JPEG or WebP picture. It is made anew for documents, on white.',
    scope: scope('account:profile'),
    bytesTypes: ['image/*'],
    bodyMaxBytes: LOGO_BYTES_MAX,
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND', 'BAD_LOGO', 'BODY_TOO_LARGE'],
    handle: putLogo,
  },
  {
    ...common,
    method: 'GET',
    path: `${one}/logo`,
    summary: 'The logo of an issuer',
    scope: scope('account:profile'),
    answers: { 200: picture },
    codes: ['NOT_FOUND'],
    handle: getLogo,
  },
  {
    ...common,
    method: 'DELETE',
    path: `${one}/logo`,
    summary: 'Take the logo of an issuer away',
    scope: scope('account:profile'),
    answers: { 204: { description: 'Gone; what was sent keeps it.' } },
    codes: ['NOT_FOUND'],
    handle: deleteLogo,
  },
]

const settings: Route<IssuerNeeds>[] = [
  {
    ...common,
    method: 'GET',
    path: '/api/invoices/settings/profile',
    summary: 'Read the seller profile',
    description: 'The default issuer.',
    scope: scope('account:profile'),
    answers: { 200: profile },
    codes: [],
    handle: getProfile,
  },
  {
    ...common,
    method: 'PATCH',
    path: '/api/invoices/settings/profile',
    summary: 'Change the seller profile',
    description: 'Frozen onto each invoice at send; what was sent stays as it was. null empties a field.',
    scope: scope('account:profile'),
    body: withExamples(partial(newIssuer), SELLER, { footer: null }),
    answers: { 200: profile },
    codes: [...FIELD_CODES, 'PREFIX_IN_USE'],
    handle: patchProfile,
  },
]

/** They stand before the routes of one invoice, whose id would else be taken for `issuers`. */
export const issuerRoutes: Route<IssuerNeeds>[] = [...crud, ...logo, ...settings]
