/** Days and times as people write them, in the four languages of sites: what a draft says of opening hours is held against them. */
import { DAYS } from '../sections/place.ts'
import { fold } from './source.ts'

export type StatedHours = { days: ReadonlySet<string>; times: ReadonlySet<number> }
type Day = (typeof DAYS)[number]

const DAY_WORDS: Readonly<Record<Day, readonly string[]>> = {
  mon: ['monday', 'mondays', 'mon', 'lunes', 'lun', '周一', '週一', '星期一', '礼拜一', '禮拜一'],
  tue: ['tuesday', 'tuesdays', 'tue', 'tues', 'martes', 'mar', '周二', '週二', '星期二', '礼拜二', '禮拜二'],
  wed: ['wednesday', 'wednesdays', 'wed', 'miércoles', 'mié', 'mie', '周三', '週三', '星期三', '礼拜三', '禮拜三'],
  thu: ['thursday', 'thursdays', 'thu', 'thur', 'thurs', 'jueves', 'jue', '周四', '週四', '星期四', '礼拜四', '禮拜四'],
  fri: ['friday', 'fridays', 'fri', 'viernes', 'vie', '周五', '週五', '星期五', '礼拜五', '禮拜五'],
  sat: [
    'saturday',
    'saturdays',
    'sat',
    'sábado',
    'sábados',
    'sáb',
    'sab',
    '周六',
    '週六',
    '星期六',
    '礼拜六',
    '禮拜六',
  ],
  sun: [
    'sunday',
    'sundays',
    'sun',
    'domingo',
    'domingos',
    'dom',
    ...['周日', '週日', '星期日', '星期天', '礼拜天', '禮拜天'],
  ],
}
const WEEKDAYS: readonly Day[] = DAYS.slice(0, 5)
const WEEKEND: readonly Day[] = DAYS.slice(5)
const MANY_WORDS: readonly (readonly [string, readonly Day[]])[] = [
  ...['daily', 'every day', 'todos los días', 'a diario', 'cada día', '每天', '每日', '天天'].map(
    (word) => [word, DAYS] as const,
  ),
  ...['weekdays', 'entre semana', '工作日', '平日', 'l-v', 'l a v'].map((word) => [word, WEEKDAYS] as const),
  ...['weekend', 'weekends', 'fines de semana', 'fin de semana', '周末', '週末'].map(
    (word) => [word, WEEKEND] as const,
  ),
]
const WORDS: ReadonlyMap<string, readonly Day[]> = new Map(
  [...DAYS.flatMap((day) => DAY_WORDS[day].map((word) => [word, [day]] as const)), ...MANY_WORDS].map(
    ([word, days]) => [fold(word).units, days],
  ),
)
const LONGEST = Math.max(...[...WORDS.keys()].map((word) => word.length))
const FIRST = new Set([...WORDS.keys()].map((word) => word[0]))
const LETTER = /[\p{L}\p{M}]/u
const HAN = /\p{Script=Han}/u
/** What stands between the first and the last of several days. */
const UNTIL = new Set([
  '-',
  '~',
  '～',
  'to',
  'through',
  'thru',
  'until',
  'till',
  'a',
  'al',
  'hasta',
  'hasta el',
  '至',
  '到',
])

type Mention = { days: readonly Day[]; start: number; end: number }

const mentionAt = (units: string, start: number): Mention | null => {
  for (let length = Math.min(LONGEST, units.length - start); length > 0; length--) {
    const word = units.slice(start, start + length)
    const days = WORDS.get(word)
    if (days === undefined) continue
    if (HAN.test(word)) return { days, start, end: start + length }
    const [before, after] = [units[start - 1] ?? ' ', units[start + length] ?? ' ']
    if (!LETTER.test(before) && !LETTER.test(after)) return { days, start, end: start + length }
  }
  return null
}

const mentionsOf = (units: string): Mention[] => {
  const found: Mention[] = []
  for (let at = 0; at < units.length; at++) {
    const mention = FIRST.has(units[at]) ? mentionAt(units, at) : null
    if (mention === null) continue
    found.push(mention)
    at = mention.end - 1
  }
  return found
}

const daysBetween = (first: Day, last: Day): Day[] => {
  const [from, to] = [DAYS.indexOf(first), DAYS.indexOf(last)]
  return from <= to ? DAYS.slice(from, to + 1) : [...DAYS.slice(from), ...DAYS.slice(0, to + 1)]
}

const daysOf = (units: string): Set<string> => {
  const mentions = mentionsOf(units)
  const days = mentions.flatMap((mention, index) => {
    const next = mentions[index + 1]
    const [first] = mention.days
    const last = next?.days.at(-1)
    const isRange = next !== undefined && UNTIL.has(units.slice(mention.end, next.start).replaceAll('.', '').trim())
    return isRange && first !== undefined && last !== undefined ? daysBetween(first, last) : mention.days
  })
  return new Set(days)
}

const TIME = /([0-9]{1,2})(?: ?([:.h：点點时時]) ?([0-9]{2})?)?(?: ?([ap])\.? ?m)?/g
const DAY_MINUTES = 24 * 60
const NOON = 12
const BESIDE = 6
const RANGE_AFTER = /^ ?h?\.? ?(?:[-~至到]|(?:to|a|y|until|till|hasta) )/
const RANGE_BEFORE = /(?:[-~至到]| (?:to|a|y|until|till|hasta|las)) ?$/

/** Which minutes of the day one writing may mean. */
const minutesOf = (hour: number, minute: number, half: string | undefined): number[] => {
  if (hour > 24 || minute > 59) return []
  if (half === 'p') return [((hour % NOON) + NOON) * 60 + minute]
  if (half === 'a') return [(hour % NOON) * 60 + minute]
  // who writes no half of the day may mean either: 8 to 6
  return hour <= NOON ? [hour * 60 + minute, ((hour + NOON) * 60 + minute) % DAY_MINUTES] : [hour * 60 + minute]
}

const NAMED: readonly (readonly [string, number])[] = [
  ...['noon', 'mediodía', '中午', '正午'].map((word) => [fold(word).units, NOON * 60] as const),
  ...['midnight', 'medianoche', '午夜', '24h', '24 h', '24/7'].map((word) => [fold(word).units, 0] as const),
]

const timesOf = (units: string): Set<number> => {
  const written = [...units.matchAll(TIME)].flatMap(
    ({ 0: whole, 1: hour = '', 2: mark, 3: minute, 4: half, index }) => {
      const end = index + whole.length
      const isMarked = half !== undefined || (mark !== undefined && (mark !== '.' || minute !== undefined))
      const isInRange =
        RANGE_AFTER.test(units.slice(end, end + BESIDE)) ||
        RANGE_BEFORE.test(units.slice(Math.max(0, index - BESIDE), index))
      return isMarked || isInRange ? minutesOf(Number(hour), Number(minute ?? 0), half) : []
    },
  )
  const named = NAMED.flatMap(([word, minutes]) => (units.includes(word) ? [minutes] : []))
  return new Set([...written, ...named].map((minutes) => minutes % DAY_MINUTES))
}

/** @param units as `fold` gives them */
export const statedHours = (units: readonly string[]): StatedHours => ({
  days: new Set(units.flatMap((one) => [...daysOf(one)])),
  times: new Set(units.flatMap((one) => [...timesOf(one)])),
})

const minuteOf = (time: string): number => {
  const [hour = '', minute = ''] = time.split(':')
  return (Number(hour) * 60 + Number(minute)) % DAY_MINUTES
}

/** Whether the source states these days and times. Days on which nothing opens are stated by their names. */
export const hasHours = (
  { days, times }: StatedHours,
  opening: { days?: readonly string[]; opens?: string; closes?: string },
): boolean => {
  const { days: asked = [], opens, closes } = opening
  const isTime = (time: string | undefined) => time === undefined || times.has(minuteOf(time))
  return asked.every((day) => days.has(day)) && isTime(opens) && isTime(closes)
}
