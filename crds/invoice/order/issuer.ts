/**
 * Issuers: the identities that an account invoices under, each with a register of its own. The default one is the single
 * profile of an account that never made another (rules/invoice.md#issuers).
 */
import { named } from '../../kernel/named.ts'
import { type JsonSchema, restSchema } from '../../kernel/rest.ts'
import type { ObjectSchema } from '../../kernel/schema.ts'
import { DEFAULT_ISSUER } from '../schema.ts'
import type { Issuer } from '../world.ts'
import type { FrozenLogo } from './frozen.ts'
import { formatNumber, issuedOn, seriesOf } from './number.ts'
import { type IssuerProfile, NEXT_NUMBER_MAX, profile } from './profile.ts'

/** Archived ones count, because their prefixes stay taken. */
export const ISSUERS_MAX = 100
export const DEFAULT_ZONE = 'UTC'
export const DEFAULT_PREFIX = 'INV'

export type Logo = FrozenLogo
/** What became of the last upload. */
export type LogoUpload = { state: 'pending' | 'taken' | 'refused'; reason: string | null }

/** What is stored. Instants are ISO; null of one that was never written. */
export type IssuerRow = {
  id: string
  profile: IssuerProfile
  logo: Logo | null
  upload: LogoUpload | null
  createdAt: string | null
  updatedAt: string | null
  archivedAt: string | null
}

type Owner = { name: string; email: string }

/** The identity that is used: what the profile leaves open comes from the account itself. */
export const issuerOf = (owner: Owner, row: Pick<IssuerRow, 'id' | 'profile' | 'logo'>): Issuer => {
  const { id, profile: stored, logo } = row
  return {
    id,
    legalName: stored.legalName ?? (owner.name === '' ? owner.email : owner.name),
    taxId: stored.taxId ?? '',
    address: stored.address ?? '',
    city: stored.city ?? '',
    postcode: stored.postcode ?? '',
    country: stored.country ?? '',
    email: stored.email ?? owner.email,
    iban: stored.iban ?? '',
    footer: stored.footer ?? '',
    timeZone: stored.timeZone ?? DEFAULT_ZONE,
    numberPrefix: stored.numberPrefix ?? DEFAULT_PREFIX,
    logo,
  }
}

/**
 * The issuer of an invoice, or null: there is no such issuer of the account. One that is archived is found for what has its
 * number already, whose dates and credit notes need it, and for nothing else.
 */
export const issuerFor = (
  owner: Owner,
  id: string,
  held: { profile: IssuerProfile; logo: Logo | null; archived: boolean } | null,
  isNumbered: boolean,
): Issuer | null => {
  if (held === null) return id === DEFAULT_ISSUER ? issuerOf(owner, { id, profile: {}, logo: null }) : null
  return held.archived && !isNumbered ? null : issuerOf(owner, { id, ...held })
}

const KINDS = ['invoice', 'credit_note'] as const

/** The registers of an issuer at an instant: ids of its series, that of its invoices first, and what follows the prefix. */
export const yearOf = (ref: { account: string; id: string }, timeZone: string, now: Date) => {
  const day = issuedOn(now, timeZone)
  const base = { account: ref.account, issuerId: ref.id, prefix: '', test: false, issuedOn: day }
  const series = KINDS.map((kind) => seriesOf({ ...base, kind }).id)
  return { series, infix: formatNumber('', Number(day.slice(0, 4)), 1).slice(0, -'0001'.length) }
}

/** `INV2`, `INV3`, …: the first that none of these has. */
export const freePrefix = (taken: readonly string[]): string => {
  for (let n = 2; ; n++) {
    const prefix = `${DEFAULT_PREFIX}${n}`
    if (!taken.includes(prefix)) return prefix
  }
}

const nextNumber = {
  type: 'integer',
  description:
    'The next number of the register, for who comes from another system: forward only, and only before the first number of the year.',
  minimum: 1,
  maximum: NEXT_NUMBER_MAX,
} as const

const archived = {
  type: 'boolean',
  description: 'True: invoices no more; its documents and its register stay. false takes that back.',
} as const

/** What a caller sends to make an issuer. */
export const newIssuer = {
  ...profile,
  description: 'An issuer.',
  properties: { ...profile.properties, nextNumber },
} as const satisfies ObjectSchema

/** What a caller sends to change one. */
export const issuerChange = {
  ...profile,
  description: 'What is to change; null empties a field.',
  properties: { ...profile.properties, nextNumber, archived },
} as const satisfies ObjectSchema

export type IssuerView = {
  id: string
  is_default: boolean
  legal_name: string
  tax_id: string | null
  address: string | null
  city: string | null
  postcode: string | null
  country: string | null
  email: string
  iban: string | null
  footer: string | null
  time_zone: string
  number_prefix: string
  next_number: number
  logo: Logo | null
  logo_upload: LogoUpload | null
  archived: boolean
  archived_at: string | null
  created_at: string | null
  updated_at: string | null
}

const orNull = (text: string): string | null => (text === '' ? null : text)

/** @param last the last number of its register of this year; undefined before the first */
export const viewIssuer = (owner: Owner, row: IssuerRow, last: number | undefined): IssuerView => {
  const issuer = issuerOf(owner, row)
  return {
    id: row.id,
    is_default: row.id === DEFAULT_ISSUER,
    legal_name: issuer.legalName,
    tax_id: orNull(issuer.taxId),
    address: orNull(issuer.address),
    city: orNull(issuer.city),
    postcode: orNull(issuer.postcode),
    country: orNull(issuer.country),
    email: issuer.email,
    iban: orNull(issuer.iban),
    footer: orNull(issuer.footer),
    time_zone: issuer.timeZone,
    number_prefix: issuer.numberPrefix,
    next_number: (last ?? 0) + 1,
    logo: issuer.logo,
    // A picture that was taken is the logo, or was until it was taken away.
    logo_upload: row.upload?.state === 'taken' ? null : row.upload,
    archived: row.archivedAt !== null,
    archived_at: row.archivedAt,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

const asked = restSchema(newIssuer).properties as Record<string, JsonSchema>
const same = (name: string, isNullable = false): JsonSchema => {
  const { type, description } = asked[name] ?? {}
  return { type: isNullable ? [type, 'null'] : type, description }
}
const instant = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const text = (description: string): JsonSchema => ({ type: 'string', description })
const pixels = (description: string): JsonSchema => ({ type: 'integer', description })

/** The JSON schema of `IssuerView`. Open: fields may be added. */
export const issuerAnswer: JsonSchema = named('Issuer', {
  type: 'object',
  description: 'An issuer.',
  properties: {
    id: text('Names the issuer, as issuer_id of invoices.'),
    is_default: { type: 'boolean', description: 'Used by invoices that name none.' },
    legal_name: same('legal_name'),
    ...Object.fromEntries(
      ['tax_id', 'address', 'city', 'postcode', 'country', 'iban', 'footer'].map((name) => [name, same(name, true)]),
    ),
    ...Object.fromEntries(['email', 'time_zone', 'number_prefix', 'next_number'].map((name) => [name, same(name)])),
    logo: {
      type: ['object', 'null'],
      description: 'The logo as it stands on documents.',
      properties: { sha256: text('Names its bytes.'), width: pixels('Pixels.'), height: pixels('Pixels.') },
    },
    logo_upload: {
      type: ['object', 'null'],
      description: 'An upload that did not become the logo, or not yet.',
      properties: {
        state: { type: 'string', description: 'How far it is.', enum: ['pending', 'refused'] },
        reason: { type: ['string', 'null'], description: 'Why it was refused.' },
      },
    },
    archived: { type: 'boolean', description: 'Whether it invoices no more.' },
    archived_at: instant('Since when.'),
    created_at: instant('When it was made; null of the default one that was never changed.'),
    updated_at: instant('When it was changed last.'),
  },
})
