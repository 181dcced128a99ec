/**
 * The content model of a website: what a page is made of, in the caller's words and pictures, and nothing about how it looks.
 * Names are those of REST in camelCase. Section ids are the keys of the content as REST knows them.
 * Source: rules/site.md#content.
 */
import { EMAIL_MAX, EMAIL_PATTERN, type Infer, type ObjectSchema } from '../../kernel/schema.ts'
import { image, label, link, text, title } from './content-fields.ts'

export const LANGS = ['zh-Hant', 'zh-Hans', 'en', 'es'] as const
export const LAYOUTS = ['classic', 'editorial'] as const
export const TEMPLATES = ['studio', 'lumen'] as const
/** In the order in which they stand when nothing else is asked for. Hero stays first and contact last, whatever is asked. */
export const SECTIONS = ['hero', 'products', 'gallery', 'feature_rows', 'pricing', 'testimonials', 'contact'] as const

export const PAGES_MAX = 8
export const PRODUCTS_MAX = 200
export const GALLERY_MAX = 60
export const TESTIMONIALS_MAX = 40
export const FEATURE_ROWS_MAX = 24
export const TIERS_MAX = 12
export const CHIPS_MAX = 12
export const SPECS_MAX = 24
export const OPTIONS_MAX = 8
export const SOCIAL_MAX = 16
export const SLUG_MAX = 40

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

const meta = {
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
    layout: { type: 'string', description: 'The structure of the pages.', enum: LAYOUTS, default: 'classic' },
    template: {
      type: 'string',
      description: 'The brand: palette, fonts, corners. An account that is locked to one keeps its own.',
      enum: TEMPLATES,
      default: 'studio',
    },
    sectionOrder: {
      type: 'array',
      description: 'Section ids in the order wanted; those left out follow in the usual order.',
      maxItems: SECTIONS.length,
      'x-list': 'atomic',
      'x-code': 'BAD_SECTION_ORDER',
      items: { type: 'string', description: 'A section id.', enum: SECTIONS, 'x-code': 'BAD_SECTION_ORDER' },
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
  },
} as const satisfies ObjectSchema

const hero = {
  type: 'object',
  title: 'SiteHero',
  description: 'What a visitor sees first.',
  properties: {
    title: title({ description: 'The headline; the company name when left out.' }),
    lede: text({ description: 'One or two sentences below the headline.' }),
    chips: {
      type: 'array',
      description: 'A few words each: what one should know at once.',
      maxItems: CHIPS_MAX,
      'x-list': 'atomic',
      items: label({ description: 'One chip.' }),
    },
    image: image({ description: 'asset:KEY, a data URI or an https URL.' }),
    alt: title({ description: 'What the image shows, for those who do not see it.' }),
  },
} as const satisfies ObjectSchema

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
    image: image({ description: 'asset:KEY, a data URI or an https URL.' }),
    name: title({ description: 'What it is called.' }),
    price: label({ description: 'The price as it is to be read, with its currency.' }),
    priceWas: label({ description: 'The price before, shown struck through.' }),
    link: link({ description: 'Where it is bought or asked for.' }),
    specs: {
      type: 'array',
      description: 'Facts, one line each; what stands before a colon is set as its name.',
      maxItems: SPECS_MAX,
      'x-list': 'atomic',
      items: title({ description: 'One fact.' }),
    },
    options: {
      type: 'array',
      description: 'Sizes, colours and other choices.',
      maxItems: OPTIONS_MAX,
      'x-list': 'atomic',
      items: option,
    },
    tag: label({ description: 'A word on a ribbon, as New.' }),
    collection: label({ description: 'Products of one collection stand together under its name.' }),
  },
} as const satisfies ObjectSchema

const picture = {
  type: 'object',
  title: 'GalleryPicture',
  description: 'A picture of the gallery.',
  required: ['image'],
  properties: {
    image: image({ description: 'asset:KEY, a data URI or an https URL.' }),
    link: link({ description: 'Where the picture leads.' }),
    caption: title({ description: 'Stands below the picture.' }),
    alt: title({ description: 'What the picture shows, for those who do not see it.' }),
  },
} as const satisfies ObjectSchema

const testimonial = {
  type: 'object',
  title: 'Testimonial',
  description: 'What somebody said.',
  required: ['quote'],
  properties: {
    quote: text({ description: 'The words.' }),
    name: label({ description: 'Who said it.' }),
    role: title({ description: 'What they do, and where.' }),
  },
} as const satisfies ObjectSchema

const featureRow = {
  type: 'object',
  title: 'FeatureRow',
  description: 'One thought with its own heading.',
  required: ['title'],
  properties: {
    title: title({ description: 'The heading.' }),
    text: text({ description: 'What there is to say about it.' }),
    image: image({ description: 'asset:KEY, a data URI or an https URL.' }),
  },
} as const satisfies ObjectSchema

const tier = {
  type: 'object',
  title: 'PricingTier',
  description: 'One offer beside others.',
  required: ['name'],
  properties: {
    name: label({ description: 'What it is called.' }),
    price: label({ description: 'The price as it is to be read.' }),
    features: {
      type: 'array',
      description: 'What it holds.',
      maxItems: SPECS_MAX,
      'x-list': 'atomic',
      items: title({ description: 'One thing.' }),
    },
    cta: title({
      description: 'The words of its button, which leads to the contact section; or the address it leads to.',
    }),
  },
} as const satisfies ObjectSchema

const contact = {
  type: 'object',
  title: 'SiteContact',
  description: 'How one gets in touch.',
  properties: {
    email: { type: 'string', description: 'A mail address.', maxLength: EMAIL_MAX, pattern: EMAIL_PATTERN },
    websiteUrl: link({ description: 'Another website of the same company.' }),
    chat: link({ description: 'Where a chat is opened: WhatsApp, Line, Telegram or another.' }),
    social: {
      type: 'array',
      description: 'Profiles elsewhere.',
      maxItems: SOCIAL_MAX,
      'x-list': 'atomic',
      items: {
        type: 'object',
        title: 'SocialLink',
        description: 'One profile.',
        required: ['platform', 'url'],
        properties: {
          platform: label({ description: 'The name of the network, as it is to be read.' }),
          url: link({ description: 'The profile.' }),
        },
      },
    },
  },
} as const satisfies ObjectSchema

/** `content` of a site. A section that is left out is not shown; one that is empty says so in a line of its own. */
export const content = {
  type: 'object',
  title: 'SiteContent',
  description: 'The content model: one key for each section, and meta for the site as a whole.',
  required: ['meta'],
  properties: {
    meta,
    hero,
    products: {
      type: 'array',
      description: 'What is sold.',
      maxItems: PRODUCTS_MAX,
      'x-list': 'atomic',
      items: product,
    },
    gallery: { type: 'array', description: 'Pictures.', maxItems: GALLERY_MAX, 'x-list': 'atomic', items: picture },
    testimonials: {
      type: 'array',
      description: 'What others say.',
      maxItems: TESTIMONIALS_MAX,
      'x-list': 'atomic',
      items: testimonial,
    },
    featureRows: {
      type: 'array',
      description: 'One thought after the other.',
      maxItems: FEATURE_ROWS_MAX,
      'x-list': 'atomic',
      items: featureRow,
    },
    pricing: {
      type: 'array',
      description: 'Offers side by side.',
      maxItems: TIERS_MAX,
      'x-list': 'atomic',
      items: tier,
    },
    contact,
  },
} as const satisfies ObjectSchema

export type Content = Infer<typeof content>
export type SiteLang = (typeof LANGS)[number]
export type Layout = (typeof LAYOUTS)[number]
export type Template = (typeof TEMPLATES)[number]
export type SectionId = (typeof SECTIONS)[number]
export type Hero = NonNullable<Content['hero']>
export type Product = NonNullable<Content['products']>[number]
export type Picture = NonNullable<Content['gallery']>[number]
export type Testimonial = NonNullable<Content['testimonials']>[number]
export type FeatureRow = NonNullable<Content['featureRows']>[number]
export type Tier = NonNullable<Content['pricing']>[number]
export type Contact = NonNullable<Content['contact']>
