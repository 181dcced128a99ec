/** A thread that cuts one Han face after another (hancutter.ts). The only file that imports subset-font. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import subsetFont from 'subset-font'
import type { HanFace } from '../../../crds/site/render/type/han.ts'
import { serveThread } from '../../base/threads/serve.ts'
import type { HanJob } from './hancutter.ts'

/** Folders of @expo-google-fonts; an image has those alone (hack/container/content.ts). */
const FOLDERS: Readonly<Record<number, string>> = {
  300: '300Light',
  400: '400Regular',
  500: '500Medium',
  600: '600SemiBold',
  700: '700Bold',
  900: '900Black',
}

const fileOf = ({ lang, serif, weight }: HanFace): string => {
  const folder = FOLDERS[weight]
  if (folder === undefined) throw new RangeError(`there is no Han face of weight ${weight}`)
  const family = `Noto${serif ? 'Serif' : 'Sans'}${lang === 'zh-Hant' ? 'TC' : 'SC'}`
  const name = `noto-${serif ? 'serif' : 'sans'}-${lang === 'zh-Hant' ? 'tc' : 'sc'}`
  return createRequire(import.meta.url).resolve(`@expo-google-fonts/${name}/${folder}/${family}_${folder}.ttf`)
}

/** What browsers trim punctuation by, and upright signs in vertical lines. */
const FEATURES = ['halt', 'vhal', 'chws', 'vchw', 'vert', 'vrt2']

serveThread(
  async ({ face, characters }: HanJob) => {
    const whole = await readFile(fileOf(face))
    const made = await subsetFont(whole, characters, {
      targetFormat: 'woff2',
      keepFeatures: FEATURES,
      noHinting: true,
    })
    return new Uint8Array(made) // a copy of its own, whose bytes can be handed over
  },
  ({ buffer }) => [buffer],
)
