/**
 * The icon of a site as PNGs, for whoever takes no SVG: from the logo, or from the initials, which are drawn as outlines of the
 * faces of documents, so that they look the same on a machine without a font.
 */
import type { DocumentLang } from '../../../crds/invoice/order/frozen.ts'
import type { IconSketch } from '../../../crds/site/render/page/extras.ts'
import { html, textOf } from '../../../crds/text/html.ts'
import { makeTypefaces } from '../pdf/typefaces.ts'
import { type ImageBlob, squareIcon } from './images.ts'

/** Of tabs, of lists and bookmarks, of the home screen of a phone. */
export const ICON_SIZES = [32, 48, 180] as const
/** A phone rounds it by itself, and shows what is clear as black. */
const TOUCH_SIZE = 180

export type IconSource = { logo: Uint8Array; paper: string } | (IconSketch & { lang: DocumentLang })
export type DrawnIcon = { size: number; blob: ImageBlob }

const SIDE = 64
/** Half the height of a capital, and of a Han sign below its middle, at size 1. */
const RISE = 0.36

/** Square, at any size. A letter that no face has is left out. */
const sketchOf = (
  { letters, fill, onFill, lang }: Extract<IconSource, { letters: string }>,
  facesOf: ReturnType<typeof makeTypefaces>,
  isRound: boolean,
): string => {
  const signs = [...letters]
  const size = signs.length > 1 ? 30 : 38
  const { bold } = facesOf(lang)
  const glyphs = signs.flatMap((sign) => {
    const codePoint = sign.codePointAt(0) ?? 0
    const face = bold.faceOf(codePoint)
    return face === null ? [] : [{ ...face.outlineOf(face.glyphOf(codePoint)), advance: face.advanceOf(codePoint) }]
  })
  const width = glyphs.reduce((sum, { advance }) => sum + (advance * size) / 1000, 0)
  let x = (SIDE - width) / 2
  const drawn = glyphs.map(({ path, unitsPerEm, advance }) => {
    const scale = size / unitsPerEm
    const at = x
    x += (advance * size) / 1000
    return html`<path d="${path}" transform="translate(${at.toFixed(3)} ${(SIDE / 2 + RISE * size).toFixed(3)}) scale(${scale.toFixed(6)} ${(-scale).toFixed(6)})"/>`
  })
  return textOf(
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE * 4}" height="${SIDE * 4}"><rect width="${SIDE}" height="${SIDE}"${isRound && html` rx="10"`} fill="${fill}"/><g fill="${onFill}">${drawn}</g></svg>`,
  )
}

/** Same source, same bytes, on one version of the codecs. */
export const makeIconDrawer = (facesOf = makeTypefaces()): ((source: IconSource) => Promise<DrawnIcon[]>) => {
  return (source) =>
    Promise.all(
      ICON_SIZES.map(async (size) => {
        const isTouch = size === TOUCH_SIZE
        const picture = 'logo' in source ? source.logo : Buffer.from(sketchOf(source, facesOf, !isTouch))
        const ground = 'logo' in source && isTouch ? source.paper : null
        return { size, blob: await squareIcon(picture, size, ground) }
      }),
    )
}
