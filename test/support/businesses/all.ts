/** The businesses of the tests, by the language that they speak. */
import type { Content, SiteLang } from '../../../crds/site/content/content.ts'
import { AGENT, GOLD } from './chinese.ts'
import { AUDIO, GRILL, JEWEL, TEA } from './goods.ts'
import { CLINIC, LAW, STUDIO } from './services.ts'

export const BUSINESSES: Readonly<Record<SiteLang, readonly Content[]>> = {
  en: [JEWEL, LAW, STUDIO],
  es: [GRILL, CLINIC],
  'zh-Hans': [AUDIO],
  'zh-Hant': [TEA, AGENT, GOLD],
}

/** Keys of pictures in them that the materials paint under another name. */
const ALSO = { w1: 'p1', w2: 'p2', w3: 'p3', t1: 'p1', t2: 'p2', t3: 'p3' } as const

/** Adds those names to what was painted. */
export const nameAlso = <Image>(images: Record<string, Image>): void => {
  for (const [name, painted] of Object.entries(ALSO)) {
    const image = images[painted]
    if (image !== undefined) images[name] = image
  }
}
