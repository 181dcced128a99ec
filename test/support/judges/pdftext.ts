/** Reads a PDF without any PDF library: enough to see what a reader sees in the files that we make, and what is in them. */
import { inflateSync } from 'node:zlib'

export type PdfObject = { id: number; dictionary: string; stream: Buffer | null }

/** Name without its tag, the character of each glyph by glyph id, and the font file. */
export type EmbeddedFont = { name: string; characters: string[]; file: Buffer }

export type PdfFile = {
  objects: Map<number, PdfObject>
  /** The text of each page, one entry per drawn line, in the order of drawing. Shaped text as it says of itself. */
  pages: string[][]
  title: string
  fonts: EmbeddedFont[]
  /** Files inside, by the names and relationships that they are listed with. */
  attachments: { name: string; relationship: string; bytes: Buffer }[]
  /** How many pictures there are. */
  pictures: number
}

const OBJECT = /(?:^|\n)(\d+) 0 obj\n([\s\S]*?)\n?(?:stream\n|endobj)/g

const demand = <T>(value: T | null | undefined, what: string): T => {
  if (value === null || value === undefined) throw new Error(`the PDF has no ${what}`)
  return value
}

const objectAt = (bytes: Buffer, offset: number): PdfObject => {
  const text = bytes.toString('latin1', offset)
  OBJECT.lastIndex = 0
  const match = demand(OBJECT.exec(text), `object at ${offset}`)
  if (match.index !== 0) throw new Error(`the cross-reference table points to ${offset}, where no object begins`)
  const dictionary = match[2] ?? ''
  const id = Number(match[1])
  if (!match[0].endsWith('stream\n')) return { id, dictionary, stream: null }
  const length = Number(demand(/\/Length (\d+)/.exec(dictionary), 'Length')[1])
  const start = offset + match[0].length
  const raw = bytes.subarray(start, start + length)
  if (!/^\s*endstream/.test(bytes.toString('latin1', start + length, start + length + 12))) {
    throw new Error(`the Length of object ${id} is wrong`)
  }
  return { id, dictionary, stream: dictionary.includes('/FlateDecode') ? inflateSync(raw) : raw }
}

/** Follows the cross-reference table, as a reader does; throws where it leads astray. */
const readObjects = (bytes: Buffer): { objects: Map<number, PdfObject>; trailer: string } => {
  const text = bytes.toString('latin1')
  const start = Number(demand(/startxref\n(\d+)\n%%EOF\s*$/.exec(text), 'startxref')[1])
  const table = demand(/^xref\n0 (\d+)\n([\s\S]*?)trailer\n([\s\S]*)$/.exec(text.slice(start)), 'cross-reference table')
  const offsets = [...(table[2] ?? '').matchAll(/^(\d{10}) \d{5} ([nf])/gm)]
  if (offsets.length !== Number(table[1])) throw new Error('the cross-reference table has a wrong length')
  const objects = new Map<number, PdfObject>()
  offsets.forEach((entry, id) => {
    if (entry[2] === 'f') return
    const object = objectAt(bytes, Number(entry[1]))
    if (object.id !== id) throw new Error(`entry ${id} of the cross-reference table leads to object ${object.id}`)
    objects.set(id, object)
  })
  return { objects, trailer: table[3] ?? '' }
}

const referenced = (dictionary: string, key: string): number | null => {
  const match = new RegExp(`/${key} \\[?(\\d+) 0 R`).exec(dictionary)
  return match ? Number(match[1]) : null
}

const readFont = (objects: Map<number, PdfObject>, id: number): EmbeddedFont => {
  const follow = (from: PdfObject, key: string): PdfObject =>
    demand(objects.get(demand(referenced(from.dictionary, key), key)), key)
  const font = demand(objects.get(id), 'font')
  const cmap = demand(follow(font, 'ToUnicode').stream, 'ToUnicode').toString('latin1')
  const list = demand(/beginbfrange\n([\s\S]*?)endbfrange/.exec(cmap), 'bfrange')[1] ?? ''
  const characters = [...list.matchAll(/\[([^\]]*)\]/g)]
    .flatMap(([, codes = '']) => [...codes.matchAll(/<([0-9a-f ]*)>/g)])
    .map(([, hex = '']) => Buffer.from(hex.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'))
  const descriptor = follow(follow(font, 'DescendantFonts'), 'FontDescriptor')
  const name = (/\/BaseFont \/\w+\+([\w-]+)/.exec(font.dictionary)?.[1] ?? '').trim()
  return { name, characters, file: demand(follow(descriptor, 'FontFile2').stream, 'font file') }
}

const readTexts = (content: string, fonts: Map<string, EmbeddedFont>): string[] => {
  let font: EmbeddedFont | undefined
  const texts: string[] = []
  const decoded = (hex: string): string =>
    (hex.match(/.{4}/g) ?? []).map((code) => font?.characters[Number.parseInt(code, 16)] ?? '?').join('')
  const tokens = /\bBT\b|\/(F\d+) [\d.]+ Tf|\/ActualText <feff([0-9a-f]*)>[\s\S]*?EMC|<([0-9a-f]+)> Tj/g
  for (const [, name, actual, hex] of content.matchAll(tokens)) {
    if (name !== undefined) font = fonts.get(name)
    else if (actual !== undefined)
      texts.push(`${texts.pop()}${Buffer.from(actual, 'hex').swap16().toString('utf16le')}`)
    else if (hex !== undefined) texts.push(`${texts.pop()}${decoded(hex)}`)
    else texts.push('')
  }
  return texts
}

const readAttachments = (objects: Map<number, PdfObject>): PdfFile['attachments'] => {
  const named = (dictionary: string, key: string): string =>
    demand(new RegExp(`/${key} [(/]([^)\\s]+)`).exec(dictionary), key)[1] ?? ''
  return [...objects.values()]
    .filter(({ dictionary }) => /\/Type \/Filespec\b/.test(dictionary))
    .map(({ dictionary }) => {
      const file = objects.get(Number(demand(/\/EF <<\s*\/F (\d+) 0 R/.exec(dictionary), 'EF')[1]))
      const bytes = demand(file?.stream, 'bytes of an attached file')
      return { name: named(dictionary, 'F'), relationship: named(dictionary, 'AFRelationship'), bytes }
    })
}

export const readPdf = (bytes: Buffer): PdfFile => {
  const { objects, trailer } = readObjects(bytes)
  const all = [...objects.values()]
  const info = demand(objects.get(demand(referenced(trailer, 'Info'), 'Info')), 'Info')
  const title = demand(objects.get(demand(referenced(info.dictionary, 'Title'), 'Title')), 'Title').dictionary
  const fonts = new Map<string, EmbeddedFont>()
  const pages = all
    .filter(({ dictionary }) => /\/Type \/Page\b(?!s)/.test(dictionary))
    .map((page) => {
      const resources = demand(objects.get(demand(referenced(page.dictionary, 'Resources'), 'Resources')), 'Resources')
      for (const [, name = '', id] of resources.dictionary.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
        if (!fonts.has(name)) fonts.set(name, readFont(objects, Number(id)))
      }
      const content = demand(objects.get(demand(referenced(page.dictionary, 'Contents'), 'Contents')), 'Contents')
      return readTexts(demand(content.stream, 'content').toString('latin1'), fonts)
    })
  return {
    objects,
    pages,
    title: title.replace(/^\(|\)$/g, ''),
    fonts: [...fonts.values()],
    attachments: readAttachments(objects),
    pictures: all.filter(({ dictionary }) => /\/Subtype \/Image\b/.test(dictionary)).length,
  }
}
