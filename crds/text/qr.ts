/** QR codes (ISO/IEC 18004) as SVG in the page itself: no script, no picture from elsewhere. The only file that imports qr. */
import { encodeQR } from 'qr'
import { type Html, html } from './html.ts'

/** Light modules around the code that readers need (ISO/IEC 18004 section 6.3.8). */
const QUIET_ZONE = 4

export type Correction = 'low' | 'medium'

/** Rows of modules, true for dark, with the quiet zone. @throws Error when the text does not fit */
export const qrModules = (text: string, ecc: Correction): boolean[][] =>
  encodeQR(text, 'raw', { ecc, border: QUIET_ZONE })

/** One path for all dark modules: runs of a row drawn together. */
const pathOf = (rows: readonly boolean[][]): string =>
  rows
    .flatMap((row, y) => {
      const runs: string[] = []
      for (let x = 0; x < row.length; x++) {
        if (!row[x]) continue
        const start = x
        while (row[x + 1]) x++
        runs.push(`M${start} ${y}h${x + 1 - start}v1h-${x + 1 - start}z`)
      }
      return runs
    })
    .join('')

/** Dark on white in the dark, too: readers look for that. @param label what it is, for who does not see it */
export const qrCode = (text: string, { label, ecc }: { label: string; ecc: Correction }): Html => {
  const rows = qrModules(text, ecc)
  const size = rows.length
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${size}v${size}H0z"/><path fill="#000000" d="${pathOf(rows)}"/></svg>`
}
