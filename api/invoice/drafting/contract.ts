/** The text of a contract, however it came: as JSON, as a PDF, as plain text. It is material, and is only ever read. */

import { Problem } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import { isPdf, type PdfFault, refusePdf } from '../../io/pdfrefusal.ts'
import { PDF_LIMITS, PdfRefused } from '../../io/pdftext.ts'
import type { Deps } from '../../wiring/deps.ts'

export const CONTRACT_MAX_BYTES = 10_000_000
export const CONTRACT_MAX_CHARS = PDF_LIMITS.charsMax
export const CONTRACT_TYPES = ['application/pdf', 'text/plain'] as const

const PDF = /^application\/pdf\s*(;|$)/i

const tooLong = (): Problem =>
  new Problem('CONTRACT_TOO_LONG', `The contract has more than ${CONTRACT_MAX_CHARS} characters.`)

const refusal = (why: PdfFault, detail: string): Problem => {
  if (why === 'chars') return tooLong()
  const code = why === 'pages' ? 'CONTRACT_TOO_LONG' : why === 'empty' ? 'CONTRACT_WITHOUT_TEXT' : 'BAD_CONTRACT'
  return new Problem(code, detail)
}

/** @throws Problem BAD_CONTRACT, CONTRACT_TOO_LONG, CONTRACT_WITHOUT_TEXT, UNAVAILABLE */
const pdfText = async (deps: Pick<Deps, 'pdfText'>, bytes: Buffer, account: string): Promise<string> => {
  if (!isPdf(bytes)) return refusePdf(new PdfRefused('unreadable'), refusal)
  return deps.pdfText.read(bytes, account).catch((error) => refusePdf(error, refusal))
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
  if (json === undefined && PDF.test(headers['content-type'] ?? '')) return pdfText(deps, form, request.caller.account)
  const text = json === undefined ? plainText(form) : json.text
  if (text.trim() === '') throw new Problem('BAD_CONTRACT', 'The contract is empty.')
  if (text.length > CONTRACT_MAX_CHARS) throw tooLong()
  return text
}
