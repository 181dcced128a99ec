import PDFDocument from 'pdfkit'

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
