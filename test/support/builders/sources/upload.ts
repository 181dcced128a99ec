import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import PDFDocument from 'pdfkit'
import type { DeployTarget } from '../../../../crds/app/compose/project.ts'
import type { SourceIndex } from '../../../../crds/app/sources/source.ts'
import { sortEntries } from '../../../../crds/files/archive.ts'

/** An app on a shared host with a usual budget. */
export const shared: DeployTarget = {
  slug: 'shop',
  env: {},
  route: null,
  budget: { cpuMillis: 1000, memoryMib: 1024, diskGib: 10 },
  hostClass: 'shared',
  arch: 'arm64',
  remapsUsers: true,
}

/** The index of an upload that has passed: path → text. Folders are the paths that end in a slash. */
export const sourceOf = (files: Record<string, string>, composePath = 'docker-compose.yml'): SourceIndex => ({
  entries: sortEntries(
    Object.entries(files).map(([path, text]) => ({
      path,
      mode: 0o644,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    })),
  ),
  composePath,
  texts: new Map(Object.entries(files)),
})

/** One entry of a tar, as wrong as it is wanted. */
export type TarEntry = {
  path: string
  content?: string | Buffer
  type?: string
  mode?: number
  link?: string
  /** What the header says; the length of the content when left out. */
  size?: number | string
  pax?: Record<string, string>
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`

/** A header of ustar (POSIX 1003.1, pax interchange format), whatever is put into it. */
const header = ({ path, content = '', type = '0', mode = 0o644, link = '', size }: TarEntry): Buffer => {
  const block = Buffer.alloc(512)
  block.write(path.slice(0, 100), 0, 100, 'utf8')
  block.write(octal(mode, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(typeof size === 'string' ? size : octal(size ?? Buffer.byteLength(content), 12), 124, 12, 'latin1')
  block.write(octal(0, 12), 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write(link, 157)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const padded = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)])

const paxRecord = (name: string, value: string): string => {
  const rest = Buffer.byteLength(` ${name}=${value}\n`)
  let length = rest + 1
  while (String(length).length + rest !== length) length = String(length).length + rest
  return `${length} ${name}=${value}\n`
}

const blocks = (entry: TarEntry): Buffer[] => {
  const content = Buffer.from(entry.content ?? '')
  const records = Object.entries(entry.pax ?? {}).map(([name, value]) => paxRecord(name, value))
  const before = records.length > 0 ? blocks({ path: 'PaxHeader', type: 'x', content: records.join('') }) : []
  return [...before, header(entry), padded(content)]
}

/** A tar made byte by byte, so that it can lie. */
export const rawTar = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(blocks), Buffer.alloc(1024)])

export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(rawTar(entries))

/** A PDF with these words on its pages; a page without any has a drawing. */
export const pdfOf = async (...pages: string[]): Promise<Buffer> => {
  const document = new PDFDocument({ autoFirstPage: false })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve) => document.once('end', () => resolve()))
  for (const text of pages) {
    const page = document.addPage()
    if (text === '') page.rect(0, 0, 9, 9).fill()
    else page.text(text)
  }
  document.end()
  await ended
  return Buffer.concat(chunks)
}
