/** Content picks the form: counts, lengths, pictures and neighbours, never a fixed grid. Source: rules/site.md#forms. */
import type { Layout, ListLayout, SectionId } from '../../content/content.ts'
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
}

export type Chosen = FormSpec & { pictured: Pictured }

/** Over this many characters in the middle a grid becomes rows. */
const LONG = 140
/** Chapters beyond this many are a list. */
const CHAPTERS_MOST = 5
const STRIP_LEAST = 3
/** Layouts in which neighbours may be alike. */
const MAY_REPEAT: readonly Layout[] = ['monolith', 'sidenav']

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** What a form becomes where nothing is pictured. */
const withoutPictures = (form: FormId, { detailed }: Traits): FormId => {
  if (form === 'cards' || form === 'plates') return detailed ? 'cards' : 'list'
  return form === 'justified' ? 'list' : form
}

/** Sections whose content may ask for another form than the table's. */
const BY_CONTENT: readonly SectionId[] = ['products', 'services', 'team', 'steps', 'feature_rows']

const grids: readonly FormId[] = ['cards', 'plates', 'strip']

/** What the content asks for: a grid is the table's own form, and a strip of fewer than three is a grid. */
const askedFor = (asked: FormSpec, { count }: Traits, option: ListLayout | undefined): FormSpec => {
  if (option === 'list') return { ...asked, form: 'list' }
  return option === 'carousel' && count >= STRIP_LEAST ? { ...asked, form: 'strip' } : asked
}

/** The form of one group of a section. */
export const formOf = (
  section: Exclude<SectionId, 'hero'>,
  layout: Layout,
  traits: Traits,
  option?: ListLayout,
): Chosen => {
  const asked = askedFor(TABLE[section][layout], traits, option)
  if (option === 'list') return { ...asked, pictured: 'none' }
  const pictured = picturedOf(traits.pictured, traits.count)
  return { ...asked, form: formFor(section, asked.form, traits, pictured), pictured }
}

const formFor = (section: SectionId, asked: FormId, traits: Traits, pictured: Pictured): FormId => {
  if (!BY_CONTENT.includes(section)) return asked === 'strip' && traits.count < 2 ? 'ladder' : asked
  if (asked === 'chapters' && traits.count > CHAPTERS_MOST) return 'rows'
  if (grids.includes(asked) && middle(traits.lengths) > LONG) return 'rows'
  if (pictured !== 'none') return asked
  // an order is what steps are
  return section === 'steps' && grids.includes(asked) ? 'index' : withoutPictures(asked, traits)
}

export type Neighbour = { form: FormId; ground: string }

/** Neighbours never share form and ground: the second takes its other form. */
export const besideOf = (chosen: FormSpec, layout: Layout, ground: string, before: Neighbour | null): FormSpec => {
  if (before === null || MAY_REPEAT.includes(layout)) return chosen
  if (before.form !== chosen.form || before.ground !== ground) return chosen
  return { ...chosen, form: OTHER[chosen.form] ?? chosen.form }
}
