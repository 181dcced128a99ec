/** A site with a film, with words that run by, with questions enough to be folded, and with goods of two pictures. */
import type { Content, Layout, Template } from '../../../../crds/site/content/content.ts'
import { sampleContent } from './sample.ts'

export const FAQ = Array.from({ length: 5 }, (_, n) => ({
  question: `Question ${n}?`,
  answer: `Answer ${n}, in full.`,
}))
/** More of them than are seen at once. */
export const SPECS = [
  'Height: 24 cm',
  'Holds: 1.2 l',
  'Weight: 2 kg',
  'Glaze: salt',
  'Firing: 1,240 °C',
  'Clay: Águeda',
]

export const livelySite = (layout: Layout, template: Template, more: Partial<Content> = {}): Content => {
  const value = sampleContent('en', layout, template)
  const address = { street: 'Rua do Almada 12', postalCode: '4050-030', locality: 'Porto' }
  return {
    ...value,
    products: (value.products ?? []).map((one, n) =>
      n === 0 ? { ...one, specs: SPECS, secondImage: 'asset:p7' } : one,
    ),
    contact: { ...value.contact, phone: '+351 220 000 000', address },
    video: {
      url: 'https://youtu.be/dQw4w9WgXcQ',
      title: 'The second firing',
      image: 'asset:p7',
      alt: 'A kiln at night',
    },
    marquee: { items: ['Thrown', 'Glazed', 'Fired', 'Mended', 'Kept'] },
    faq: FAQ,
    ...more,
  }
}
