/** Content picks the form: counts, lengths, pictures and neighbours, never a fixed grid. Source: rules/site.md#forms. */
import type { Layout, ListLayout, SectionId } from '../../content/content.ts'
import { badgesForm, hoursForm, sizesForm, type WeekTraits } from './few.ts'
import { type Pictured, picturedOf } from './pictures.ts'
import { type FormId, type FormSpec, OTHER, TABLE } from './table.ts'

/** What of a group of items decides on its form. */
export type Traits = {
  count: number
  pictured: number
  /** Characters of each item's text, 0 for none. */
  lengths: readonly number[]
  /** More than a name and a price: facts or options. */
  detailed: boolean
  /** Of badges, the letters of each. */
  titles?: readonly number[]
  /** Of sizes, the letters of each cell by its line, the heads first. */
  cells?: readonly (readonly number[])[]
  /** Of opening hours. */
  week?: WeekTraits
}

type Section = Exclude<SectionId, 'hero'>

export type Chosen = FormSpec & { pictured: Pictured }

/** Over this many characters in the middle a grid becomes rows. */
const LONG = 140
/** Chapters beyond this many are a list, and people beyond this many are cards. */
const CHAPTERS_MOST = 5
const PEOPLE_MOST = 3
const FACES: FormSpec = { form: 'cards', most: 3 }
const STRIP_LEAST = 3
/** Offers that compare side by side. */
const COMPARED_MOST = 4
/** Over this many characters in the middle quotes and answers are long. */
const LONG_QUOTE = 260
/** Plates in a column, and in a grid. */
const COLUMN_MOST = 6
const PLATES_MOST = 12
const QUESTIONS_OPEN_MOST = 6
const SHORT_ANSWER = 120
/** Layouts in which neighbours may be alike. */
const MAY_REPEAT: readonly Layout[] = ['monolith', 'sidenav']

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** What a form becomes where nothing is pictured. */
const withoutPictures = (form: FormId, { detailed }: Traits): FormId => {
  if (form === 'cards' || form === 'plates') return detailed ? 'cards' : 'list'
  return form === 'justified' ? 'list' : form
}

const grids: readonly FormId[] = ['cards', 'plates', 'strip']

/** What the content asks for: a grid is the table's own form, and a strip of fewer than three is a grid. */
const askedFor = (asked: FormSpec, { count }: Traits, option: ListLayout | undefined): FormSpec => {
  if (option === 'list') return { ...asked, form: 'list' }
  return option === 'carousel' && count >= STRIP_LEAST ? { ...asked, form: 'strip' } : asked
}

/** The form of one group of a section. */
export const formOf = (section: Section, layout: Layout, traits: Traits, option?: ListLayout): Chosen => {
  const asked = askedFor(TABLE[section][layout], traits, option)
  if (option === 'list') return { ...asked, pictured: 'none' }
  const pictured = picturedOf(traits.pictured, traits.count)
  return { ...asked, ...formFor(section, asked, traits, pictured), pictured }
}

/** Sections of items, in a grid or in lines. */
const itemsForm = (section: SectionId, asked: FormSpec, traits: Traits, pictured: Pictured): FormSpec => {
  const { form } = asked
  // people are met side by side before they are met one a screen
  if (section === 'team' && form === 'chapters' && traits.count > PEOPLE_MOST) return FACES
  if (form === 'chapters' && traits.count > CHAPTERS_MOST) return { ...asked, form: 'rows' }
  if (grids.includes(form) && middle(traits.lengths) > LONG) return { ...asked, form: 'rows' }
  if (pictured !== 'none') return asked
  // an order is what steps are
  if (section === 'steps' && grids.includes(form)) return { ...asked, form: 'index' }
  return { ...asked, form: withoutPictures(form, traits) }
}

/** A name and a price alone are a list; offers beyond a few do not compare side by side. */
const pricingForm = (asked: FormSpec, { count, lengths, detailed }: Traits): FormSpec => {
  const isBare = !detailed && lengths.every((length) => length === 0)
  if (isBare || (asked.form === 'table' && count > COMPARED_MOST)) return { ...asked, form: 'list' }
  return asked
}

/** One speaks alone, and long ones are read, not moved past. */
const quotesForm = (asked: FormSpec, { count, lengths }: Traits): FormSpec =>
  count < 2 || (asked.form === 'strip' && middle(lengths) > LONG_QUOTE) ? { ...asked, form: 'ladder' } : asked

/** Plates are looked at one by one; beyond a few they are a wall. */
const galleryForm = (asked: FormSpec, { count }: Traits): FormSpec => {
  if (asked.form !== 'plates') return asked
  if (asked.most === 1) return count > COLUMN_MOST ? { form: 'justified', most: 2 } : asked
  return count > PLATES_MOST ? { form: 'justified', most: 4 } : asked
}

/** Open beside their answers where they are few and short; where all are open, those with short answers are. */
const questionsForm = (asked: FormSpec, { count, lengths }: Traits): FormSpec => {
  const answer = middle(lengths)
  if (asked.most === 1) return answer <= SHORT_ANSWER ? { ...asked, form: 'rows' } : asked
  const isLong = count > QUESTIONS_OPEN_MOST || answer > LONG_QUOTE
  return asked.form === 'rows' && isLong ? { ...asked, form: 'folds' } : asked
}

const formFor = (section: Section, asked: FormSpec, traits: Traits, pictured: Pictured): FormSpec => {
  const { titles = [], cells = [], week } = traits
  switch (section) {
    case 'products':
    case 'services':
    case 'team':
    case 'steps':
    case 'feature_rows':
      return itemsForm(section, asked, traits, pictured)
    case 'pricing':
      return pricingForm(asked, traits)
    case 'testimonials':
      return quotesForm(asked, traits)
    case 'gallery':
      return galleryForm(asked, traits)
    case 'faq':
      return questionsForm(asked, traits)
    case 'hours':
      return week === undefined ? asked : { ...asked, form: hoursForm(week) }
    case 'badges':
      return { ...asked, form: badgesForm(titles, traits.pictured) }
    case 'size_guide':
      return { ...asked, form: sizesForm(cells) }
    case 'text':
    case 'clients':
    case 'cta_banner':
    case 'video':
    case 'marquee':
    case 'contact':
      return asked
    default:
      return section satisfies never
  }
}

export type Neighbour = { form: FormId; ground: string }

/** Neighbours never share form and ground: the second takes its other form; questions are folded. */
export const besideOf = (
  chosen: FormSpec,
  { section, layout, ground }: { section: Section; layout: Layout; ground: string },
  before: Neighbour | null,
): FormSpec => {
  if (before === null || MAY_REPEAT.includes(layout)) return chosen
  if (before.form !== chosen.form || before.ground !== ground) return chosen
  return { ...chosen, form: (section === 'faq' ? 'folds' : OTHER[chosen.form]) ?? chosen.form }
}
