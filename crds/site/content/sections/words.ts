/** Sections that are words above all: what one reads, in the order of a page. */
import type { ObjectSchema } from '../../../kernel/schema.ts'
import { label, link, listOf, pictured, prose, text, title } from '../content-fields.ts'

export const CHIPS_MAX = 12
export const HERO_PICTURES_MAX = 6
export const FEATURE_ROWS_MAX = 24
export const STEPS_MAX = 12
export const QUESTIONS_MAX = 60
export const TEXTS_MAX = 24
export const BADGES_MAX = 16
export const MARQUEE_MAX = 24
const SLUG_MAX = 40

/** An instant of RFC 3339, in whole seconds. */
const INSTANT = '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](Z|[+-][0-2][0-9]:[0-5][0-9])$'

export const hero = {
  type: 'object',
  title: 'SiteHero',
  description: 'What a visitor sees first.',
  properties: {
    title: title({ description: 'The headline; the company name when left out.' }),
    lede: text({ description: 'One or two sentences below the headline.' }),
    chips: listOf('A few words each: what one should know at once.', CHIPS_MAX, label({ description: 'One chip.' })),
    ...pictured,
    images: listOf('Further pictures beside the first.', HERO_PICTURES_MAX, {
      type: 'object',
      title: 'HeroPicture',
      description: 'One of several pictures of the hero.',
      required: ['image'],
      properties: pictured,
    }),
    link: link({ description: 'Where its call to action leads; to the contact section when left out.' }),
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
    ...pictured,
    link: link({ description: 'Where one reads more.' }),
  },
} as const satisfies ObjectSchema

export const featureRows = listOf('One thought after the other.', FEATURE_ROWS_MAX, featureRow)

const step = {
  type: 'object',
  title: 'SiteStep',
  description: 'One step of how it is done.',
  required: ['title'],
  properties: {
    title: title({ description: 'What happens.' }),
    text: text({ description: 'What there is to say about it.' }),
    ...pictured,
  },
} as const satisfies ObjectSchema

export const steps = listOf('How it is done, first things first.', STEPS_MAX, step)

const question = {
  type: 'object',
  title: 'SiteQuestion',
  description: 'A question with its answer.',
  required: ['question', 'answer'],
  properties: {
    question: title({ description: 'As a visitor would ask it.' }),
    answer: text({ description: 'The answer.' }),
  },
} as const satisfies ObjectSchema

export const faq = listOf('What is often asked.', QUESTIONS_MAX, question)

const passage = {
  type: 'object',
  title: 'SitePassage',
  description: 'A passage of running text.',
  required: ['text'],
  properties: {
    title: title({ description: 'Its heading.' }),
    text: prose({ description: 'Paragraphs, with an empty line between two.' }),
    page: {
      type: 'string',
      description: 'The slug of the one page it stands on; on every page with this section when left out.',
      maxLength: SLUG_MAX,
      'x-code': 'BAD_PAGES',
    },
  },
} as const satisfies ObjectSchema

/** The section `text`. */
export const passages = listOf('Running text: a story, terms, an imprint.', TEXTS_MAX, passage)

const badge = {
  type: 'object',
  title: 'SiteBadge',
  description: 'A fact that earns trust: a guild, a licence, a prize.',
  required: ['label'],
  properties: {
    label: label({ description: 'The fact in a few words.' }),
    image: pictured.image,
    link: link({ description: 'Where it can be checked.' }),
  },
} as const satisfies ObjectSchema

export const badges = listOf('Facts that earn trust.', BADGES_MAX, badge)

export const ctaBanner = {
  type: 'object',
  title: 'SiteBanner',
  description: 'A call to action over the whole width. A referral card carries its own link here.',
  required: ['link'],
  properties: {
    title: title({ description: 'What is offered.' }),
    text: text({ description: 'A sentence about it.' }),
    label: label({ description: 'The words of the button; those of labels.actions.banner when left out.' }),
    link: link({ description: 'Where the button leads.' }),
    ...pictured,
  },
} as const satisfies ObjectSchema

export const announcement = {
  type: 'object',
  title: 'SiteAnnouncement',
  description: 'A line above the header of every page.',
  required: ['text'],
  properties: {
    text: title({ description: 'The line.' }),
    link: link({ description: 'Where it leads.' }),
    countdown: {
      type: 'string',
      description: 'The instant (RFC 3339) that the line is about; its day stands behind the line.',
      maxLength: 25,
      pattern: INSTANT,
    },
  },
} as const satisfies ObjectSchema

export const marquee = {
  type: 'object',
  title: 'SiteMarquee',
  description: 'Words that run by; under four they stand still.',
  required: ['items'],
  properties: { items: listOf('What runs by.', MARQUEE_MAX, label({ description: 'A few words.' })) },
} as const satisfies ObjectSchema
