/** Where one is found, when one is open, and how one is reached. */
import { EMAIL_MAX, EMAIL_PATTERN, type ObjectSchema } from '../../../kernel/schema.ts'
import { label, link, listOf, text, title } from '../content-fields.ts'

export const SOCIAL_MAX = 16
export const OPENINGS_MAX = 28
export const EXCEPTIONS_MAX = 24
export const LEGAL_LINES_MAX = 8
export const LEGAL_LINKS_MAX = 8
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Hours of one day; 24:00 is its end. */
const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$'
const DATE = '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'

const time = (description: string) => ({ type: 'string', description, maxLength: 5, pattern: TIME }) as const
const date = (description: string) => ({ type: 'string', description, maxLength: 10, pattern: DATE }) as const
const opens = time('From, as 09:00. Closed all day when both are left out.')
const closes = time('Until, as 18:30; before the beginning means the next day.')

const opening = {
  type: 'object',
  title: 'OpeningHours',
  description: 'Days with the same hours. A day with a pause is named twice.',
  required: ['days'],
  properties: {
    days: {
      type: 'array',
      description: 'The days of the week.',
      minItems: 1,
      maxItems: DAYS.length,
      'x-list': 'atomic',
      items: { type: 'string', description: 'A day.', enum: DAYS },
    },
    opens,
    closes,
    note: label({ description: 'A few words, as kitchen until 22:00.' }),
  },
} as const satisfies ObjectSchema

const exception = {
  type: 'object',
  title: 'OpeningException',
  description: 'Days that are unlike the others: a holiday, a fair.',
  required: ['from'],
  properties: {
    from: date('The first day, as 2026-12-24.'),
    to: date('The last day; the first alone when left out.'),
    opens,
    closes,
    note: label({ description: 'Why, in a few words.' }),
  },
} as const satisfies ObjectSchema

export const hours = {
  type: 'object',
  title: 'SiteHours',
  description: 'When one is open.',
  properties: {
    weekly: listOf('The hours of the week.', OPENINGS_MAX, opening),
    exceptions: listOf('Days that are unlike the others.', EXCEPTIONS_MAX, exception),
    note: title({ description: 'What else there is to know, as by appointment.' }),
  },
} as const satisfies ObjectSchema

const address = {
  type: 'object',
  title: 'PostalAddress',
  description: 'Where one is found.',
  required: ['street', 'locality'],
  properties: {
    street: title({ description: 'Street and number.' }),
    more: title({ description: 'Floor, yard, building.' }),
    postalCode: label({ description: 'Postal code.' }),
    locality: label({ description: 'Town.' }),
    region: label({ description: 'Region or province.' }),
    country: { type: 'string', description: 'ISO 3166 code, as ES.', maxLength: 2, pattern: '^[A-Z]{2}$' },
  },
} as const satisfies ObjectSchema

const socialLink = {
  type: 'object',
  title: 'SocialLink',
  description: 'One profile.',
  required: ['platform', 'url'],
  properties: {
    platform: label({ description: 'The name of the network, as it is to be read.' }),
    url: link({ description: 'The profile.' }),
  },
} as const satisfies ObjectSchema

export const contact = {
  type: 'object',
  title: 'SiteContact',
  description: 'How one gets in touch.',
  properties: {
    text: text({ description: 'A sentence before the ways.' }),
    email: { type: 'string', description: 'A mail address.', maxLength: EMAIL_MAX, pattern: EMAIL_PATTERN },
    phone: {
      type: 'string',
      description: 'A phone number as it is read, as +34 912 345 678.',
      maxLength: 40,
      pattern: '^[+]?[0-9][0-9 ()./-]{3,38}$',
    },
    address,
    mapUrl: link({ description: 'A map of the place.' }),
    booking: link({ description: 'Where one books.' }),
    form: {
      type: 'boolean',
      description: 'A form; the platform mails what is sent to the address of the account. Off when left out.',
    },
    websiteUrl: link({ description: 'Another website of the same company.' }),
    chat: link({ description: 'Where a chat is opened: WhatsApp, Line, Telegram or another.' }),
    social: listOf('Profiles elsewhere.', SOCIAL_MAX, socialLink),
  },
} as const satisfies ObjectSchema

export const legal = {
  type: 'object',
  title: 'SiteLegal',
  description: 'What stands in the foot of every page for the law.',
  properties: {
    name: title({ description: 'The registered name, where it is another.' }),
    lines: listOf('Register, tax number, licence.', LEGAL_LINES_MAX, title({ description: 'One line.' })),
    links: listOf('Imprint, privacy, terms elsewhere.', LEGAL_LINKS_MAX, {
      type: 'object',
      title: 'LegalLink',
      description: 'One document.',
      required: ['label', 'url'],
      properties: { label: label({ description: 'Its name.' }), url: link({ description: 'Where it is read.' }) },
    }),
  },
} as const satisfies ObjectSchema
