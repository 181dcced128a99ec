/** What holds for the whole site: who speaks, in which language, in which dress, in which order and on which pages. */
import type { ObjectSchema } from '../../kernel/schema.ts'
import { TEMPLATES } from '../../values/templates.ts'
import { label, title } from './content-fields.ts'
import { redirects } from './redirects.ts'

export { TEMPLATES }

export const LANGS = ['zh-Hant', 'zh-Hans', 'en', 'es'] as const
export const LAYOUTS = ['classic', 'editorial', 'showcase', 'monolith', 'atelier', 'sidenav', 'narrative'] as const
/** In the order in which they stand when nothing else is asked for. Hero stays first and contact last, whatever is asked. */
export const SECTIONS = [
  'hero',
  'badges',
  'marquee',
  'products',
  'services',
  'gallery',
  'feature_rows',
  'steps',
  'video',
  'pricing',
  'size_guide',
  'testimonials',
  'clients',
  'team',
  'text',
  'faq',
  'hours',
  'cta_banner',
  'contact',
] as const

export const PAGES_MAX = 8
export const SLUG_MAX = 40
export const DESCRIPTION_MAX = 300

const page = {
  type: 'object',
  title: 'SitePage',
  description: 'One page of the site.',
  required: ['slug', 'title', 'sections'],
  properties: {
    slug: {
      type: 'string',
      description: 'The path of the page; the empty string is the index.',
      maxLength: SLUG_MAX,
      pattern: '^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$',
      'x-code': 'BAD_PAGES',
    },
    title: label({ description: 'Its name in the navigation.', 'x-code': 'BAD_PAGES' }),
    description: {
      ...title({ description: 'What it is about, for search engines and those who share it.', 'x-code': 'BAD_PAGES' }),
      maxLength: DESCRIPTION_MAX,
    },
    foot: {
      type: 'boolean',
      description: 'Named in the foot instead of the navigation, as an imprint is.',
      'x-code': 'BAD_PAGES',
    },
    sections: {
      type: 'array',
      description: 'The sections on it, in this order; hero first and contact last where it has them.',
      minItems: 1,
      maxItems: SECTIONS.length,
      'x-list': 'atomic',
      'x-code': 'BAD_PAGES',
      items: { type: 'string', description: 'A section id.', enum: SECTIONS, 'x-code': 'BAD_PAGES' },
    },
  },
} as const satisfies ObjectSchema

export const meta = {
  type: 'object',
  title: 'SiteMeta',
  description: 'What holds for the whole site.',
  required: ['companyName'],
  properties: {
    companyName: title({ description: 'Who speaks; stands in the navigation, the titles and the foot.' }),
    lang: {
      type: 'string',
      description: 'Language of the words that the site itself adds.',
      enum: LANGS,
      default: 'en',
      'x-code': 'BAD_LANG',
    },
    layout: { type: 'string', description: "The structure of the pages; the preset's, else classic.", enum: LAYOUTS },
    template: {
      type: 'string',
      description:
        "The brand: palette, fonts, corners; the preset's, else studio. An account that is locked to one keeps its own.",
      enum: TEMPLATES,
    },
    description: {
      ...title({ description: 'What the company is, for search engines; the lede when left out.' }),
      maxLength: DESCRIPTION_MAX,
    },
    currency: {
      type: 'string',
      description: 'ISO 4217 code of prices whose sign is used in several countries, as USD.',
      maxLength: 3,
      pattern: '^[A-Z]{3}$',
    },
    sectionOrder: {
      type: 'array',
      description: 'Section ids in the order wanted; those left out follow in the usual order.',
      maxItems: SECTIONS.length,
      'x-list': 'atomic',
      'x-code': 'BAD_SECTION_ORDER',
      items: {
        type: 'string',
        title: 'SectionId',
        description: 'A section id.',
        enum: SECTIONS,
        'x-code': 'BAD_SECTION_ORDER',
      },
    },
    leftOut: {
      type: 'array',
      description: 'Sections of the preset that are not wanted.',
      maxItems: SECTIONS.length,
      'x-list': 'atomic',
      items: { type: 'string', title: 'LeftOutSection', description: 'A section id.', enum: SECTIONS },
    },
    pages: {
      type: 'array',
      description: 'One static file for each, with shared navigation; one page with everything when left out.',
      minItems: 1,
      maxItems: PAGES_MAX,
      'x-list': 'atomic',
      'x-code': 'BAD_PAGES',
      items: page,
    },
    redirects,
  },
} as const satisfies ObjectSchema
