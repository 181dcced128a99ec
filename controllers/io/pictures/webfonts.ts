/** The typefaces of websites, read out of their packages (all under the OFL): bytes for the blob store, names for the renderer. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { FONT_FILES } from '../../../crds/site/render/type/faces.ts'

export type Webfont = { file: string; sha256: string; bytes: Uint8Array }

/** `jost-latin-wght-normal.woff2` lies in `@fontsource-variable/jost`; a font of one weight in `@fontsource`. */
const packageOf = (file: string): string => {
  const scope = /-(wght|wdth)-(normal|italic)\.woff2$/.test(file) ? '@fontsource-variable' : '@fontsource'
  return `${scope}/${file.slice(0, file.indexOf('-latin'))}`
}

/** Every file that `SiteInput.fonts` may name. About 1.2 MB; read once per process. */
export const readWebfonts = (): Webfont[] => {
  const { resolve } = createRequire(import.meta.url)
  return FONT_FILES.map((file) => {
    const bytes = readFileSync(resolve(`${packageOf(file)}/files/${file}`))
    return { file, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  })
}
