/** Fields that several kinds have in common, and the names that follow from them (rules/platform.md#external-references). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { LINK_VERSION_MAX } from '../values/links.ts'
import type { CelRule, IntegerSchema, Schema } from './schema.ts'

export const ID_MAX = 63
export const EXTERNAL_REF_MAX = 128
export const METADATA_KEYS_MAX = 20
/** Bytes of UTF-8 JSON. */
export const METADATA_BYTES_MAX = 2048
export const NAME_PATTERN = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'

/** Whether what names an account is this account's: the one place that compares two of them (rules/platform.md#ownership). */
export const belongsTo = (
  thing: { account?: string | null | undefined } | null | undefined,
  account: string,
): boolean => thing?.account === account

/** Whose a host of the platform is, where every row names an account: no Account is called that. */
export const PLATFORM = 'platform'

/** What the platform runs for everybody. Of the other classes a host is one account's; without an account it is nobody's. */
export const CLASSES_FOR_ALL: readonly string[] = ['shared', 'platform']

/**
 * Who may put something on which host: the one rule, for the api and for the plans (rules/host.md#who-sees-a-host).
 * @param host `account` null for one that no account registered
 */
export const mayUseHost = (host: { account: string | null; class: string }, account: string): boolean =>
  host.account === null ? CLASSES_FOR_ALL.includes(host.class) : belongsTo(host, account)

/** Whose it is. Never crosses REST: the caller's own account is meant there. */
export const accountField = {
  type: 'string',
  description: 'The Account that it belongs to.',
  minLength: 1,
  maxLength: ID_MAX,
  pattern: NAME_PATTERN,
  'x-rest': 'hidden',
  'x-immutable': 'INVALID_FIELD',
} as const satisfies Schema

export const externalRefField = {
  type: 'string',
  description: "The caller's own key. Fixed at creation; the same reference is the same thing.",
  minLength: 1,
  maxLength: EXTERNAL_REF_MAX,
  pattern: '^[A-Za-z0-9._:/-]+$',
  'x-code': 'BAD_EXTERNAL_REF',
  'x-immutable': 'REF_IMMUTABLE',
} as const satisfies Schema

export const metadataField = {
  type: 'object',
  description: 'Scalars of the caller, kept verbatim and never rendered: at most 20 keys and 2,048 bytes of JSON.',
  maxProperties: METADATA_KEYS_MAX,
  'x-open': true,
  'x-code': 'BAD_METADATA',
} as const satisfies Schema

type VersionFields<Purpose extends string> = Readonly<Record<Purpose, IntegerSchema>>
type LinkVersionsField<Purpose extends string> = {
  type: 'object'
  description: string
  properties: VersionFields<Purpose>
  'x-cel'?: readonly CelRule[]
  'x-rest'?: 'hidden'
}

/** That what was given away is ended, in a spec, and what is good, in a status. @param of descriptions by purpose */
export const linkVersionsOf = <Purpose extends string>(
  of: Readonly<Record<Purpose, string>>,
): { spec: LinkVersionsField<Purpose>; status: LinkVersionsField<Purpose> } => {
  const described = Object.entries<string>(of)
  const properties = Object.fromEntries(
    described.map(([purpose, description]): [string, IntegerSchema] => [
      purpose,
      { type: 'integer', description, minimum: 1, maximum: LINK_VERSION_MAX },
    ]),
  ) as VersionFields<Purpose>
  return {
    spec: {
      type: 'object',
      description:
        'A higher version than that of the status ends what was given away before, for ever; a lower one does nothing.',
      properties,
      'x-cel': described.map(([name]) => ({
        rule: `!has(oldSelf.${name}) || !has(self.${name}) || self.${name} >= oldSelf.${name}`,
        message: 'INVALID_FIELD: a version never goes back: what was ended stays so',
        fieldPath: `.${name}`,
      })),
      'x-rest': 'hidden',
    },
    status: { type: 'object', description: 'Which are good, where any were ended.', properties },
  }
}

const HEX_DIGITS = 32 // 128 bits
const RANDOM_BYTES = HEX_DIGITS / 2

/**
 * The name that an account's reference always leads to, so the API server itself makes a repeat an AlreadyExists.
 * @param prefix of the kind's ids, as `inv`
 */
export const refName = (prefix: string, { account, externalRef }: { account: string; externalRef: string }): string =>
  `${prefix}-${createHash('sha256').update(`${account}\n${externalRef}`).digest('hex').slice(0, HEX_DIGITS)}`

/** A name for a thing without a reference, from at least 16 random bytes. */
export const freshName = (prefix: string, random: Uint8Array): string => {
  assert(random.length >= RANDOM_BYTES, `a fresh name needs ${RANDOM_BYTES} random bytes`)
  return `${prefix}-${Buffer.from(random).toString('hex').slice(0, HEX_DIGITS)}`
}
