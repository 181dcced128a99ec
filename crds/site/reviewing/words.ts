/**
 * A page as a visitor reads it: its words line by line, where its links lead, and what only machines read. Read from the very bytes
 * that were submitted, by looking for tags one after the other: the cost follows the length. Whatever the bytes are, what
 * comes of them is text.
 */

/** Of one page; what is beyond is not looked at, and said. */
export const CHARS_MAX = 600_000
export const LINES_MAX = 5_000
const LINKS_MAX = 2_000

export type PageLink = { url: string; words: string }
/** `loads`: what a browser fetches from elsewhere by itself. */
export type PageText = {
  lang: string
  title: string
  description: string
  lines: string[]
  links: PageLink[]
  loads: string[]
  /** Texts of JSON-LD. */
  data: string[]
  isCut: boolean
}

/** Tags within a line; every other ends it. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em i ins kbd mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
)
/** What stands in them is none of the words. */
const SILENT = new Set(['script', 'style', 'template', 'svg', 'title'])
const ATTRIBUTED = new Set(['html', 'meta', 'img', 'a', 'area', 'form', 'script'])
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', shy: '' }
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi

const letterOf = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')

const decoded = (text: string): string =>
  text.includes('&')
    ? text.replace(ENTITY, (all, decimal?: string, hex?: string, name?: string) => {
        if (decimal !== undefined) return letterOf(Number(decimal))
        if (hex !== undefined) return letterOf(Number.parseInt(hex, 16))
        return NAMED[name?.toLowerCase() ?? ''] ?? all
      })
    : text

type Tag = { name: string; isEnd: boolean; attributes: Map<string, string> }

const tagOf = (text: string): Tag => {
  const isEnd = text.startsWith('/')
  const [, found = ''] = /^\/?([a-z][a-z0-9-]*)/i.exec(text) ?? []
  const name = found.toLowerCase()
  const attributes = new Map<string, string>()
  // most tags say nothing that is asked for
  if (isEnd || !(ATTRIBUTED.has(name) || text.includes('//'))) return { name, isEnd, attributes }
  let from = 0
  for (let at = text.indexOf('="'); at >= 0; at = text.indexOf('="', from)) {
    const end = text.indexOf('"', at + 2)
    if (end < 0) break
    const key = text.slice(from, at).split(/\s/).at(-1) ?? ''
    attributes.set(key.toLowerCase(), decoded(text.slice(at + 2, end)))
    from = end + 1
  }
  return { name, isEnd, attributes }
}

const isElsewhere = (url: string): boolean => /^(?:https?:)?\/\//i.test(url)

type Attribute = (key: string) => string

/** What a browser fetches from elsewhere by itself; a link waits for somebody who follows it. */
const loadsOf = (name: string, of: Attribute): string[] => {
  const isLink = name === 'a' || name === 'area' || (name === 'link' && /canonical|alternate/.test(of('rel')))
  return isLink ? [] : ['src', 'href', 'poster', 'data'].map(of).filter(isElsewhere)
}

/** Where a click leads; null for what is not clicked. */
const targetOf = (name: string, of: Attribute): string | null => {
  if (name === 'form') return of('action')
  return name === 'a' || name === 'area' ? of('href') : null
}

/** What a visitor follows in a frame that is written into the page, he follows from this page. */
const framedLinks = (name: string, of: Attribute): PageLink[] =>
  name === 'iframe' ? wordsOfPage(of('srcdoc')).links : []

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Collects what tags and text tell, in their order. */
const makeReading = () => {
  const page: PageText = {
    ...{ lang: '', title: '', description: '', isCut: false },
    ...{ lines: [], links: [], loads: [], data: [] },
  }
  let line = ''
  let link: PageLink | null = null
  const take = <T>(list: T[], item: T, max: number): void => {
    if (list.length < max) list.push(item)
    else page.isCut = true
  }
  const text = (read: string): void => {
    const words = decoded(read)
    line += words
    if (link !== null) link.words += words
  }
  const endLine = (): void => {
    const words = plain(line)
    line = ''
    if (words !== '') take(page.lines, words, LINES_MAX)
  }
  const endLink = (): void => {
    if (link !== null) take(page.links, { url: link.url, words: plain(link.words) }, LINKS_MAX)
    link = null
  }
  const beginLink = (url: string): void => {
    endLink()
    if (url !== '') link = { url, words: '' }
  }
  const begin = (name: string, of: Attribute): void => {
    if (name === 'html') page.lang = of('lang')
    if (name === 'meta' && of('name') === 'description') page.description = of('content')
    if (name === 'img' && of('alt') !== '') {
      text(`[${of('alt')}]`)
      endLine()
    }
    const target = targetOf(name, of)
    if (target !== null) beginLink(target)
    for (const one of framedLinks(name, of)) take(page.links, one, LINKS_MAX)
    for (const url of loadsOf(name, of)) take(page.loads, url, LINKS_MAX)
  }
  const tag = ({ name, isEnd, attributes }: Tag): void => {
    // a comment has no name
    if (name !== '' && !INLINE.has(name)) endLine()
    if (!isEnd) begin(name, (key) => attributes.get(key) ?? '')
    else if (name === 'a') endLink()
  }
  const end = (): PageText => {
    endLink()
    endLine()
    return page
  }
  return { page, text, tag, end }
}

/** Where what no visitor reads ends. */
const endOf = (html: string, name: string, from: number): number => {
  const end = html.indexOf(`</${name}`, from)
  return end < 0 ? html.length : end
}

const takeSilent = (page: PageText, { name, attributes }: Tag, text: string): void => {
  if (name === 'title' && page.title === '') page.title = plain(decoded(text))
  if (name === 'script' && attributes.get('type') === 'application/ld+json') page.data.push(text)
}

/** @param html as it is stored */
export const wordsOfPage = (html: string): PageText => {
  const reading = makeReading()
  const text = html.slice(0, CHARS_MAX)
  if (html.length > CHARS_MAX) reading.page.isCut = true
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('<', at)
    reading.text(text.slice(at, open < 0 ? undefined : open))
    if (open < 0) break
    const close = text.startsWith('<!--', open) ? text.indexOf('-->', open) + 2 : text.indexOf('>', open)
    if (close <= open) break
    const tag = tagOf(text.slice(open + 1, close))
    reading.tag(tag)
    at = close + 1
    if (tag.isEnd || !SILENT.has(tag.name)) continue
    const end = endOf(text, tag.name, at)
    takeSilent(reading.page, tag, text.slice(at, end))
    at = end
  }
  return reading.end()
}
