/** The text of a contract, however it came: as JSON, as a PDF, as plain text. It is material, and is only ever read. */

import { Problem } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import { PDF_LIMITS, PdfRefused } from '../../io/pdftext.ts'
import type { Deps } from '../../wiring/deps.ts'

export const CONTRACT_MAX_BYTES = 10_000_000
export const CONTRACT_MAX_CHARS = PDF_LIMITS.charsMax
export const CONTRACT_TYPES = ['application/pdf', 'text/plain'] as const

const PDF = /^application\/pdf\s*(;|$)/i
/** A reader of PDFs looks for the mark within the first kilobyte. */
const HEAD_BYTES = 1024
const BUSY_SECONDS = '5'

const tooLong = (): Problem =>
  new Problem('CONTRACT_TOO_LONG', `The contract has more than ${CONTRACT_MAX_CHARS} characters.`)

/** @throws Problem BAD_CONTRACT, CONTRACT_TOO_LONG, CONTRACT_WITHOUT_TEXT, UNAVAILABLE */
const refuse = ({ why, pages }: PdfRefused): never => {
  switch (why) {
    case 'encrypted':
      throw new Problem('BAD_CONTRACT', 'The PDF opens with a password only.')
    case 'unreadable':
      throw new Problem('BAD_CONTRACT', 'This is no PDF, or a broken one.')
    case 'too much work':
      throw new Problem('BAD_CONTRACT', 'Reading the PDF takes more time or memory than a contract may.')
    case 'pages':
      throw new Problem('CONTRACT_TOO_LONG', `The PDF has ${pages} pages, at most ${PDF_LIMITS.pagesMax} are read.`)
    case 'chars':
      throw tooLong()
    case 'empty':
      throw new Problem('CONTRACT_WITHOUT_TEXT', 'The PDF has no text: it is a scan, or empty.')
    case 'busy':
      throw new Problem('UNAVAILABLE', 'Too many PDFs are being read.', { headers: { 'retry-after': BUSY_SECONDS } })
    default:
      return why satisfies never
  }
}

const pdfText = async (deps: Pick<Deps, 'pdfText'>, bytes: Buffer): Promise<string> => {
  if (!bytes.subarray(0, HEAD_BYTES).includes('%PDF-')) return refuse(new PdfRefused('unreadable'))
  return deps.pdfText.read(bytes).catch((error) => {
    if (error instanceof PdfRefused) return refuse(error)
    throw error
  })
}

const plainText = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem('BAD_CONTRACT', 'The text is not UTF-8.')
  }
}

/** @throws Problem */
export const contractText = async (deps: Pick<Deps, 'pdfText'>, request: ApiRequest): Promise<string> => {
  const { form = Buffer.alloc(0), headers, body } = request
  const json = body as { text: string } | undefined
  if (json === undefined && PDF.test(headers['content-type'] ?? '')) return pdfText(deps, form)
  const text = json === undefined ? plainText(form) : json.text
  if (text.trim() === '') throw new Problem('BAD_CONTRACT', 'The contract is empty.')
  if (text.length > CONTRACT_MAX_CHARS) throw tooLong()
  return text
}
