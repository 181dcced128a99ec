/**
 * A layout in a template as a drawing: its silhouette in the template's colours, headline, corners and ornament. Pure, and an SVG
 * without script, style or anything from elsewhere. Source: rules/site.md#templates.
 */
import { type Html, html, textOf } from '../../../../text/html.ts'
import { type BrandTokens, brandOf, type Palette } from '../../../content/brand/brand.ts'
import type { Layout, Template } from '../../../content/content.ts'
import { TEMPLATE_VIEWS } from '../catalogue.ts'
import { FRAMINGS, type Framing } from './frames.ts'
import { SCENES, type SceneShape, SHEET } from './scenes.ts'

type Paint = { palette: Palette; framing: Framing; radius: number; template: Template }
type Box = Pick<SceneShape, 'x' | 'y' | 'w' | 'h'>

const num = (value: number): string => String(Math.round(value * 10) / 10)

const rect = ({ x, y, w, h }: Box, fill: string, more: { rx?: number; stroke?: string; dash?: string } = {}): Html => {
  const { rx = 0, stroke, dash } = more
  return html`<rect x="${num(x)}" y="${num(y)}" width="${num(w)}" height="${num(h)}" fill="${fill}"${rx > 0 && html` rx="${num(rx)}"`}${
    stroke !== undefined && html` stroke="${stroke}"`
  }${dash !== undefined && html` stroke-dasharray="${dash}"`}/>`
}

const inset = ({ x, y, w, h }: Box, by: number): Box => ({ x: x + by, y: y + by, w: w - 2 * by, h: h - 2 * by })

const inkOn = ({ palette }: Paint, on: SceneShape['on'] = 'paper'): string => {
  if (on === 'inverse') return palette.onInverse
  return on === 'picture' ? '#ffffff' : palette.ink
}
const mutedOn = ({ palette }: Paint, on: SceneShape['on'] = 'paper'): string =>
  on === 'inverse' ? palette.mutedInverse : palette.muted

/** Corners on a sheet of this size. */
const SCALE = 0.22
const radiusOf = ({ radius }: Paint, { w, h }: Box): number => Math.min(radius * SCALE, w / 2, h / 2)

/** A hill before a sky, so that it reads as a picture and not as a box. */
const view = ({ palette }: Paint, box: Box, rx: number): Html => {
  const { x, y, w, h } = box
  const hill = `M${num(x)} ${num(y + h * 0.78)}L${num(x + w * 0.34)} ${num(y + h * 0.46)}L${num(x + w * 0.62)} ${num(y + h * 0.74)}L${num(x + w * 0.78)} ${num(y + h * 0.6)}L${num(x + w)} ${num(y + h * 0.8)}V${num(y + h - rx)}Q${num(x + w)} ${num(y + h)} ${num(x + w - rx)} ${num(y + h)}H${num(x + rx)}Q${num(x)} ${num(y + h)} ${num(x)} ${num(y + h - rx)}Z`
  return html`${rect(box, palette.edge, { rx })}<path d="${hill}" fill="${palette.muted}"/>`
}

const arch = ({ palette }: Paint, { x, y, w, h }: Box): Html => {
  const r = Math.min(w / 2, h * 0.6)
  return html`<path d="M${num(x)} ${num(y + h)}V${num(y + r)}Q${num(x)} ${num(y)} ${num(x + w / 2)} ${num(y)}Q${num(x + w)} ${num(y)} ${num(x + w)} ${num(y + r)}V${num(y + h)}Z" fill="${palette.edge}"/><circle cx="${num(x + w / 2)}" cy="${num(y + h * 0.62)}" r="${num(Math.min(w, h) * 0.2)}" fill="${palette.muted}"/>`
}

const picture = (paint: Paint, shape: SceneShape): Html => {
  const { palette, framing } = paint
  const rx = radiusOf(paint, shape)
  const mark = shape.goods || framing.picture === 'arch' || framing.picture === 'gilt' ? framing.picture : 'plain'
  const bleeds = shape.w >= SHEET.width / 2
  switch (mark) {
    case 'mat':
      return html`${rect(shape, palette.plate, { rx })}${view(paint, inset(shape, 4), 0)}`
    case 'lined':
      return html`${rect({ ...shape, h: 1 }, palette.ink)}${view(paint, { ...shape, y: shape.y + 4, h: shape.h - 8 }, 0)}${rect({ ...shape, y: shape.y + shape.h - 1, h: 1 }, palette.ink)}`
    case 'arch':
      return bleeds || shape.goods ? view(paint, shape, bleeds ? 0 : rx) : arch(paint, shape)
    case 'print':
      return html`${rect(shape, palette.paper, { stroke: palette.edge })}${view(paint, inset(shape, 4), 0)}`
    case 'cutout':
      return html`${rect(shape, palette.plate, { rx })}<circle cx="${num(shape.x + shape.w / 2)}" cy="${num(shape.y + shape.h / 2)}" r="${num(Math.min(shape.w, shape.h) * 0.34)}" fill="${palette.muted}"/>`
    case 'cell':
      return html`${view(paint, shape, rx)}${rect(shape, 'none', { rx, stroke: palette.edge })}`
    case 'gilt':
      return html`${view(paint, shape, 0)}${bleeds || shape.goods ? null : rect(inset(shape, 3), 'none', { stroke: palette.accentLine })}`
    case 'flush':
      return view(paint, { ...shape, x: shape.x - 2, w: shape.w + 4 }, 0)
    default:
      return view(paint, shape, bleeds ? 0 : rx)
  }
}

/** Lines of a height within a box, the last one shorter. */
const strokes = (shape: SceneShape, fill: string, thickness: number, rx = 0): Html => {
  const { x, y, w, h, lines = 1, middle = false } = shape
  const step = lines > 1 ? (h - thickness) / (lines - 1) : 0
  return html`${Array.from({ length: lines }, (_, index) => {
    const width = index === lines - 1 && lines > 1 ? w * 0.62 : w
    const left = middle ? x + (w - width) / 2 : x
    return rect({ x: left, y: y + index * step, w: width, h: thickness }, fill, { rx })
  })}`
}

/** A letter of the headline is this share of its size wide; the words are the template's own name, said again. */
const LETTER = 0.6

const headline = (paint: Paint, shape: SceneShape): Html => {
  const { framing, template } = paint
  const { x, y, w, h, lines = 1, middle = false } = shape
  const name = template[0]?.toUpperCase() + template.slice(1)
  const said = framing.capitals ? name.toUpperCase() : name
  const step = h / lines
  const size = step * (lines > 1 ? 0.94 : 1.05)
  const most = Math.max(said.length, Math.floor(w / (size * LETTER)))
  const whole = `${said} & ${said}`
  const [wide, short] = [whole.length <= most ? whole : said, said]
  return html`${Array.from({ length: lines }, (_, index) => {
    const line = lines > 1 && index === lines - 1 ? short : wide
    const width = Math.min(w, line.length * size * LETTER)
    const left = middle ? x + (w - width) / 2 : x
    return html`<text x="${num(left)}" y="${num(y + step * index + size * 0.78)}" textLength="${num(width)}" lengthAdjust="spacingAndGlyphs" font-family="${framing.face}" font-weight="${framing.weight}" font-size="${num(size)}" fill="${inkOn(paint, shape.on)}">${line}</text>`
  })}`
}

const title = (paint: Paint, shape: SceneShape): Html => {
  const { palette, framing } = paint
  const { x, y, w, h, middle = false } = shape
  const ink = inkOn(paint, shape.on)
  const bar = strokes({ ...shape, h: Math.min(h, shape.lines === undefined ? 7 : h) }, ink, 6)
  const centre = middle ? x + w / 2 : x
  switch (framing.title) {
    case 'square':
      return html`${rect({ x, y: y + 1, w: 5, h: 5 }, palette.accentLine)}${strokes({ ...shape, x: x + 9, w: w - 9 }, ink, 6)}`
    case 'double':
      return html`${bar}${rect({ x, y: y + h + 1, w, h: 1 }, palette.accentLine)}${rect({ x, y: y + h + 3, w, h: 1 }, palette.accentLine)}`
    case 'above':
      return html`${rect({ x, y: y - 4, w: SHEET.width - x - 12, h: 1 }, palette.ink)}${bar}`
    case 'leaf':
      return html`<path d="M${num(x)} ${num(y + 7)}Q${num(x)} ${num(y)} ${num(x + 7)} ${num(y)}Q${num(x + 7)} ${num(y + 7)} ${num(x)} ${num(y + 7)}Z" fill="${palette.accentLine}"/>${strokes({ ...shape, x: x + 10, w: w - 10 }, ink, 6)}`
    case 'stitch':
      return html`${bar}<path d="M${num(x)} ${num(y - 3)}h${num(w)}M${num(x)} ${num(y + h + 2)}h${num(w)}" stroke="${palette.accentLine}" stroke-dasharray="3 2" fill="none"/>`
    case 'tab':
      return html`${rect({ x, y: y - 3, w, h: h + 5 }, palette.fill, { rx: 2 })}${rect({ x: x + 5, y: y + 1, w: w - 14, h: 4 }, palette.onFill)}`
    case 'index':
      return html`<text x="${num(x)}" y="${num(y + 6)}" font-family="monospace" font-size="7" fill="${palette.accentLine}">/01</text>${strokes({ ...shape, x: x + 16, w: w - 16 }, ink, 6)}`
    case 'lozenge':
      return html`${strokes(shape, ink, 5)}<path d="M${num(centre + (middle ? 0 : 3))} ${num(y + h + 2)}l3 3l-3 3l-3 -3Z" fill="${palette.accentLine}"/>`
    case 'black':
      return html`${rect({ x, y: y - 5, w: SHEET.width - x - 4, h: 3 }, palette.ink)}${bar}`
    default:
      return bar
  }
}

const button = (paint: Paint, shape: SceneShape): Html => {
  const { palette, framing } = paint
  const rx = framing.button === 'pill' ? shape.h / 2 : Math.min(3, radiusOf(paint, shape))
  const label = { x: shape.x + shape.w * 0.22, y: shape.y + shape.h / 2 - 1.5, w: shape.w * 0.56, h: 3 }
  if (framing.button === 'outlined') {
    return html`${rect(inset(shape, 0.5), shape.on === 'picture' ? palette.paper : 'none', { stroke: palette.accentLine })}${rect(label, palette.ink)}`
  }
  return html`${rect(shape, palette.fill, { rx, ...(palette.fillEdge !== palette.fill && { stroke: palette.fillEdge }) })}${rect(label, palette.onFill)}`
}

const price = ({ palette, framing }: Paint, shape: SceneShape): Html =>
  framing.title === 'tab' ? rect({ ...shape, h: shape.h + 2 }, palette.fill, { rx: 2 }) : rect(shape, palette.ink)

const groundOf = ({ palette }: Paint, on: SceneShape['on']): string => {
  if (on === 'inverse') return palette.inverse
  return on === 'fill' ? palette.fill : palette.tint
}

const drawn = (paint: Paint, shape: SceneShape): Html => {
  const { palette } = paint
  switch (shape.is) {
    case 'picture':
      return picture(paint, shape)
    case 'headline':
      return headline(paint, shape)
    case 'title':
      return title(paint, shape)
    case 'text':
      return strokes(shape, mutedOn(paint, shape.on), 2, 1)
    case 'button':
      return button(paint, shape)
    case 'price':
      return price(paint, shape)
    case 'name':
      return rect(shape, inkOn(paint, shape.on), { rx: Math.min(2, paint.radius * SCALE) })
    case 'word':
      return rect(shape, inkOn(paint, shape.on))
    case 'bar':
      return rect(shape, palette.ink === inkOn(paint) && shape.h < 4 ? palette.accentLine : palette.ink)
    case 'rule':
      return rect(shape, palette.edge)
    case 'rail':
      return html`${rect(shape, palette.tint)}${rect({ ...shape, x: shape.x + shape.w, w: 1 }, palette.edge)}`
    case 'band':
      return rect(shape, groundOf(paint, shape.on))
    default:
      return shape.is satisfies never
  }
}

/** The grid of a technical sheet, through the page. */
const gridOf = ({ palette, framing }: Paint): Html | null =>
  framing.picture === 'cell'
    ? html`<path d="M60 0V300M120 0V300M180 0V300" stroke="${palette.line}" fill="none"/>`
    : null

/** @param tokens of an account, laid over the template's own */
export const thumbnailOf = (layout: Layout, template: Template, tokens: BrandTokens | null = null): string => {
  const { palette } = brandOf(template, tokens)
  const paint: Paint = { palette, framing: FRAMINGS[template], radius: TEMPLATE_VIEWS[template].radius, template }
  const { width, height } = SHEET
  return textOf(
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${layout}, ${template}</title>${rect({ x: 0, y: 0, w: width, h: height }, palette.paper)}${gridOf(paint)}${SCENES[layout].map((shape) => drawn(paint, shape))}</svg>`,
  )
}
