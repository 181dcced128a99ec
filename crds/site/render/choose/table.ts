/** Which form each section takes in each layout, before its content has its say. Source: rules/site.md#forms. */
import type { Layout, SectionId } from '../../content/content.ts'

export const FORMS = [
  'cards',
  'plates',
  'rows',
  'list',
  'strip',
  'table',
  'index',
  'chapters',
  'justified',
  'ladder',
  'reach',
  'folds',
  'prose',
  'facts',
  'spoken',
  'week',
  'wall',
  'line',
  'seals',
  'proofs',
  'banner',
  'film',
  'sizes',
  'stacked',
  'measures',
  'marquee',
  'write',
] as const
export type FormId = (typeof FORMS)[number]

/** The form, and the most items in a row of it. */
export type FormSpec = { form: FormId; most: number }

const ORDER = [
  'classic',
  'editorial',
  'showcase',
  'monolith',
  'atelier',
  'sidenav',
  'narrative',
] as const satisfies readonly Layout[]

const isForm = (word: string): word is FormId => FORMS.some((form) => form === word)

/** `cards 3` is the form with the most in a row; two when nothing is said. */
const specOf = (words: string): FormSpec => {
  const [name = '', most = '2'] = words.split(' ')
  if (!isForm(name)) throw new RangeError(`there is no form ${name}`)
  return { form: name, most: Number(most) }
}

const row = (...forms: [string, string, string, string, string, string, string]): Record<Layout, FormSpec> =>
  Object.fromEntries(ORDER.map((layout, at) => [layout, specOf(forms[at] ?? '')])) as Record<Layout, FormSpec>

const same = (form: FormId) => row(form, form, form, form, form, form, form)

/**
 * Sections whose form is chosen; a hero is the layout's own. In the order of `ORDER`. Where one stands alike in all, its content
 * decides in `few.ts`, or within the form.
 */
export const TABLE: Record<Exclude<SectionId, 'hero'>, Record<Layout, FormSpec>> = {
  products: row('cards 3', 'plates 12', 'cards 4', 'index', 'plates', 'rows', 'plates'),
  gallery: row('justified 3', 'plates 12', 'justified 4', 'plates 1', 'plates', 'justified 4', 'justified 3'),
  feature_rows: row('rows', 'rows', 'cards 2', 'index', 'rows', 'rows', 'chapters'),
  pricing: row('cards 3', 'rows', 'table 4', 'list', 'list', 'table 3', 'rows'),
  testimonials: row('ladder', 'ladder', 'strip 3', 'ladder 1', 'ladder 1', 'rows', 'ladder 1'),
  services: row('rows', 'index', 'cards 3', 'index', 'rows', 'rows', 'chapters'),
  team: row('cards 3', 'cards 3', 'cards 4', 'list', 'plates', 'rows', 'chapters'),
  steps: row('cards 4', 'index', 'cards 4', 'index', 'index', 'index', 'chapters'),
  faq: row('folds', 'rows', 'folds', 'folds', 'folds', 'folds 1', 'folds'),
  text: same('prose'),
  hours: same('facts'),
  clients: same('wall'),
  badges: same('line'),
  cta_banner: same('banner'),
  video: same('film'),
  size_guide: same('sizes'),
  marquee: same('marquee'),
  contact: row('reach', 'reach', 'reach', 'reach', 'reach', 'reach', 'reach'),
}

/** Where a neighbour is alike in form and ground, the second takes this one. */
export const OTHER: Partial<Record<FormId, FormId>> = {
  cards: 'rows',
  rows: 'cards',
  plates: 'strip',
  strip: 'plates',
  list: 'index',
  index: 'list',
  table: 'list',
  ladder: 'strip',
}
