/** Makes the PDF of an invoice. The only file that imports pdfkit. */
import PDFDocument from 'pdfkit'
import { documentOf } from '../../crds/invoice/document.ts'
import type { Frozen, FrozenDraft, Lang } from '../../crds/invoice/frozen.ts'
import { type FontFiles, parseFace } from './fonts.ts'
import { type Faces, type Ink, type Mark, PAGE, type Weight } from './pen.ts'
import { typeset } from './typeset.ts'

export type Pdf = {
  /**
   * The PDF of a frozen invoice, or of a draft (number null), which carries a DRAFT stamp. The same record gives the
   * same bytes in any process and time zone, as long as pdfkit, the fonts and Node's zlib stay pinned.
   */
  render(frozen: Frozen | FrozenDraft): Promise<Buffer>
}

/** The languages that the faces cannot write yet get the labels of another. */
const LABELS: Record<Lang, Lang> = { en: 'en', es: 'es', 'zh-Hant': 'en', 'zh-Hans': 'en' }

/** Parses the fonts once; keep what it gives. */
export const makePdf = ({ fonts }: { fonts: FontFiles }): Pdf => {
  const faces: Faces = { regular: parseFace(fonts.regular), bold: parseFace(fonts.bold) }
  return {
    render: async (frozen) => {
      const document = documentOf(frozen, LABELS[frozen.lang])
      const title = `${document.heading.title} ${document.heading.number}`.replace(/[^\w -]/g, '').trim()
      return write(typeset(document, faces), faces, {
        title,
        lang: document.lang,
        date: new Date(`${frozen.issuedOn}T00:00:00Z`),
      })
    },
  }
}

/** Red, green, blue from 0 to 1. */
const INKS: Record<Ink, string> = {
  ink: '0.09 0.11 0.14',
  muted: '0.33 0.37 0.42',
  rule: '0.84 0.86 0.88',
  ghost: '0.93 0.94 0.95',
  paid: '0.09 0.47 0.31',
  note: '0.42 0.29 0',
  band: '1 0.96 0.84',
}

/** What we use of pdfkit's embedded font: `encode` gives glyph ids as four hex digits each, and notes them as used. */
type EmbeddedFont = { id: string; encode(text: string): [string[], unknown]; ref(): unknown }
type Internals = { _font: EmbeddedFont; page: { fonts: Record<string, unknown> } }
/** A font within one document; `codes` remembers the code of each character that it has. */
type Font = { embedded: EmbeddedFont; codes: Map<number, string> }
type Fonts = Record<Weight, Font>

const fontsOf = (doc: PDFKit.PDFDocument, faces: Faces): Fonts => {
  const open = (weight: Weight): Font => {
    doc.font(faces[weight].embeddable as unknown as string)
    return { embedded: (doc as unknown as Internals)._font, codes: new Map() }
  }
  return { regular: open('regular'), bold: open('bold') }
}

type About = { title: string; lang: string; date: Date }

const write = (pages: Mark[][], faces: Faces, { title, lang, date }: About): Buffer => {
  const doc = new PDFDocument({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.7',
    lang,
    displayTitle: true,
    // named, or pdfkit loads Helvetica
    font: faces.regular.embeddable as unknown as string,
    info: { Title: title, Producer: 'Bottega', Creator: 'Bottega', CreationDate: date, ModDate: date },
  })
  const fonts = fontsOf(doc, faces)
  for (const marks of pages) {
    doc.addPage()
    const used = (doc as unknown as Internals).page.fonts
    for (const { embedded } of Object.values(fonts)) used[embedded.id] = embedded.ref()
    doc.addContent(Buffer.from(operatorsOf(marks, fonts), 'latin1'))
  }
  // a subset's outlines hardly shrink: deflating them costs more than all the rest
  doc.compress = false
  doc.end()
  const chunks: Buffer[] = []
  for (let chunk = doc.read(); chunk !== null; chunk = doc.read()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const points = (number: number): string => String(Math.round(number * 100) / 100)

/** A matrix for things that stand upright, turned counter-clockwise by so many degrees. */
const turned = (degrees: number): string => {
  if (degrees === 0) return '1 0 0 -1'
  const angle = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)].map((one) => String(Math.round(one * 1e5) / 1e5))
  return `${cos} -${sin} -${sin} -${cos}`
}

/** A text as pdfkit would encode it, asking pdfkit once per character of a document. */
const codesOf = ({ embedded, codes }: Font, text: string): string => {
  let answer = ''
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    let code = codes.get(unit)
    if (code === undefined) {
      code = embedded.encode(text.charAt(index))[0].join('')
      codes.set(unit, code)
    }
    answer += code
  }
  return answer
}

/** Page content operators (ISO 32000-2, Annex A). pdfkit has turned the y axis downwards, so text is turned back up. */
const operatorsOf = (marks: Mark[], fonts: Fonts): string => {
  let out = ''
  let [ink, style] = ['', '']
  for (const mark of marks) {
    if (INKS[mark.ink] !== ink) {
      ink = INKS[mark.ink]
      out += `${ink} rg ${ink} RG\n`
    }
    if (mark.mark === 'text') {
      const next = `/${fonts[mark.weight].embedded.id} ${points(mark.size)} Tf\n`
      if (next !== style) out += next
      style = next
    }
    out += operatorOf(mark, fonts)
  }
  return out
}

const operatorOf = (mark: Mark, fonts: Fonts): string => {
  const [x, y] = [points(mark.x), points(mark.y)]
  switch (mark.mark) {
    case 'text':
      return `BT ${turned(mark.turn ?? 0)} ${x} ${y} Tm <${codesOf(fonts[mark.weight], mark.text)}> Tj ET\n`
    case 'fill':
      return `${x} ${y} ${points(mark.width)} ${points(mark.height)} re f\n`
    case 'frame':
      return `q ${turned(mark.turn)} ${x} ${y} cm 1.8 w 0 0 ${points(mark.width)} ${points(mark.height)} re S Q\n`
    default:
      return mark satisfies never
  }
}
