/** Sections of people and of what they show: team, quotes, clients, pictures, a video. */
import type { ObjectSchema } from '../../../kernel/schema.ts'
import { image, label, link, listOf, pictured, text, title } from '../content-fields.ts'

export const TEAM_MAX = 60
export const TESTIMONIALS_MAX = 40
export const CLIENTS_MAX = 60
export const GALLERY_MAX = 60
export const STARS_MAX = 5

const person = {
  type: 'object',
  title: 'TeamMember',
  description: 'Somebody of the company.',
  required: ['name'],
  properties: {
    name: label({ description: 'Their name.' }),
    role: title({ description: 'What they do.' }),
    text: text({ description: 'A sentence about them.' }),
    ...pictured,
    link: link({ description: 'Where one reads more.' }),
  },
} as const satisfies ObjectSchema

export const team = listOf('The people.', TEAM_MAX, person)

const testimonial = {
  type: 'object',
  title: 'Testimonial',
  description: 'What somebody said.',
  required: ['quote'],
  properties: {
    quote: text({ description: 'The words.' }),
    name: label({ description: 'Who said it.' }),
    role: title({ description: 'What they do, and where.' }),
    ...pictured,
    stars: {
      type: 'integer',
      description: 'Stars of five; none are shown when left out.',
      minimum: 1,
      maximum: STARS_MAX,
    },
  },
} as const satisfies ObjectSchema

export const testimonials = listOf('What others say.', TESTIMONIALS_MAX, testimonial)

const client = {
  type: 'object',
  title: 'SiteClient',
  description: 'A client, by a logo or a name.',
  required: ['name'],
  properties: {
    name: label({ description: 'Their name.' }),
    image: image({ description: 'Their logo: asset:KEY, a data URI or an https URL.' }),
    link: link({ description: 'Their website.' }),
  },
} as const satisfies ObjectSchema

export const clients = listOf('For whom one works; a wall of logos.', CLIENTS_MAX, client)

const picture = {
  type: 'object',
  title: 'GalleryPicture',
  description: 'A picture of the gallery.',
  required: ['image'],
  properties: {
    ...pictured,
    link: link({ description: 'Where the picture leads.' }),
    caption: title({ description: 'Stands below the picture.' }),
  },
} as const satisfies ObjectSchema

export const gallery = listOf('Pictures.', GALLERY_MAX, picture)

export const video = {
  type: 'object',
  title: 'SiteVideo',
  description: 'A video of YouTube or Vimeo, which nobody contacts before the visitor asks for it.',
  required: ['url'],
  properties: {
    url: link({ description: 'The address of the video at YouTube or Vimeo.', 'x-code': 'BAD_VIDEO_URL' }),
    title: title({ description: 'What it shows.' }),
    ...pictured,
  },
} as const satisfies ObjectSchema
