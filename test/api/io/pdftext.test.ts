import { once } from 'node:events'
import { createDeflate, deflateSync } from 'node:zlib'
import PDFDocument from 'pdfkit'
import { makePdfText, PDF_LIMITS, PdfRefused } from '../../../api/io/pdftext.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type Draw = (document: PDFKit.PDFDocument) => void

/** A PDF of the library that draws our documents; `options` may lock it. */
const drawn = async (draw: Draw, options: PDFKit.PDFDocumentOptions = {}): Promise<Buffer> => {
  const document = new PDFDocument(options)
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve) => document.once('end', () => resolve()))
  draw(document)
  document.end()
  await ended
  return Buffer.concat(chunks)
}

/** One page whose content is that stream, with a font; written by hand, for what no library would write. */
const withContent = (stream: Buffer): Buffer => {
  const objects = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from(
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    ),
    Buffer.concat([
      Buffer.from(`<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n`),
      stream,
      Buffer.from('\nendstream'),
    ]),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
  ]
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  for (const [index, object] of objects.entries()) {
    offsets.push(parts.reduce((sum, part) => sum + part.length, 0))
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'))
  }
  const start = parts.reduce((sum, part) => sum + part.length, 0)
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 6\n0000000000 65535 f \n${rows}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

const MEGABYTE = 1_048_576

/** So many times the same bytes, packed without ever being together. */
const deflated = async (times: number, bytes: Buffer): Promise<Buffer> => {
  const packer = createDeflate({ level: 1 })
  const chunks = packer.toArray()
  for (let n = 0; n < times; n++) {
    if (!packer.write(bytes)) await once(packer, 'drain')
  }
  packer.end()
  return Buffer.concat(await chunks)
}

const why = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    (value) => new Error(`it was read: ${String(value).slice(0, 80)}`),
    (thrown) => thrown,
  )
  return error instanceof PdfRefused ? error.why : String(error)
}

spec('the text of a PDF', (t) => {
  const reader = makePdfText()

  t('is that of all its pages, line by line', async () => {
    const bytes = await drawn((document) => {
      document.text('ACME pays 1,200.00 EUR a month.').text('Due in 14 days.').addPage().text('Signed: Zoë')
    })
    assert.is(await reader.read(bytes, 'demo'), 'ACME pays 1,200.00 EUR a month.\nDue in 14 days.\n\nSigned: Zoë')
  })

  t('leaves the bytes that were given as they are', async () => {
    const bytes = await drawn((document) => document.text('kept'))
    const before = Buffer.from(bytes)
    await reader.read(bytes, 'demo')
    assert.ok(bytes.equals(before))
  })

  const refused: [string, () => Promise<Buffer>, string][] = [
    ['without a text, as a scan', () => drawn((document) => document.rect(10, 10, 100, 100).fill()), 'empty'],
    ['of blanks', () => drawn((document) => document.text('   .')), 'empty'],
    [
      'behind a password',
      () => drawn((document) => document.text('x'), { userPassword: 'pst', ownerPassword: 'o' }),
      'encrypted',
    ],
    ['that is none', async () => Buffer.from('%PDF-1.7\nnot at all'), 'unreadable'],
    ['of 201 pages', () => drawn((document) => Array.from({ length: 200 }, () => document.addPage())), 'pages'],
  ]
  for (const [what, make, reason] of refused) {
    t(
      `${what} is refused as ${reason}, and the process goes on`,
      async () => {
        assert.is(await why(reader.read(await make(), 'demo')), reason)
      },
      { timeoutMs: 60_000 },
    )
  }

  t(
    'that unfolds to hundreds of megabytes is given up for its memory, long before its time',
    async () => {
      const bomb = withContent(await deflated(320, Buffer.alloc(MEGABYTE, '\n')))
      assert.ok(bomb.length < 4 * MEGABYTE)
      assert.is(await why(makePdfText({ ...PDF_LIMITS, timeMs: 55_000 }).read(bomb, 'demo')), 'too much work')
      const roomy = makePdfText({ ...PDF_LIMITS, timeMs: 55_000, memoryMb: 4_000 })
      assert.is(await why(roomy.read(bomb, 'demo')), 'empty')
    },
    { timeoutMs: 120_000 },
  )

  t('is read no further than so many characters', async () => {
    const bytes = await drawn((document) => document.text('0123456789'))
    assert.is(await makePdfText({ ...PDF_LIMITS, charsMax: 10 }).read(bytes, 'demo'), '0123456789')
    assert.is(await why(makePdfText({ ...PDF_LIMITS, charsMax: 9 }).read(bytes, 'demo')), 'chars')
  })

  t('is given up at the deadline', async () => {
    const lines = Buffer.from(`BT /F1 12 Tf ${'(a) Tj '.repeat(3_000_000)} ET`)
    const limits = { ...PDF_LIMITS, timeMs: 700, memoryMb: 2_000, charsMax: Number.MAX_SAFE_INTEGER }
    assert.is(await why(makePdfText(limits).read(withContent(deflateSync(lines)), 'demo')), 'too much work')
  })

  t('is read of few at once; the others wait, and too many are sent away', async () => {
    const bytes = await drawn((document) => document.text('one of many'))
    const narrow = makePdfText({ ...PDF_LIMITS, threads: 1, waitingMax: 2 })
    const all = await Promise.all(
      Array.from({ length: 5 }, () =>
        narrow.read(bytes, 'demo').then(
          () => 'read',
          (error: PdfRefused) => error.why,
        ),
      ),
    )
    assert.equal(all, ['read', 'read', 'read', 'busy', 'busy'])
    assert.is(await narrow.read(bytes, 'demo'), 'one of many')
  })

  t('is read of few of one account at once, and those of others have their turn', async () => {
    const bytes = await drawn((document) => document.text('one of many'))
    const narrow = makePdfText({ ...PDF_LIMITS, threads: 1, waitingMax: 8, accountMax: 2 })
    const outcome = (account: string) =>
      narrow.read(bytes, account).then(
        () => 'read',
        (error: PdfRefused) => error.why,
      )
    const all = await Promise.all(['a', 'a', 'a', 'b'].map(outcome))
    assert.equal(all, ['read', 'read', 'busy', 'read'])
  })
})
