/** The words of the trade: how the sections of a site are called, and its actions. */
import type { ObjectSchema } from '../../kernel/schema.ts'
import { label } from './content-fields.ts'

const heading = (of: string) => label({ description: `What ${of} is called.` })

const sections = {
  type: 'object',
  title: 'SectionLabels',
  description: 'The titles of sections; those of the language when left out.',
  properties: {
    badges: heading('badges'),
    marquee: heading('marquee'),
    products: heading('products'),
    services: heading('services'),
    gallery: heading('gallery'),
    featureRows: heading('feature_rows'),
    steps: heading('steps'),
    video: heading('video'),
    pricing: heading('pricing'),
    sizeGuide: heading('size_guide'),
    testimonials: heading('testimonials'),
    clients: heading('clients'),
    team: heading('team'),
    text: heading('text'),
    faq: heading('faq'),
    hours: heading('hours'),
    ctaBanner: heading('cta_banner'),
    contact: heading('contact'),
  },
} as const satisfies ObjectSchema

const actions = {
  type: 'object',
  title: 'ActionLabels',
  description: 'The words of what a visitor can do.',
  properties: {
    hero: label({ description: 'The first call to action.' }),
    more: label({ description: 'The second one, to what there is to see.' }),
    ask: label({ description: 'Under an item of products.' }),
    banner: label({ description: 'The button of the banner.' }),
    contact: label({ description: 'Where else one is led to the contact section.' }),
    choose: label({ description: 'Under an offer of pricing.' }),
    book: label({ description: 'The link to the booking.' }),
    send: label({ description: 'The button of the contact form.' }),
  },
} as const satisfies ObjectSchema

/** `labels` of a content. The caller's words stand over those of the preset, and those over the language's. */
export const labels = {
  type: 'object',
  title: 'SiteLabels',
  description: 'How sections and actions are called.',
  properties: { sections, actions, specs: label({ description: 'What the facts about a product are called.' }) },
} as const satisfies ObjectSchema
