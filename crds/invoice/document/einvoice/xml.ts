/** XML as a tree of elements: what is empty is left out, text is always escaped, and the same tree gives the same bytes. */

export type Attributes = Record<string, string>

/** An element with children, or with text. */
export type Xml = { name: string; attributes: Attributes; content: readonly Xml[] | string }

/** Half letters and what XML 1.0 cannot hold, not even as an entity (section 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Nothing to be escaped or replaced, as most texts. */
const PLAIN = /^[\n !#-%'-;=?-~\u00a0-\ud7ff]*$/

/** Text for content and for attributes in double quotes; what XML cannot hold becomes U+FFFD, a line ends in \n. */
export const escapeXml = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .toWellFormed()
        .replace(/\r\n?/g, '\n')
        .replace(FORBIDDEN, '\ufffd')
        .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)

/** An element around those children that are there; null, and so left out itself, when none is. */
export const group = (name: string, ...children: (Xml | readonly Xml[] | null)[]): Xml | null => {
  const content = children.flatMap((child) => child ?? [])
  return content.length === 0 ? null : { name, attributes: {}, content }
}

/** An element with text; null when there is nothing to say but blanks, for no element may be empty. */
export const leaf = (name: string, text: string, attributes: Attributes = {}): Xml | null =>
  text.trim() === '' ? null : { name, attributes, content: text }

/** An element that the schema demands, with or without children. */
export const required = (name: string, ...children: (Xml | readonly Xml[] | null)[]): Xml =>
  group(name, ...children) ?? { name, attributes: {}, content: [] }

/** Those that are there. */
export const present = (elements: readonly (Xml | null)[]): Xml[] => elements.flatMap((element) => element ?? [])

const attributesText = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join('')

const write = ({ name, attributes, content }: Xml, indent: string): string => {
  const head = `${indent}<${name}${attributesText(attributes)}`
  if (content.length === 0) return `${head}/>\n`
  if (typeof content === 'string') return `${head}>${escapeXml(content)}</${name}>\n`
  const inside = content.map((child) => write(child, `${indent}  `)).join('')
  return `${head}>\n${inside}${indent}</${name}>\n`
}

/** The document, to be encoded in UTF-8. */
export const documentText = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${write(root, '')}`
