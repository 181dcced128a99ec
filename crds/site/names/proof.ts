/**
 * The records that prove a name: a TXT of its own below the name, or the name as an alias of a host that only this account was told.
 * Each is another for another account, so an alias that was left behind opens the name to nobody else. Source: RFC 8552 (names
 * that begin with an underscore), RFC 1035 section 3.3.
 */

/** The label of the TXT record, and how its text begins. */
export const CHALLENGE_LABEL = '_bottega-challenge'
const TEXT_PREFIX = 'bottega-verification='
const ALIAS_PREFIX = 'site-'
const NAME_MAX = 253

export type ProofRecord = { type: 'TXT' | 'CNAME'; name: string; value: string }

/** What is looked for: the text of one TXT record, or any of these aliases. */
export type WantedProof = { name: string; txtName: string; text: string; aliases: readonly string[] }

/** @param token of account and name, lower case hex @param baseDomains of the hosts that take sites */
export const wantedProof = (name: string, token: string, baseDomains: readonly string[]): WantedProof => ({
  name,
  txtName: `${CHALLENGE_LABEL}.${name}`,
  text: `${TEXT_PREFIX}${token}`,
  aliases: baseDomains.map((base) => `${ALIAS_PREFIX}${token}.${base}`),
})

/** What an owner may set; one of them is enough. */
export const recordsOf = ({ name, txtName, text, aliases }: WantedProof): ProofRecord[] => [
  ...(txtName.length <= NAME_MAX ? [{ type: 'TXT' as const, name: txtName, value: text }] : []),
  ...aliases.slice(0, 1).map((value) => ({ type: 'CNAME' as const, name, value })),
]

/** What servers of names said about one name; a null list: there is no such record. */
export type ProofAnswers = { texts: readonly string[] | null; aliases: readonly string[] | null }

const SHOWN_MAX = 3
const SHOWN_LENGTH = 80

/** What others wrote, cut and on one line. */
const shown = (values: readonly string[]): string =>
  values
    .slice(0, SHOWN_MAX)
    .map((value) => JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value))
    .join(', ')

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** @returns which record proves it, or what is there instead */
export const judgeAnswers = (
  { txtName, text, aliases: wanted, name }: WantedProof,
  { texts, aliases }: ProofAnswers,
): { found: 'txt' | 'cname' } | { found: null; detail: string } => {
  if (texts?.some((one) => one.trim() === text)) return { found: 'txt' }
  if (aliases?.some((one) => wanted.includes(plain(one)))) return { found: 'cname' }
  const other = [
    ...(texts?.length ? [`the TXT records of ${txtName} are ${shown(texts)}`] : [`${txtName} has no TXT record`]),
    ...(aliases?.length ? [`${name} is an alias of ${shown(aliases)}`] : []),
  ]
  return { found: null, detail: other.join('; ') }
}
