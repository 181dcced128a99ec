/** The style sheet of a site, put together from brand, fonts, base, layout and template. */
import type { Brand } from '../../content/brand.ts'
import type { Layout, Template } from '../../content/content.ts'
import type { Typography } from '../fonts.ts'
import { BASE } from './base.ts'
import { CLASSIC } from './classic.ts'
import { EDITORIAL } from './editorial.ts'
import { fluid, scaleRules } from './scale.ts'
import { TEMPLATE_RULES } from './templates.ts'

const LAYOUT_RULES: Record<Layout, string> = { classic: CLASSIC, editorial: EDITORIAL }

/** Line breaks stand between rules and after commas only, where a sheet needs none. */
const squeezed = (rules: string): string =>
  rules
    .split('\n')
    .map((line) => line.trim())
    .join('')

const FIXED = Object.fromEntries(
  Object.entries(LAYOUT_RULES).flatMap(([layout, layoutRules]) =>
    Object.entries(TEMPLATE_RULES).map(([template, rules]) => [
      `${layout} ${template}`,
      squeezed(BASE) + squeezed(layoutRules) + squeezed(rules),
    ]),
  ),
)

/** Every value here was computed: no text of a caller stands in a style sheet. */
const tokenRules = ({ palette }: Brand, typography: Typography, han: boolean): string => {
  const { accent, ink, paper, tint, muted, line, edge } = palette
  const { weight, tracking, leading } = typography.pair.head
  // letters of Han are as wide as they are high: the same words need more room
  const display = han ? fluid(40, 96) : fluid(46, 136)
  return (
    `:root{--accent:${accent};--ink:${ink};--paper:${paper};--tint:${tint};--muted:${muted};--line:${line};--edge:${edge};` +
    `--head:${typography.head};--body:${typography.body};--head-weight:${weight};--tracking:${han ? 0 : tracking};--leading:${leading};` +
    `--display:${display};--display-leading:1;--gutter:clamp(1.25rem,4.5vw,4rem);--band:clamp(3.5rem,8vw,7.5rem);${scaleRules}}`
  )
}

export type Dressed = {
  layout: Layout
  template: Template
  brand: Brand
  typography: Typography
  han: boolean
  colours: string
}

/** @param colours the rules of the dominant colours behind pictures */
export const sheetOf = ({ layout, template, brand, typography, han, colours }: Dressed): string =>
  `@charset "utf-8";${typography.rules}${tokenRules(brand, typography, han)}${FIXED[`${layout} ${template}`]}${colours}`

/** What the page for what is not found needs; it brings its own style, for it is served under any path. */
export const plainSheetOf = ({ brand, typography, han }: Omit<Dressed, 'colours'>): string =>
  tokenRules(brand, typography, han) +
  squeezed(`
body{margin:0;min-height:100svh;display:grid;place-content:center;gap:1.5rem;padding:var(--gutter);background:var(--paper);color:var(--ink);
  font:400 var(--t0)/1.6 var(--body);overflow-wrap:anywhere}
h1{margin:0;font:var(--head-weight) var(--t5)/1.1 var(--head);letter-spacing:var(--tracking);max-width:18ch}
p{margin:0;max-width:60ch}
a{color:var(--accent);text-underline-offset:.22em}
:focus-visible{outline:2px solid var(--ink);outline-offset:4px}
.name{color:var(--muted)}
`)
