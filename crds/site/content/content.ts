/**
 * The content model of a website: what a page is made of, in the caller's words and pictures, and nothing about how it looks.
 * Names are those of REST in camelCase. Section ids are the keys of the content as REST knows them.
 * Source: rules/site.md#content.
 */
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import { labels } from './labels.ts'
import { type LANGS, type LAYOUTS, meta, SECTIONS, type TEMPLATES } from './meta.ts'
import {
  imageHover,
  type LIST_LAYOUTS,
  pricing,
  products,
  productsLayout,
  services,
  servicesLayout,
  sizeGuide,
  teamLayout,
} from './sections/offers.ts'
import { clients, gallery, team, testimonials, video } from './sections/people.ts'
import { contact, type DAYS, hours, legal } from './sections/place.ts'
import { announcement, badges, ctaBanner, faq, featureRows, hero, marquee, passages, steps } from './sections/words.ts'
import { translationsOf } from './translations.ts'

/** What is written in one language: all but meta. */
const parts = {
  labels,
  announcement,
  hero,
  badges,
  marquee,
  products,
  services,
  gallery,
  featureRows,
  steps,
  video,
  pricing,
  sizeGuide,
  testimonials,
  clients,
  team,
  text: passages,
  faq,
  hours,
  ctaBanner,
  contact,
  legal,
} as const

/** `content` of a site. A section that is left out is not shown. */
export const content = {
  type: 'object',
  title: 'SiteContent',
  description: 'The content model: one key for each section, and meta for the site as a whole.',
  required: ['meta'],
  properties: {
    meta,
    ...parts,
    productsLayout,
    servicesLayout,
    teamLayout,
    imageHover,
    translations: translationsOf(parts),
  },
} as const satisfies ObjectSchema

/** As a caller sends it, and as it is kept. */
export type SentContent = Infer<typeof content>
/** With its preset and its defaults under it (expand.ts): what is rendered and shown. */
export type Content = Omit<SentContent, 'meta'> & { meta: SentContent['meta'] & { layout: Layout; template: Template } }
export type SiteLang = (typeof LANGS)[number]
export type Layout = (typeof LAYOUTS)[number]
export type Template = (typeof TEMPLATES)[number]
export type SectionId = (typeof SECTIONS)[number]
export type ListLayout = (typeof LIST_LAYOUTS)[number]
export type Day = (typeof DAYS)[number]
type Part<K extends keyof Content> = NonNullable<Content[K]>
export type Labels = Part<'labels'>
export type Hero = Part<'hero'>
export type Announcement = Part<'announcement'>
export type Badge = Part<'badges'>[number]
export type Product = Part<'products'>[number]
export type SiteService = Part<'services'>[number]
export type Picture = Part<'gallery'>[number]
export type FeatureRow = Part<'featureRows'>[number]
export type HowStep = Part<'steps'>[number]
export type Video = Part<'video'>
export type Tier = Part<'pricing'>[number]
export type SizeGuide = Part<'sizeGuide'>
export type Testimonial = Part<'testimonials'>[number]
export type SiteClient = Part<'clients'>[number]
export type Person = Part<'team'>[number]
export type Passage = Part<'text'>[number]
export type FaqEntry = Part<'faq'>[number]
export type Hours = Part<'hours'>
export type Banner = Part<'ctaBanner'>
export type Contact = Part<'contact'>
export type Legal = Part<'legal'>
export type Translation = Part<'translations'>[number]

/** The keys of a content that are sections, with the id that each has in orders and on pages. */
const KEYS = {
  hero: 'hero',
  badges: 'badges',
  marquee: 'marquee',
  products: 'products',
  services: 'services',
  gallery: 'gallery',
  feature_rows: 'featureRows',
  steps: 'steps',
  video: 'video',
  pricing: 'pricing',
  size_guide: 'sizeGuide',
  testimonials: 'testimonials',
  clients: 'clients',
  team: 'team',
  text: 'text',
  faq: 'faq',
  hours: 'hours',
  cta_banner: 'ctaBanner',
  contact: 'contact',
} as const satisfies Record<SectionId, keyof Content>

export type SectionKey = (typeof KEYS)[SectionId]

/** `feature_rows` → `featureRows`. */
export const keyOf = <S extends SectionId>(section: S): (typeof KEYS)[S] => KEYS[section]

/** Whether the content has the section, be it empty. */
export const holds = (value: Pick<Content, SectionKey>, section: SectionId): boolean =>
  value[keyOf(section)] !== undefined

/** All sections that the content has, in the order wanted; hero first and contact last, whatever was asked. */
export const orderedSections = (value: Content): SectionId[] => {
  const asked = value.meta.sectionOrder ?? []
  const pinned = (section: SectionId) => section === 'hero' || section === 'contact'
  const middle = [...new Set([...asked, ...SECTIONS])].filter((section) => !pinned(section))
  const all: SectionId[] = ['hero', ...middle, 'contact']
  return all.filter((section) => holds(value, section))
}

/** The passages that stand on a page, by its slug. */
export const passagesOn = ({ text = [] }: Content, slug: string): Passage[] =>
  text.filter(({ page }) => page === undefined || page === slug)
