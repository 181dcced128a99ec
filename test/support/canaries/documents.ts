/** What stands in documents that a run has stored: their text lies compressed, and as numbers of glyphs. */
import { query } from '../../../hack/platform/postgres.ts'
import { readPdf } from '../judges/pdftext.ts'

/** Of one database: more of the same platform would say the same. */
const DOCUMENTS_MAX = 10
/** A database without the table is none of a platform. */
const TABLE = "select to_regclass('blob_chunks') is not null as there"
const STORED = `
  select string_agg(content, ''::bytea order by n) as bytes from blob_chunks
  where sha256 in (
    select distinct sha256 from blob_chunks where n = 0 and substr(content, 1, 5) = '%PDF-'::bytea limit ${DOCUMENTS_MAX})
  group by sha256`

/** Each in one text, which begins so. */
export const DOCUMENT = '%PDF as it is read'

const isPicture = /\/(Length1|FontFile2|Subtype \/Image)\b/

/** All that a reader sees or software reads: drawn lines, also where one is broken into two, files within, titles and addresses. */
export const textOf = (bytes: Buffer): string => {
  const { pages, objects, attachments } = readPdf(bytes)
  const lines = pages.flat()
  const within = [...objects.values()].flatMap(({ dictionary, stream }) =>
    stream === null || isPicture.test(dictionary) ? [dictionary] : [dictionary, stream.toString('latin1')],
  )
  const files = attachments.map((one) => one.bytes.toString('utf8'))
  return [DOCUMENT, lines.join('\n'), lines.join(''), ...files, ...within].join('\n')
}

/** @throws Error where a document is none that we make */
export const documentsOf = async (url: string): Promise<string[]> => {
  const [table] = await query(url, TABLE)
  if (!table?.there) return []
  return (await query(url, STORED)).map(({ bytes }) => textOf(bytes as Buffer))
}
