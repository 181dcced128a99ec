/** The style sheet of a site, put together from brand, fonts, base, and the forms, layout and template that it uses. */
import type { Brand } from '../../content/brand/brand.ts'
import { FORM_VIEWS } from '../forms/catalogue.ts'
import type { LayoutView } from '../layouts/layout.ts'
import type { PageLedger } from '../page/ledger.ts'
import type { TemplateView } from '../templates/template.ts'
import type { Stacks, Typography } from '../type/fonts.ts'
import { isHan } from '../type/han.ts'
import { fluid, scaleRules } from '../type/scale.ts'
import { BASE, PRINT } from './base.ts'
import { CHROME } from './chrome.ts'

/** Line breaks stand between rules and after commas only, where a sheet needs none. */
const squeezed = (rules: string): string =>
  rules
    .split('\n')
    .map((line) => line.trim())
    .join('')

const known = new Map<string, string>()
const onceSqueezed = (rules: string): string => {
  const before = known.get(rules)
  if (before !== undefined) return before
  const made = squeezed(rules)
  known.set(rules, made)
  return made
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Han is never set wider or closer. */
const stackRules = ({ lang, head, body, mono }: Stacks, { pair }: Typography): string =>
  `--head:${head};--body:${body};--mono:${mono};--tr:${isHan(lang) ? 0 : pair.head.tracking};`

/** Every value here was computed: no text of a caller stands in a style sheet. */
const tokenRules = ({ brand, typography, layout, template }: Omit<Dressed, 'colours' | 'ledger'>): string => {
  const { grid } = layout
  const { weight, leading } = typography.pair.head
  const [first, ...others] = typography.stacks
  const dense = (pair: readonly [number, number]) => fluid(pair[0] * template.density, pair[1] * template.density)
  const colours = Object.entries(brand.palette).map(([name, hex]) => `--${kebab(name)}:${hex};`)
  return (
    `:root{${colours.join('')}${stackRules(first, typography)}` +
    `--hw:${weight};--hz:${typography.pair.hanWeight};--ld:${leading};--rad:${template.radius}px;` +
    `--mg:${fluid(...grid.margin)};--gut:${fluid(...grid.gutter)};--gap:${dense(grid.gap)};--w:${grid.width}px;` +
    `--th:var(--t${grid.heading});${scaleRules(grid.body + template.body)}}` +
    others.map((one) => `:root:lang(${one.lang}){${stackRules(one, typography)}}`).join('')
  )
}

export type Dressed = {
  layout: LayoutView
  template: TemplateView
  brand: Brand
  typography: Typography
  ledger: PageLedger
  colours: string
}

/** @param dressed `colours` are the rules of the dominant colours behind pictures */
export const sheetOf = (dressed: Dressed): string => {
  const { layout, template, typography, ledger, colours } = dressed
  const forms = [...ledger.forms].sort().map((form) => onceSqueezed(FORM_VIEWS[form].css))
  const parts = [BASE, CHROME].map(onceSqueezed)
  return [
    `@charset "utf-8";${typography.rules}${tokenRules(dressed)}`,
    ...parts,
    ...forms,
    onceSqueezed(layout.css),
    onceSqueezed(template.css),
    ...[...ledger.rules].sort(),
    colours,
    onceSqueezed(PRINT),
  ].join('')
}

/** What the page for what is not found needs; it brings its own style, for it is served under any path. */
export const plainSheetOf = (dressed: Omit<Dressed, 'colours' | 'ledger'>): string =>
  tokenRules(dressed) +
  onceSqueezed(`
body{margin:0;min-height:100svh;display:grid;align-content:center;gap:1.5rem;padding:var(--mg);background:var(--paper);color:var(--ink);
  font:400 var(--t0)/1.55 var(--body);overflow-wrap:anywhere}
main{display:grid;gap:1.25rem}
h1{margin:0;font:var(--hw) var(--t5)/1.1 var(--head);letter-spacing:var(--tr);max-width:18ch}
p,ul{margin:0;padding:0;max-width:60ch}
ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 2rem}
a{color:var(--accent);text-underline-offset:.22em;display:inline-block;padding-block:.6rem}
:focus-visible{outline:3px solid var(--ink);outline-offset:3px}
.name{color:var(--muted)}
`)
