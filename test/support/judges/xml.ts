/** A strict reader of the XML that we write: what is not well formed throws, and so does what we never write. */

export type Element = { name: string; attributes: Record<string, string>; children: Element[]; text: string }

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }
const TAG = /<(\/?)([A-Za-z][\w.-]*(?::[A-Za-z][\w.-]*)?)((?: [\w:]+="[^"<>]*")*)(\/?)>|([^<]+)/y

const textOf = (raw: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/.test(raw) || !raw.isWellFormed()) throw new Error('no XML character')
  return raw.replace(/&([^;\s]*);?/g, (all, name: string) => {
    const char = ENTITIES[name]
    if (char === undefined || !all.endsWith(';')) throw new Error(`no entity: ${all}`)
    return char
  })
}

const attributesOf = (raw: string): Record<string, string> =>
  Object.fromEntries(
    [...raw.matchAll(/ ([\w:]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, textOf(value)]),
  )

/** The root element. */
export function readXml(xml: string): Element {
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n'
  if (!xml.startsWith(head)) throw new Error('no XML declaration')
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  TAG.lastIndex = head.length
  while (TAG.lastIndex < xml.length) {
    const at = TAG.lastIndex
    const found = TAG.exec(xml)
    if (!found) throw new Error(`no XML at ${at}: ${xml.slice(at, at + 60)}`)
    take(open, found)
  }
  const only = root.children[0]
  if (open.length !== 1 || root.children.length !== 1 || only === undefined) throw new Error('not one root')
  return only
}

function take(open: Element[], [, end, name = '', attributes = '', empty, text]: RegExpExecArray): void {
  const inside = open.at(-1)
  if (inside === undefined) throw new Error('something after the root')
  if (text !== undefined) inside.text += textOf(text)
  else if (end) {
    if (inside.name !== name) throw new Error(`${name} ends ${inside.name}`)
    if (inside.children.length > 0 && inside.text.trim() !== '') throw new Error(`${name} mixes text and elements`)
    open.pop()
  } else {
    const element = { name, attributes: attributesOf(attributes), children: [], text: '' }
    inside.children.push(element)
    if (!empty) open.push(element)
  }
}

/** All elements at a path below an element; names without their prefix, parted by slashes. */
export const elementsAt = (element: Element, path: string): Element[] =>
  path
    .split('/')
    .reduce<Element[]>(
      (at, step) => at.flatMap(({ children }) => children.filter(({ name }) => name.replace(/^.*:/, '') === step)),
      [element],
    )

/** The texts at a path. */
export const textsAt = (element: Element, path: string): string[] => elementsAt(element, path).map(({ text }) => text)
