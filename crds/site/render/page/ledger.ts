/** What the pages of a site used, so that its style sheet holds the rules for that and for nothing else. */
import type { HeroRatios } from '../choose/pictures.ts'
import type { SetPlan } from '../choose/sets.ts'
import type { FormId } from '../choose/table.ts'

export type PageLedger = { forms: Set<FormId>; rules: Set<string> }

export const newLedger = (): PageLedger => ({ forms: new Set(), rules: new Set() })

/** A class for a ratio of width and height, and its rule. */
export const ratioClass = (ledger: PageLedger, ratio: number): string => {
  const percent = Math.round(ratio * 100)
  ledger.rules.add(`.a${percent}{aspect-ratio:${percent}/100}`)
  return `a${percent}`
}

/** A class for the picture of a hero: its ratios by the window, and the most that it may be wide. */
export const heroClass = (ledger: PageLedger, own: number, ratios: HeroRatios, mostPx: number): string => {
  const { phone, middle, wide } = ratios
  const [small, medium, large, whole] = [phone, middle, wide, own].map((ratio) => Math.round(ratio * 100))
  const name = `h${small}-${medium}-${large}-${whole}-${mostPx}`
  ledger.rules.add(
    `.${name}{--r:${small}/100;--o:${(whole ?? 100) / 100};--mw:${mostPx}px}@media (min-width:48rem){.${name}{--r:${medium}/100}}@media (min-width:64rem){.${name}{--r:${large}/100}}`,
  )
  return name
}

const hundredth = (value: number): number => Math.round(value * 100) / 100

/** Where the first picture of a block stands; the others follow in their order. */
const leadOf = ({ form, centred }: SetPlan, count: number): string => {
  if (centred) return '1/2'
  if (count < 3 || form === 'row') return '1/1'
  return form === 'tall' ? '1/1/3/2' : '1/1/2/3'
}

const tracks = (list: readonly number[]): string => list.map((one) => `minmax(0,${one}fr)`).join(' ')

export type SetPlans = { phone: SetPlan; middle: SetPlan; wide: SetPlan }

/** A class for pictures of a hero that stand together: the block by the window, and the most that it may be wide. @param name of its pictures */
export const setClass = (
  ledger: PageLedger,
  name: string,
  count: number,
  { phone, middle, wide }: SetPlans,
): string => {
  const rules = (plan: SetPlan): string => {
    const [ratio, least, most] = [plan.ratio, plan.least, plan.most].map(hundredth)
    return `.${name}{--r:${ratio};--n:${least};--x:${most};--mw:${plan.mostPx}px;grid-template:${tracks(plan.rows)}/${tracks(plan.columns)}}.${name}>:first-child{grid-area:${leadOf(plan, count)}}`
  }
  ledger.rules.add(`${rules(phone)}@media (min-width:48rem){${rules(middle)}}@media (min-width:64rem){${rules(wide)}}`)
  return name
}

/** A class by which pictures of one row are as wide as their ratios, and so as high as each other. */
export const growClass = (ledger: PageLedger, ratio: number): string => {
  const percent = Math.round(ratio * 20) * 5
  ledger.rules.add(`.j${percent}{flex:${percent} 1 0;--j:${percent}/100}`)
  return `j${percent}`
}

/** A class for the point around which a picture is cropped. */
export const positionClass = (ledger: PageLedger, [x, y]: readonly [number, number]): string => {
  ledger.rules.add(`.o${x}-${y}{object-position:${x}% ${y}%}`)
  return `o${x}-${y}`
}
