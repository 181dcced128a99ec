/** Why a PDF that a caller sent has no text, in the words of whoever asked for it. */

import { Problem } from '../http/problem.ts'
import { PDF_LIMITS, type PdfRefusal, PdfRefused } from './pdftext.ts'

/** A reader of PDFs looks for the mark within the first kilobyte. */
const HEAD_BYTES = 1024
const BUSY_SECONDS = '5'

export const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, HEAD_BYTES).includes('%PDF-')

/** Refused for good. */
export type PdfFault = Exclude<PdfRefusal, 'busy'>

const details = (pages: number | undefined): Record<PdfFault, string> => ({
  encrypted: 'The PDF opens with a password only.',
  unreadable: 'This is no PDF, or a broken one.',
  'too much work': 'Reading the PDF takes more time or memory than one may.',
  pages: `The PDF has ${pages} pages, at most ${PDF_LIMITS.pagesMax} are read.`,
  chars: `The PDF has more than ${PDF_LIMITS.charsMax} characters.`,
  empty: 'The PDF has no text: it is a scan, or empty.',
})

/** @param refuse what is thrown for a document that is not to be read @throws Problem UNAVAILABLE, what `refuse` makes, and any other error */
export const refusePdf = (error: unknown, refuse: (why: PdfFault, detail: string) => Problem): never => {
  if (!(error instanceof PdfRefused)) throw error
  const { why, pages } = error
  if (why === 'busy') {
    throw new Problem('UNAVAILABLE', 'Too many PDFs are being read.', { headers: { 'retry-after': BUSY_SECONDS } })
  }
  throw refuse(why, details(pages)[why])
}
