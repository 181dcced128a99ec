/** Sections of what is offered: goods, services, prices, sizes. Prices are display strings. */
import type { ObjectSchema } from '../../../kernel/schema.ts'
import { image, label, link, listOf, pictured, text, title } from '../content-fields.ts'

export const PRODUCTS_MAX = 200
export const SERVICES_MAX = 40
export const TIERS_MAX = 12
export const SPECS_MAX = 24
export const OPTIONS_MAX = 8
export const SIZE_COLUMNS_MAX = 12
export const SIZE_ROWS_MAX = 40

/** How the items of a list stand: the layout's own grid, lines, or a strip that is moved sideways. */
export const LIST_LAYOUTS = ['grid', 'list', 'carousel'] as const
/** What a picture of goods does under the pointer: nothing, grow in its frame, or show the second picture. */
export const IMAGE_HOVERS = ['none', 'zoom', 'swap'] as const

const option = {
  type: 'object',
  title: 'ProductOption',
  description: 'A choice that the buyer has.',
  required: ['name', 'values'],
  properties: {
    name: label({ description: 'What is chosen, as Size.' }),
    values: {
      type: 'array',
      description: 'What there is to choose from.',
      minItems: 1,
      maxItems: SPECS_MAX,
      'x-list': 'atomic',
      items: label({ description: 'One value.' }),
    },
  },
} as const satisfies ObjectSchema

const product = {
  type: 'object',
  title: 'SiteProduct',
  description: 'Something that is sold.',
  required: ['name'],
  properties: {
    ...pictured,
    secondImage: image({ description: 'A second picture of it, for image_hover swap.' }),
    name: title({ description: 'What it is called.' }),
    text: text({ description: 'A sentence about it.' }),
    price: label({ description: 'The price as it is to be read, with its currency.' }),
    priceWas: label({ description: 'The price before, shown struck through.' }),
    link: link({ description: 'Where it is bought or asked for.' }),
    specs: listOf(
      'Facts, one line each; what stands before a colon is set as its name.',
      SPECS_MAX,
      title({ description: 'One fact.' }),
    ),
    options: listOf('Sizes, colours and other choices.', OPTIONS_MAX, option),
    tag: label({ description: 'A word on a ribbon, as New.' }),
    collection: label({ description: 'Products of one collection stand together under its name.' }),
  },
} as const satisfies ObjectSchema

export const products = listOf('What is sold.', PRODUCTS_MAX, product)

const service = {
  type: 'object',
  title: 'SiteService',
  description: 'Something that is done for clients.',
  required: ['name'],
  properties: {
    name: title({ description: 'What it is called.' }),
    text: text({ description: 'What it is, and for whom.' }),
    price: label({ description: 'The price as it is to be read.' }),
    ...pictured,
    link: link({ description: 'Where one reads more.' }),
  },
} as const satisfies ObjectSchema

export const services = listOf('What is done for clients.', SERVICES_MAX, service)

const tier = {
  type: 'object',
  title: 'PricingTier',
  description: 'One offer beside others.',
  required: ['name'],
  properties: {
    name: label({ description: 'What it is called.' }),
    text: text({ description: 'Whom it is for.' }),
    price: label({ description: 'The price as it is to be read.' }),
    features: listOf('What it holds.', SPECS_MAX, title({ description: 'One thing.' })),
    cta: title({
      description: 'The words of its button, which leads to the contact section; or the address it leads to.',
    }),
    link: link({ description: 'Where its button leads.' }),
    tag: label({ description: 'A word that sets it off from its neighbours, as Recommended.' }),
  },
} as const satisfies ObjectSchema

export const pricing = listOf('Offers side by side.', TIERS_MAX, tier)

export const sizeGuide = {
  type: 'object',
  title: 'SizeGuide',
  description: 'A table of sizes.',
  required: ['columns', 'rows'],
  properties: {
    columns: listOf('The heads of the columns.', SIZE_COLUMNS_MAX, label({ description: 'One head.' })),
    rows: listOf('The lines, each with as many cells as there are columns.', SIZE_ROWS_MAX, {
      type: 'object',
      title: 'SizeRow',
      description: 'One line.',
      required: ['cells'],
      properties: {
        cells: listOf('Its cells; the first names it.', SIZE_COLUMNS_MAX, label({ description: 'One cell.' })),
      },
    }),
    note: text({ description: 'How one measures.' }),
  },
} as const satisfies ObjectSchema

const listLayout = (of: string) =>
  ({ type: 'string', description: `How ${of} stand; as the layout has it when left out.`, enum: LIST_LAYOUTS }) as const

export const productsLayout = listLayout('products')
export const servicesLayout = listLayout('services')
export const teamLayout = listLayout('the people of the team')
export const imageHover = {
  type: 'string',
  description: 'What a picture of goods does under the pointer; touch loses nothing.',
  enum: IMAGE_HOVERS,
} as const
