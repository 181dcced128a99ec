/**
 * Addresses that the site had before, and where they lead now: the owner's own list, part of what is approved, for it decides what
 * visitors get (rules/site.md#redirects).
 */
import type { Fault } from '../../kernel/problem.ts'
import type { ArraySchema } from '../../kernel/schema.ts'

export const REDIRECTS_MAX = 100
const PATH_MAX = 500
const ADDRESS_MAX = 2_000
/** Letters and digits of any script. No `*`, `{` or `%`: the proxy would read a pattern, a placeholder, another letter. */
const PATH = '/[\\p{L}\\p{N}._~/@:+,=-]*'

export const redirects = {
  type: 'array',
  description: 'Former addresses of the site, and where they lead now (308).',
  maxItems: REDIRECTS_MAX,
  'x-list': 'atomic',
  'x-code': 'BAD_REDIRECTS',
  items: {
    type: 'object',
    title: 'PathRedirect',
    description: 'One former address.',
    required: ['from', 'to'],
    properties: {
      from: {
        type: 'string',
        description: 'A path of the site, as /old-shop; with and without a slash at its end.',
        minLength: 2,
        maxLength: PATH_MAX,
        pattern: `^${PATH}$`,
        'x-code': 'BAD_REDIRECTS',
      },
      to: {
        type: 'string',
        description: 'A path of the site, or an address that begins with https://.',
        minLength: 1,
        maxLength: ADDRESS_MAX,
        pattern: `^(${PATH}|https://[^\\s{}"<>\\\\]+)$`,
        'x-code': 'BAD_REDIRECTS',
      },
    },
  },
} as const satisfies ArraySchema

export type PathRedirect = { from: string; to: string }

/** Where they are listed among the files of the site: what is approved has them. */
export const REDIRECTS_PATH = 'redirects.json'

/** With and without its last slash it is one. */
const plain = (path: string): string => (path.length > 1 ? path.replace(/\/$/, '') : path)

/** Both ways to write a path. */
export const waysTo = (from: string): string[] => [plain(from), `${plain(from)}/`]

const TAKEN = /^\/(assets|\.well-known|redirects\.json|robots\.txt|sitemap\.xml)(\/|$)/

/** Whether a way through the list comes back to where it began. */
const isLoop = (list: readonly PathRedirect[], start: string): boolean => {
  const next = new Map(list.map(({ from, to }) => [plain(from), plain(to)]))
  let at = next.get(start)
  for (let steps = 0; at !== undefined && steps <= list.length; steps++) {
    if (at === start) return true
    at = next.get(at)
  }
  return false
}

/** What may not be led elsewhere: the site itself is there. */
const fromFault = (from: string, slugs: readonly string[]): string | null => {
  const path = plain(from)
  if (path === '/' || slugs.includes(path.slice(1))) return `${from} is a page of the site`
  if (TAKEN.test(path)) return `${from} is a path that the site itself needs`
  return from.startsWith('//') ? `${from} begins with two slashes` : null
}

const toFault = (list: readonly PathRedirect[], { from, to }: PathRedirect): string | null => {
  if (to.startsWith('//')) return `${to} would lead to another site; write https:// before it`
  if (to.startsWith('https:') && !URL.canParse(to)) return `${to} is no address`
  return isLoop(list, plain(from)) ? `${from} leads back to itself` : null
}

/** @param slugs of the pages, which stay where they are  @param at pointer of the list */
export const redirectFaults = (
  list: readonly PathRedirect[],
  { slugs, at }: { slugs: readonly string[]; at: string },
): Fault[] => {
  const froms = list.map(({ from }) => plain(from))
  return list.flatMap((one, index): Fault[] => {
    const isTwice = froms.indexOf(plain(one.from)) < index
    const from = isTwice ? `${one.from} is led elsewhere already` : fromFault(one.from, slugs)
    const detail = from ?? toFault(list, one)
    const field = from === null ? 'to' : 'from'
    return detail === null ? [] : [{ code: 'BAD_REDIRECTS', pointer: `${at}/${index}/${field}`, detail }]
  })
}
