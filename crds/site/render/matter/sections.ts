/** From the content of a section to its matter. A section that comes new needs an entry here, and a row in the table of forms. */
import type { SectionId } from '../../content/content.ts'
import { FOCAL_PORTRAIT } from '../choose/pictures.ts'
import { type Frame, focalOf, shotOf } from '../page/frame.ts'
import { collectionsOf } from '../page/pages.ts'
import { askLink, tierAction } from '../page/parts.ts'
import { type Group, item, type Matter } from './matter.ts'
import { MORE } from './more.ts'

type MatterOf = (frame: Frame) => Matter

const one = (items: Group['items']): readonly Group[] => (items.length === 0 ? [] : [{ name: null, items }])

/** A name and a price alone are a line of a list, which nobody asks about: a dish of a menu. */
const products: MatterOf = (frame) => ({
  tone: 'goods',
  groups: collectionsOf(frame.content, frame.page.part).map(({ name, products: placed }) => ({
    name,
    items: placed.map(({ product }) => {
      const { secondImage: second } = product
      const first = shotOf(frame, product.image, product.alt ?? product.name, focalOf(product.focus))
      const shot = first && { ...first, ...(second !== undefined && { second }) }
      const bare =
        shot === null &&
        product.specs === undefined &&
        product.options === undefined &&
        product.text === undefined &&
        placed.length > 2
      return item(product.name, {
        ...product,
        shot,
        specs: product.specs ?? [],
        options: product.options ?? [],
        action: bare ? null : askLink(frame, product),
      })
    }),
  })),
})

const gallery: MatterOf = (frame) => ({
  tone: 'mood',
  groups: one(
    (frame.content.gallery ?? []).map(({ image, alt, focus, caption = '', link }) =>
      item(caption, {
        shot: shotOf(frame, image, alt ?? caption, focalOf(focus)),
        ...(link !== undefined && { link }),
      }),
    ),
  ),
})

const featureRows: MatterOf = (frame) => ({
  tone: 'mood',
  groups: one(
    (frame.content.featureRows ?? []).map(({ title, text, image, alt = '', focus, link }) =>
      item(title, {
        shot: shotOf(frame, image, alt, focalOf(focus)),
        ...(text !== undefined && { text }),
        ...(link !== undefined && { link }),
      }),
    ),
  ),
})

const pricing: MatterOf = (frame) => ({
  tone: 'goods',
  groups: one(
    (frame.content.pricing ?? []).map((tier) =>
      item(tier.name, {
        points: tier.features ?? [],
        action: tierAction(frame, tier),
        ...(tier.price !== undefined && { price: tier.price }),
        ...(tier.text !== undefined && { text: tier.text }),
        ...(tier.tag !== undefined && { tag: tier.tag }),
      }),
    ),
  ),
})

const testimonials: MatterOf = (frame) => ({
  tone: 'portrait',
  groups: one(
    (frame.content.testimonials ?? []).map(({ quote, name, role, image, focus, stars }) =>
      item(name ?? role ?? '', {
        text: quote,
        shot: shotOf(frame, image, '', focalOf(focus) ?? FOCAL_PORTRAIT),
        ...(stars !== undefined && { stars }),
        ...(name !== undefined && role !== undefined && { role }),
      }),
    ),
  ),
})

const contact: MatterOf = () => ({ tone: 'goods', groups: [] })

export const MATTERS: Record<Exclude<SectionId, 'hero'>, MatterOf> = {
  ...MORE,
  products,
  gallery,
  feature_rows: featureRows,
  pricing,
  testimonials,
  contact,
}
