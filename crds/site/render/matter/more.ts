/** Sections that are words above all, people, and places: from their content to their matter. */
import type { SectionId } from '../../content/content.ts'
import { passagesOn } from '../../content/content.ts'
import { videoOf } from '../../content/video.ts'
import { FOCAL_PORTRAIT } from '../choose/pictures.ts'
import { type Frame, focalOf, shotOf } from '../page/frame.ts'
import { type Group, type Item, item, type Matter } from './matter.ts'
import { otherHours, weekOf } from './place.ts'

type MatterOf = (frame: Frame) => Matter
const matter = (tone: Matter['tone'], items: readonly Item[]): Matter => ({ tone, groups: groupsOf(items) })
const groupsOf = (items: readonly Item[]): readonly Group[] => (items.length === 0 ? [] : [{ name: null, items }])

/** Fields without a value are left out, as the types ask. */
const given = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

const services: MatterOf = (frame) =>
  matter(
    'mood',
    (frame.content.services ?? []).map(({ name, text, price, image, alt = '', focus, link }) =>
      item(name, { shot: shotOf(frame, image, alt, focalOf(focus)), ...given({ text, price, link }) }),
    ),
  )

const team: MatterOf = (frame) =>
  matter(
    'portrait',
    (frame.content.team ?? []).map(({ name, role, text, image, alt, focus, link }) =>
      item(name, {
        shot: shotOf(frame, image, alt ?? name, focalOf(focus) ?? FOCAL_PORTRAIT),
        ...given({ role, text, link }),
      }),
    ),
  )

const steps: MatterOf = (frame) =>
  matter(
    'mood',
    (frame.content.steps ?? []).map(({ title, text, image, alt = '', focus }) =>
      item(title, { shot: shotOf(frame, image, alt, focalOf(focus)), ...given({ text }) }),
    ),
  )

const faq: MatterOf = ({ content }) =>
  matter(
    'mood',
    (content.faq ?? []).map(({ question, answer }) => item(question, { text: answer })),
  )

const text: MatterOf = ({ content, page }) =>
  matter(
    'mood',
    passagesOn(content, page.slug).map((one) => item(one.title ?? '', { text: one.text })),
  )

/** Its forms read the week itself: what is a list of lines here is a sentence there, and a table in a third. */
const hours: MatterOf = ({ content, signs }) => {
  const { hours: value } = content
  if (value === undefined) return matter('mood', [])
  const facts = [...weekOf(value, signs), ...otherHours(value, signs)]
  const lines = facts.map(({ title, lines: points }) => item(title, { points }))
  return matter('mood', lines.length > 0 || value.note === undefined ? lines : [item(value.note)])
}

const clients: MatterOf = (frame) =>
  matter(
    'goods',
    (frame.content.clients ?? []).map(({ name, image, link }) =>
      item(name, { shot: shotOf(frame, image, name), ...given({ link }) }),
    ),
  )

const badges: MatterOf = (frame) =>
  matter(
    'goods',
    (frame.content.badges ?? []).map(({ label, image, link }) =>
      item(label, { shot: shotOf(frame, image, label), ...given({ link }) }),
    ),
  )

const banner: MatterOf = (frame) => {
  const { ctaBanner, labels } = frame.content
  if (ctaBanner === undefined) return matter('mood', [])
  const { title = '', text: words, label, link, image, focus } = ctaBanner
  const button = label ?? labels?.actions?.banner ?? frame.words.getInTouch
  return matter('mood', [
    item(title, { link, points: [button], shot: shotOf(frame, image, '', focalOf(focus)), ...given({ text: words }) }),
  ])
}

const video: MatterOf = (frame) => {
  const value = frame.content.video
  if (value === undefined) return matter('mood', [])
  const { url, title = frame.words.sections.video, image, alt, focus } = value
  const company = videoOf(url)?.provider ?? frame.words.sections.video
  return matter('mood', [
    item(title, { link: url, role: company, shot: shotOf(frame, image, alt ?? title, focalOf(focus)) }),
  ])
}

const sizeGuide: MatterOf = ({ content }) => {
  const guide = content.sizeGuide
  if (guide === undefined || guide.rows.length === 0) return matter('goods', [])
  const rows = guide.rows.map(({ cells: [name = '', ...points] }) => item(name, { points }))
  return matter('goods', [item('', { points: guide.columns, ...given({ text: guide.note }) }), ...rows])
}

const marquee: MatterOf = ({ content }) =>
  matter(
    'mood',
    (content.marquee?.items ?? []).map((one) => item(one)),
  )

type More =
  | 'services'
  | 'team'
  | 'steps'
  | 'faq'
  | 'text'
  | 'hours'
  | 'clients'
  | 'badges'
  | 'cta_banner'
  | 'video'
  | 'size_guide'
  | 'marquee'

export const MORE: Record<Extract<SectionId, More>, MatterOf> = {
  services,
  team,
  steps,
  faq,
  text,
  hours,
  clients,
  badges,
  cta_banner: banner,
  video,
  size_guide: sizeGuide,
  marquee,
}
