/**
 * The records that prove a name: a TXT of its own below the name, or the name as an alias of a host that only this account was told.
 * Each is another for another account, so an alias that was left behind opens the name to nobody else. Source: RFC 8552 (names
 * that begin with an underscore), RFC 1035 section 3.3.
 */

import { createHmac } from 'node:crypto'
import { admits, type CaaSet, caaLine } from './caa.ts'
import type { ProofCheck } from './life.ts'
import { domainOfBase } from './wildcard.ts'

/** The label of the TXT record, and how its text begins. */
export const CHALLENGE_LABEL = '_bottega-challenge'
const TEXT_PREFIX = 'bottega-verification='
const ALIAS_PREFIX = 'site-'
const NAME_MAX = 253

export type ProofRecord = { type: 'TXT' | 'CNAME' | 'A' | 'AAAA'; name: string; value: string }

const TOKEN_LENGTH = 32

/** What the key of the tokens is derived for; it outlasts every change of roots. */
export const PROOF_KEY = 'site-name'

/**
 * Another for each account and name, and the same for ever: whoever was shown it has it in the DNS. A base domain has that of
 * the domain itself, so that one record proves both.
 */
export const proofToken = (key: Buffer, account: string, name: string): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([account, domainOfBase(name) ?? name]))
    .digest('hex')
    .slice(0, TOKEN_LENGTH)

/**
 * Where names below a base domain have to lead. `probe` is one that nobody has set by itself; `addresses` are those of hosts,
 * IP addresses or names. `isNeeded`: until it does, the base is not proven; later only the text counts.
 */
export type WantedWildcard = { probe: string; addresses: readonly string[]; isNeeded: boolean }

/**
 * What visitors and a CA find of a name that is to be served on one host: where it has to lead, IP addresses or names, and which CA
 * has to be admitted, by the names that CAA records have for it.
 */
export type WantedReach = { addresses: readonly string[]; authorities: readonly string[] }

/** What is looked for: the text of one TXT record, or any of these aliases. */
export type WantedProof = {
  name: string
  txtName: string
  text: string
  aliases: readonly string[]
  /** The same of the domain without www: who has that has this. */
  parent?: { txtName: string; text: string }
  wildcard?: WantedWildcard
  reach?: WantedReach
}

const txtNameOf = (name: string): string => `${CHALLENGE_LABEL}.${name}`
const textOf = (token: string): string => `${TEXT_PREFIX}${token}`

/**
 * @param token of account and name, lower case hex @param baseDomains of the hosts that take sites
 * @param parent the domain without www, and the token of that
 */
export const wantedProof = (
  name: string,
  token: string,
  baseDomains: readonly string[],
  parent: { name: string; token: string } | null = null,
): WantedProof => {
  const domain = domainOfBase(name)
  return {
    name,
    txtName: txtNameOf(domain ?? name),
    text: textOf(token),
    ...(parent && { parent: { txtName: txtNameOf(parent.name), text: textOf(parent.token) } }),
    // whatever is below a domain may be an alias of anything
    aliases: domain === null ? baseDomains.map((base) => `${ALIAS_PREFIX}${token}.${base}`) : [],
  }
}

/** What leads visitors of a name to a host. @param address of the host: an IP address, or a name */
export const addressRecord = (name: string, address: string): ProofRecord => {
  const type = address.includes(':') ? 'AAAA' : /^[\d.]+$/.test(address) ? 'A' : 'CNAME'
  return { type, name, value: address }
}

/** What an owner may set; one of them is enough. */
export const recordsOf = ({ name, txtName, text, aliases }: WantedProof): ProofRecord[] => [
  ...(txtName.length <= NAME_MAX ? [{ type: 'TXT' as const, name: txtName, value: text }] : []),
  ...aliases.slice(0, 1).map((value) => ({ type: 'CNAME' as const, name, value })),
]

/**
 * What servers of names said about one name; a null list: there is no such record. `addresses` of the probe of a wildcard, `hosts`
 * those that it has to lead to.
 */
export type ProofAnswers = {
  texts: readonly string[] | null
  aliases: readonly string[] | null
  parentTexts?: readonly string[] | null
  addresses?: readonly string[] | null
  hosts?: readonly string[]
  /** `silent`: nobody could say, and a CA that hears the same refuses (RFC 8659 section 4). */
  caa?: CaaSet | 'silent' | null
}

const SHOWN_MAX = 3
const SHOWN_LENGTH = 80

/** What others wrote, cut and on one line. */
const shown = (values: readonly string[]): string =>
  values
    .slice(0, SHOWN_MAX)
    .map((value) => JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value))
    .join(', ')

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Of the records of one name, more are not shown. */
const SEEN_MAX = 10
const isText = (text: string) => (one: string) => one.trim() === text

const leads = ({ addresses, hosts = [] }: ProofAnswers): boolean =>
  addresses?.length ? addresses.every((address) => hosts.includes(address)) : false

const kindOf = (addresses: readonly string[]): string =>
  addresses.length > 0 && addresses.every((one) => one.includes(':')) ? 'AAAA' : 'A'

/** Of a name that is to be served on one host: the proof as it is there, where it leads, and whom it lets issue. */
const reachChecks = (wanted: WantedProof, reach: WantedReach, answers: ProofAnswers): ProofCheck[] => {
  const { txtName, text, name, aliases: wantedAliases, parent } = wanted
  const { texts, aliases, addresses } = answers
  const caa = answers.caa === 'silent' ? null : answers.caa
  const cut = (values: readonly string[] | null | undefined) => (values ?? []).slice(0, SEEN_MAX)
  const ofAlias = wantedAliases.find((one) => aliases?.some((alias) => plain(alias) === one))
  const isByParent = parent !== undefined && (answers.parentTexts?.some(isText(parent.text)) ?? false)
  const proof: ProofCheck =
    ofAlias === undefined
      ? {
          name: txtName,
          type: 'TXT',
          expected: text,
          seen: cut(texts),
          ok: isByParent || (texts?.some(isText(text)) ?? false),
        }
      : { name, type: 'CNAME', expected: ofAlias, seen: cut(aliases), ok: true }
  return [
    proof,
    {
      name,
      type: kindOf(reach.addresses),
      expected: reach.addresses.join(' or '),
      seen: cut(addresses),
      ok: leads(answers),
    },
    {
      name: caa?.name ?? name,
      type: 'CAA',
      expected: `none, or one for ${reach.authorities.join(' or ')}`,
      seen: answers.caa === 'silent' ? ['a server of names gives no answer'] : cut(caa?.records.map(caaLine)),
      ok: answers.caa !== 'silent' && admits(caa?.records ?? [], reach.authorities),
    },
  ]
}

/** Of a base domain, or of a name that is to be served on one host, record by record. */
const checksOf = (wanted: WantedProof, answers: ProofAnswers): ProofCheck[] | undefined => {
  const { txtName, text, wildcard, reach } = wanted
  if (reach !== undefined) return reachChecks(wanted, reach, answers)
  if (wildcard === undefined) return undefined
  const { texts, addresses } = answers
  const cut = (values: readonly string[] | null | undefined) => (values ?? []).slice(0, SEEN_MAX)
  const { probe, addresses: expected } = wildcard
  return [
    { name: txtName, type: 'TXT', expected: text, seen: cut(texts), ok: texts?.some(isText(text)) ?? false },
    { name: probe, type: 'A', expected: expected.join(' or '), seen: cut(addresses), ok: leads(answers) },
  ]
}

const ledElsewhere = ({ probe, addresses }: WantedWildcard, seen: ProofAnswers['addresses']): string => {
  const where = seen?.length ? `leads to ${shown(seen)}` : 'leads nowhere'
  const wanted = addresses.length === 0 ? 'a host, for none takes sites yet' : addresses.join(' or ')
  return `the text is there; ${probe}, which stands for any name below it, ${where} and not to ${wanted}`
}

type Judged = { checks?: ProofCheck[] } & ({ found: 'txt' | 'cname' } | { found: null; detail: string })

/** @returns which record proves it, or what is there instead */
export const judgeAnswers = (wanted: WantedProof, answers: ProofAnswers): Judged => {
  const { txtName, text, aliases: wantedAliases, name, parent, wildcard } = wanted
  const { texts, aliases } = answers
  const checks = checksOf(wanted, answers)
  const more = checks && { checks }
  if (texts?.some(isText(text))) {
    if (!wildcard?.isNeeded || leads(answers)) return { found: 'txt', ...more }
    return { found: null, detail: ledElsewhere(wildcard, answers.addresses), ...more }
  }
  if (parent !== undefined && answers.parentTexts?.some(isText(parent.text))) return { found: 'txt', ...more }
  if (aliases?.some((one) => wantedAliases.includes(plain(one)))) return { found: 'cname', ...more }
  const other = [
    ...(texts?.length ? [`the TXT records of ${txtName} are ${shown(texts)}`] : [`${txtName} has no TXT record`]),
    ...(aliases?.length ? [`${name} is an alias of ${shown(aliases)}`] : []),
  ]
  return { found: null, detail: other.join('; '), ...more }
}
