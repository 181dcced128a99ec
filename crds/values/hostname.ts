/**
 * Names as people type them: `Müller.de.`, `ｍüller。de`, `https://müller.de/shop`. What is kept is the name of the DNS in lower case
 * (A-labels); people are shown both. Letters that look like others are refused by the rule of browsers and registries: the
 * letters of one label are of one script, or of those that one language writes together, and a label whose letters all look like
 * Latin ones is taken for Latin, unless the whole name is of that script. Source: UTS 46, RFC 5891, UTS 39 sections 4 and 5.2
 * (Highly Restrictive), the lists of Chromium's policy for names.
 */
import { domainToASCII, domainToUnicode } from 'node:url'

const TYPED_MAX = 2_048
const NAME_MAX = 253
const SCHEME = /^[a-z][a-z0-9+.-]{0,20}:\/\//i
/** Full stops of other scripts (UTS 46: U+3002, U+FF0E, U+FF61 are mapped to the dot). */
const DOTS = /[。．｡]/g

export type TypedName = { name: string } | { fault: string }

/** The part of what was typed that is a name: without scheme, path, port and the root's dot. */
const hostPart = (typed: string): string => {
  const bare = typed.trim().replace(SCHEME, '').replace(DOTS, '.')
  const [host = ''] = bare.split(/[/?#]/, 1)
  return host.replace(/:[0-9]{1,5}$/, '').replace(/\.$/, '')
}

/** In how many letters its labels were typed, or stand in an A-label. */
export const shownName = (name: string): string => (name.includes('xn--') ? domainToUnicode(name) || name : name)

type Script = { word: string; is: RegExp }
const script = (word: string, is: RegExp): Script => ({ word, is })
/** Of those in which names are registered; a letter of any other stands alone. */
const SCRIPTS: readonly Script[] = [
  script('Latin', /\p{Script=Latin}/u),
  script('Cyrillic', /\p{Script=Cyrillic}/u),
  script('Greek', /\p{Script=Greek}/u),
  script('Armenian', /\p{Script=Armenian}/u),
  script('Hebrew', /\p{Script=Hebrew}/u),
  script('Arabic', /\p{Script=Arabic}/u),
  script('Devanagari', /\p{Script=Devanagari}/u),
  script('Bengali', /\p{Script=Bengali}/u),
  script('Tamil', /\p{Script=Tamil}/u),
  script('Thai', /\p{Script=Thai}/u),
  script('Georgian', /\p{Script=Georgian}/u),
  script('Cherokee', /\p{Script=Cherokee}/u),
  script('Han', /\p{Script=Han}/u),
  script('Hiragana', /\p{Script=Hiragana}/u),
  script('Katakana', /\p{Script=Katakana}/u),
  script('Bopomofo', /\p{Script=Bopomofo}/u),
  script('Hangul', /\p{Script=Hangul}/u),
]
const NEUTRAL = /[\p{Script=Common}\p{Script=Inherited}]/u

/** Scripts that one language writes together (UTS 39, Highly Restrictive). */
const TOGETHER: readonly (readonly string[])[] = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
]

/** Letters that look like Latin ones, by script: a label of these alone passes for Latin. */
const LIKE_LATIN: Readonly<Record<string, RegExp>> = {
  Cyrillic: /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u,
  Greek: /^[αικνρυωηοτ0-9-]+$/u,
  Armenian: /^[ագզէլհյոսւօ0-9-]+$/u,
}

/** @returns null for a letter that belongs to all */
const scriptOf = (letter: string): string | null =>
  NEUTRAL.test(letter) ? null : (SCRIPTS.find(({ is }) => is.test(letter))?.word ?? 'another script')

const scriptsOf = (label: string): string[] =>
  [...new Set([...label].map(scriptOf))].filter((one): one is string => one !== null)

/** Why a label may be taken for another; null where it may not. @param last of the name's labels */
const labelFault = (label: string, last: string): string | null => {
  const shown = JSON.stringify(label)
  const found = scriptsOf(label)
  const isOne = found.length <= 1 || TOGETHER.some((group) => found.every((one) => group.includes(one)))
  if (!isOne) return `${shown} mixes letters of ${found.join(' and ')}, which may look like another name`
  const [only = ''] = found
  if (found.length === 1 && LIKE_LATIN[only]?.test(label) && !scriptsOf(last).includes(only)) {
    return `${shown} is written in ${only} letters that all look like Latin ones`
  }
  return null
}

/** @returns the name of the DNS in lower case, or why there is none, as a sentence without its end */
export const typedName = (typed: string): TypedName => {
  const shown = JSON.stringify(typed.slice(0, 80))
  if (typed.length > TYPED_MAX) return { fault: `${shown} is too long for a name` }
  const name = domainToASCII(hostPart(typed))
  if (name === '' || name.length > NAME_MAX) return { fault: `${shown} is no name of the DNS` }
  // what is kept is what was understood: an A-label that stands for nothing stays as it came
  const labels = shownName(name).split('.')
  const wrong = name.split('.').findIndex((label, place) => label.startsWith('xn--') && labels[place] === label)
  if (wrong !== -1) return { fault: `${name.split('.')[wrong]} stands for no letters` }
  const fault = labels.map((label) => labelFault(label, labels.at(-1) ?? '')).find((one) => one !== null) ?? null
  return fault === null ? { name } : { fault }
}

/** In a route that sends visitors on, where challenges of a CA for its names are answered, `host:port` (rules/host.md#the-proxy). */
export const CHALLENGES_TO = 'bottega_challenges_to'
