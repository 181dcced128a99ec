/** Follows every link that a site has to itself. */
import { posix } from 'node:path'
import type { SiteFile } from '../../../../crds/site/render/input.ts'

const decoded = (text: string): string => text.replaceAll('&amp;', '&')

const addressesOf = (markup: string): string[] => [
  ...[...markup.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address = '']) => decoded(address)),
  ...[...markup.matchAll(/ srcset="([^"]*)"/g)].flatMap(([, list = '']) =>
    list.split(', ').map((entry) => entry.split(' ')[0] ?? ''),
  ),
]

const isElsewhere = (address: string): boolean => /^(https?:|mailto:|tel:|&#)/i.test(address) || address === '#'

/** Relative links that lead to no file, or to no place in it; and addresses in the style sheet. */
export const brokenLinks = (files: readonly SiteFile[]): string[] => {
  const texts = new Map(files.map(({ path, content }) => [path, content]))
  return files.flatMap(({ path, content }) => {
    if (typeof content !== 'string') return []
    const addresses = path.endsWith('.html')
      ? addressesOf(content)
      : [...content.matchAll(/url\("([^"]*)"\)/g)].map(([, one = '']) => one)
    return addresses
      .filter((address) => !isElsewhere(address) && !leads(texts, path, address))
      .map((address) => `${path} → ${address}`)
  })
}

const leads = (texts: ReadonlyMap<string, SiteFile['content']>, from: string, address: string): boolean => {
  const [place = '', fragment] = address.split('#')
  const folder = posix.dirname(from)
  const joined = place === '' ? from : place.startsWith('/') ? place.slice(1) : posix.join(folder, place)
  const target =
    joined === '' || joined === './' || joined === '.' || joined.endsWith('/')
      ? posix.join(joined, 'index.html')
      : joined
  const text = texts.get(posix.normalize(target))
  if (text === undefined) return false
  return fragment === undefined || (typeof text === 'string' && text.includes(` id="${fragment}"`))
}
