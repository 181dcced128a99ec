/** Makes the PDF of an invoice: PDF/A-3b, the same bytes for the same record. The only file that imports pdfkit. */
import { createHash } from 'node:crypto'
import PDFDocument from 'pdfkit'
import { documentOf } from '../../../crds/invoice/document/document.ts'
import { type Attachment, attachmentOf } from '../../../crds/invoice/document/einvoice/write.ts'
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import type { Face } from './fonts.ts'
import { type Fonts, makeFonts, type OpenedFont, operatorsOf } from './operators.ts'
import { type Mark, PAGE } from './page.ts'
import { makeTypefaces } from './typefaces.ts'
import { typeset } from './typeset.ts'
import { escapeXml, facturX } from './xmp.ts'

export type Extras = {
  /** PNG or JPEG in RGB or grey. */
  logo?: Uint8Array
}

export type Pdf = {
  /**
   * The PDF of a frozen invoice, with the electronic invoice inside where the record says so, or of a draft (number null),
   * which carries a DRAFT stamp. The same record and extras give the same bytes in any process and time zone, as long as
   * pdfkit, the fonts and Node stay pinned. Throws when the logo is no picture.
   */
  render(frozen: Frozen | FrozenDraft, extras?: Extras): Promise<Buffer>
}

/** Parses each font once; keep what it gives. */
export const makePdf = (facesOf: ReturnType<typeof makeTypefaces> = makeTypefaces()): Pdf => ({
  render: async (frozen, extras = {}) => {
    const document = documentOf(frozen)
    const faces = facesOf(frozen.lang)
    const doc = open(faces.regular.base, {
      title: `${document.heading.title} ${document.heading.number}`.trim(),
      lang: document.lang,
      date: new Date(`${frozen.issuedOn}T00:00:00Z`),
    })
    // stands for the whole input: two documents of one number and day differ in it
    doc._id = createHash('sha256')
      .update(JSON.stringify(frozen))
      .update(extras.logo ?? '')
      .digest()
      .subarray(0, 16)
    const logo = extras.logo && doc.openImage(Buffer.from(extras.logo))
    draw(doc, typeset(document, faces, logo), logo)
    if (frozen.number !== null && frozen.einvoice?.profile) attach(doc, attachmentOf(frozen))
    return finish(doc)
  },
})

/** What we use of pdfkit beyond its types. */
type Picture = { width: number; height: number; label: string; obj: unknown; embed(doc: Doc): void }
type Page = { fonts: Record<string, unknown>; xobjects: Record<string, unknown> }
type Inside = {
  _id: Uint8Array
  _font: OpenedFont
  _root: { data: Record<string, unknown> }
  page: Page
  info: Record<string, unknown>
  endMetadata(): void
  push(end: null): boolean
  _offset: number
  _write(piece: string | Uint8Array): void
  openImage(bytes: Buffer): Picture
}
type Doc = Omit<PDFKit.PDFDocument, keyof Inside> & Inside

type About = { title: string; lang: string; date: Date }

/**
 * A document that keeps its bytes to itself, and says its title twice as each place wants it. Methods, and no functions put
 * on each document: V8 keeps what such a function knows, which is all of the document, until it looks through the whole heap.
 */
class Paper extends (PDFDocument as unknown as new (options: object) => Doc) {
  /** A text is a line in Latin-1. */
  declare pieces?: (string | Uint8Array)[]
  declare isWhole?: boolean

  /** Hundreds of small pieces, which are put together once. The first come while the document is being made. */
  override _write(piece: string | Uint8Array): void {
    this.pieces ??= []
    this.pieces.push(piece)
    this._offset += typeof piece === 'string' ? piece.length + 1 : piece.length
  }

  /** All other pieces are written. */
  override push(end: null): boolean {
    this.isWhole = end === null
    return true
  }

  /** pdfkit writes the information dictionary before and pastes it, unescaped, into the XMP. */
  override endMetadata(): void {
    this.info.Title = escapeXml(String(this.info.Title))
    super.endMetadata()
  }

  /** All that was written, once it has ended. */
  bytes(): Buffer {
    const whole = Buffer.allocUnsafe(this._offset)
    let at = 0
    for (const piece of this.pieces ?? []) {
      if (typeof piece === 'string') at += whole.write(`${piece}\n`, at, 'latin1')
      else {
        whole.set(piece, at)
        at += piece.length
      }
    }
    // what nobody wrote to holds whatever the process had there before
    if (!this.isWhole || at !== whole.length) throw new Error('pdfkit ended a document without all of its bytes')
    return whole
  }
}

const open = (face: Face, { title, lang, date }: About): Paper =>
  new Paper({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.7',
    subset: 'PDF/A-3b',
    lang,
    displayTitle: true,
    // named, or pdfkit loads Helvetica
    font: face.embeddable,
    info: { Title: title, Producer: 'Bottega', Creator: 'Bottega', CreationDate: date, ModDate: date },
  })

const draw = (doc: Doc, pages: Mark[][], logo: Picture | undefined): void => {
  const fonts: Fonts = makeFonts((face) => {
    doc.font(face.embeddable as unknown as string)
    return doc._font
  })
  for (const marks of pages) {
    doc.addPage()
    const { operators, used } = operatorsOf(marks, fonts, logo?.label)
    for (const font of used) doc.page.fonts[font.id] = font.ref()
    if (logo && marks.some(({ mark }) => mark === 'logo')) {
      if (!logo.obj) logo.embed(doc)
      doc.page.xobjects[logo.label] = logo.obj
    }
    doc.addContent(Buffer.from(operators, 'latin1') as unknown as string)
  }
}

/** Associated with the whole document, as the same invoice in another form (Factur-X 1.08, 6.2). */
const attach = (doc: Doc, { name, bytes, profile }: Attachment): void => {
  const { CreationDate } = doc.info as { CreationDate: Date }
  doc.file(bytes, {
    name,
    type: 'text/xml',
    description: 'Factur-X',
    relationship: 'Alternative',
    creationDate: CreationDate,
    modifiedDate: CreationDate,
  } as PDFKit.Mixins.PDFAttachmentOptions)
  ;(doc as unknown as { appendXML(xml: string): void }).appendXML(facturX({ name, profile }))
}

const finish = (doc: Paper): Buffer => {
  // a subset's outlines hardly shrink: deflating them costs more than all the rest
  doc.compress = false
  doc.end()
  return doc.bytes()
}
