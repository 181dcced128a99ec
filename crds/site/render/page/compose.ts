/** The sections of a page, each in the form that its content and its neighbours give it. Source: rules/site.md#forms. */
import { type Html, html } from '../../../text/html.ts'
import type { Layout, ListLayout, SectionId } from '../../content/content.ts'
import { besideOf, type Chosen, formOf, type Neighbour, type Traits } from '../choose/forms.ts'
import { lengthOf } from '../choose/headline.ts'
import { nearestRatio } from '../choose/pictures.ts'
import type { FormId } from '../choose/table.ts'
import { FORM_VIEWS } from '../forms/catalogue.ts'
import { type FormGroup, sizesOf } from '../forms/form.ts'
import { LAYOUT_VIEWS } from '../layouts/catalogue.ts'
import type { Group, Item, Matter } from '../matter/matter.ts'
import { weekOf } from '../matter/place.ts'
import { MATTERS } from '../matter/sections.ts'
import { type Frame, ratiosOf } from './frame.ts'
import { collectionList } from './pages.ts'
import { heading, pager } from './parts.ts'

type Section = Exclude<SectionId, 'hero'>

/** Sections with something in them, in the order of the page. */
type Filled = { section: Section; matter: Matter }

export const filledOf = (frame: Frame): Filled[] =>
  frame.page.sections.flatMap((section) => {
    if (section === 'hero') return []
    const matter = MATTERS[section](frame)
    return [{ section, matter }]
  })

/** What decides where there is no grid: letters of badges and of sizes, and how the week goes. */
const moreOf = ({ content: { hours }, signs }: Frame, section: Section, items: Group['items']): Partial<Traits> => {
  if (section === 'badges') return { titles: items.map(({ title }) => lengthOf(title)) }
  if (section === 'size_guide') {
    const [head, ...rows] = items
    // a head may break between its words, a figure is read whole
    const heads = (head?.points ?? []).map((name) => Math.max(...name.split(/ |(?=（)/).map(lengthOf)))
    return { cells: [heads, ...rows.map(({ title, points }) => [title, ...points].map(lengthOf))] }
  }
  if (section !== 'hours' || hours === undefined) return {}
  const kinds = weekOf(hours, signs)
  const week = {
    kinds: kinds.length,
    open: kinds.filter(({ closed }) => !closed).length,
    paused: kinds.some(({ lines }) => lines.length > 1),
    others: hours.exceptions?.length ?? 0,
  }
  return { week }
}

const traitsOf = (frame: Frame, section: Section, { items }: Group): Traits => ({
  count: items.length,
  pictured: items.filter(({ shot }) => shot !== null).length,
  lengths: items.map(({ text }) => text?.length ?? 0),
  detailed: items.some(({ specs, options, points }) => specs.length + options.length + points.length > 0),
  ...moreOf(frame, section, items),
})

const optionOf = ({ content }: Frame, section: Section): ListLayout | undefined => {
  const asked: Partial<Record<Section, ListLayout | undefined>> = {
    products: content.productsLayout,
    services: content.servicesLayout,
    team: content.teamLayout,
  }
  return asked[section]
}

const draw = (frame: Frame, form: FormId, group: FormGroup): Html => {
  frame.ledger.forms.add(form)
  return FORM_VIEWS[form].view(frame, group)
}

/** Forms in which items that have no picture would leave a hole among those that have. */
const UNEVEN: readonly FormId[] = ['cards', 'plates', 'strip', 'rows', 'chapters']

const hasShot = ({ shot }: Item): boolean => shot !== null

/** A plate is about as high as the list beside it: up to so many items, this ratio. */
const BESIDE_RATIOS: readonly (readonly [most: number, ratio: number])[] = [
  [3, 1.5],
  [5, 1.1],
]

/** One group: those pictured in its form and the rest a list; or, where few are, the best picture beside a list. */
const groupOf = (frame: Frame, chosen: Chosen, group: FormGroup): Html => {
  const { items } = group
  if (!UNEVEN.includes(chosen.form) || chosen.pictured === 'all' || chosen.pictured === 'none') {
    return draw(frame, chosen.form, { ...group, most: chosen.most })
  }
  if (chosen.pictured === 'most') {
    const rest = draw(frame, 'list', { ...group, items: items.filter((one) => !hasShot(one)) })
    return html`${draw(frame, chosen.form, { ...group, items: items.filter(hasShot), most: chosen.most })}<div class="rest">${rest}</div>`
  }
  const best = items.find(hasShot)
  const wanted = BESIDE_RATIOS.find(([most]) => items.length <= most)?.[1] ?? 0.8
  const [own = wanted] = ratiosOf(frame, [best?.shot ?? null])
  const ratio = nearestRatio(own, wanted)
  const plate = best && frame.shot(best.shot, { sizes: sizesOf(42), ratio, as: group.tone })
  return html`<div class="beside">${plate ?? html``}<div>${draw(frame, 'list', group)}</div></div>`
}

const matterOf = (frame: Frame, { section, matter }: Filled, form: FormId | null): Html => {
  if (section === 'contact')
    return draw(frame, 'reach', { items: [], level: 3, most: 1, tone: 'goods', label: '', quotes: false })
  const { layout, words } = frame
  const quotes = section === 'testimonials'
  const ids = new Map(collectionList(frame.content).map(({ name, id }) => [name, id]))
  return html`${matter.groups.map((group) => {
    const own = formOf(section, layout.name, traitsOf(frame, section, group), optionOf(frame, section))
    const chosen = form === null || own.form === 'list' ? own : { ...own, form }
    const level = group.name === null ? (3 as const) : (4 as const)
    const label = group.name ?? words.sections[section]
    const drawn = groupOf(frame, chosen, {
      items: group.items,
      level,
      most: chosen.most,
      tone: matter.tone,
      label,
      quotes,
    })
    if (group.name === null) return drawn
    const anchor = section === 'products' ? ids.get(group.name) : undefined
    return html`<div class="grp g-${chosen.pictured === 'none' ? 'words' : 'pics'}"${anchor !== undefined && html` id="${anchor}"`}><h3 class="coll">${group.name}</h3><div>${drawn}</div></div>`
  })}${section === 'products' && pager(frame)}`
}

/** Plates and long texts take all columns, with the heading above. */
const WIDE: readonly FormId[] = ['plates', 'justified', 'cards', 'strip', 'table']
const HUNG: readonly FormId[] = [
  'list',
  'rows',
  'ladder',
  'index',
  'prose',
  'facts',
  'folds',
  'wall',
  'spoken',
  'week',
  'measures',
]
const EVERY_THIRD = 3
/** Layouts in which a call to action is a band of the accent. */
const BANDED: readonly Layout[] = ['classic', 'showcase', 'narrative']
/** Sections that show no heading; the outline keeps it. */
const UNHEADED: readonly SectionId[] = ['cta_banner', 'marquee', 'badges']

type Place = { index: number; last: boolean; before: Neighbour | null; headed: boolean }

const groundFor = ({ layout }: Frame, section: Section, { index, last }: Place): string => {
  const { grounds, last: lastGround } = layout.rhythm
  if (section === 'cta_banner' && BANDED.includes(layout.name)) return 'g-fill'
  return section === 'contact' && last ? lastGround : (grounds[index % grounds.length] ?? 'g-paper')
}

/** Classes of where a section's heading stands. */
const headingClass = (
  frame: Frame,
  { section, matter }: Filled,
  form: FormId,
  chosen: Chosen | null,
  place: Place,
): string => {
  const lone = section === 'testimonials' && matter.groups[0]?.items.length === 1
  const quiet = lone || UNHEADED.includes(section) || (place.headed && place.index === 0)
  const bare = chosen === null || chosen.pictured === 'none' || chosen.pictured === 'few'
  const third = place.index % EVERY_THIRD === EVERY_THIRD - 1
  const hung = frame.layout.rhythm.hung && !quiet && bare && third && HUNG.includes(form)
  return `${quiet ? ' quiet' : ''}${WIDE.includes(form) ? ' wide' : ''}${hung ? ' hung' : ''}`
}

const sectionOf = (frame: Frame, filled: Filled, place: Place): { markup: Html; as: Neighbour } => {
  const { section, matter } = filled
  const { name } = frame.layout
  const ground = groundFor(frame, section, place)
  const [first] = matter.groups
  const chosen =
    first === undefined ? null : formOf(section, name, traitsOf(frame, section, first), optionOf(frame, section))
  const beside = chosen === null ? null : besideOf(chosen, { section, layout: name, ground }, place.before)
  const changed = beside === null || beside.form === chosen?.form ? null : beside.form
  const form: FormId = changed ?? chosen?.form ?? 'reach'
  const classes = `s s-${section} f-${form} ${ground}${headingClass(frame, filled, form, chosen, place)}`
  const markup = html`<section id="${section}" class="${classes}" aria-labelledby="${section}-title"><div class="in"><div class="sh">${heading(
    frame,
    section,
  )}</div><div class="mt">${matterOf(frame, filled, changed)}</div></div></section>`
  return { markup, as: { form, ground } }
}

/** All of a page between its header and its footer. */
export const mainOf = (frame: Frame): Html => {
  const { page } = frame
  const layout = LAYOUT_VIEWS[frame.layout.name]
  const opened = page.part === 1 && page.sections[0] === 'hero'
  const filled = filledOf(frame)
  let before: Neighbour | null = null
  const opening = opened ? layout.hero(frame) : layout.pageHead(frame)
  const sections: Html[] = []
  for (const [index, one] of filled.entries()) {
    const drawn = sectionOf(frame, one, { index, last: index === filled.length - 1, before, headed: !opened })
    sections.push(drawn.markup)
    before = drawn.as
  }
  return html`${opening}${sections}`
}
