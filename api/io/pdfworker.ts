/**
 * Reads the text of one PDF, in a thread of its own that ends with it (pdftext.ts). The only importer of unpdf. Nothing of the
 * document is run or fetched: no script, no font, no address in it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { getDocumentProxy } from 'unpdf'
import { giveWay } from '../../controllers/base/threads/priority.ts'

export type PdfJob = { bytes: Uint8Array; pagesMax: number; charsMax: number }
/** `texts`: of each page. */
export type PdfOutcome =
  | { texts: string[] }
  | { refused: 'unreadable' | 'encrypted' | 'pages' | 'chars'; pages?: number }

/** Marks of structure have no text. */
type Item = { str: string; hasEOL: boolean } | object

/** Lines as they stand on the page, one below the other. */
const textOf = (items: readonly Item[]): string =>
  items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')

const read = async ({ bytes, pagesMax, charsMax }: PdfJob): Promise<PdfOutcome> => {
  const document = await getDocumentProxy(bytes, {
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
  })
  if (document.numPages > pagesMax) return { refused: 'pages', pages: document.numPages }
  const pages: string[] = []
  let chars = 0
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const text = textOf((await page.getTextContent()).items)
    page.cleanup()
    chars += text.length
    if (chars > charsMax) return { refused: 'chars' }
    pages.push(text.trim())
  }
  return { texts: pages }
}

giveWay()
const job = workerData as PdfJob
const outcome = await read(job).catch((error: unknown): PdfOutcome => {
  const isLocked = error instanceof Error && error.name === 'PasswordException'
  return { refused: isLocked ? 'encrypted' : 'unreadable' }
})
parentPort?.postMessage(outcome)
