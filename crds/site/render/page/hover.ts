/**
 * What a picture of goods does under a pointer, where there is one and its reader wants motion: it comes nearer within its frame, or
 * gives way to the second picture. Under a finger nothing is hidden: the two lie side by side and snap. Source: rules/site.md#pictures.
 */
import type { Content } from '../../content/content.ts'
import type { PageLedger } from './ledger.ts'

const MOVES = '@media (hover:hover) and (prefers-reduced-motion:no-preference)'

/** One rule each, which the sheet sorts: none may depend on standing behind another. */
const RULES = {
  nears: [
    '.nears picture{overflow:hidden;border-radius:inherit}',
    `${MOVES}{.nears img{transition:transform .4s}.nears:hover img{transform:scale(1.03)}}`,
  ],
  turns: [
    '.turns>.over{display:none}',
    `${MOVES}{.turns{display:grid;grid-template:minmax(0,1fr)/minmax(0,1fr)}.turns>*{grid-area:1/1}.turns>span.over{display:block;opacity:0;transition:opacity .4s}.turns:hover>span.over{opacity:1}}`,
    '@media (hover:none){.turns{display:flex;gap:4px;overflow-x:auto;scroll-snap-type:x mandatory;scrollbar-width:none}.turns>picture,.turns>span.over{display:block;flex:0 0 92%;scroll-snap-align:start}.turns>span.over{scroll-snap-align:end}}',
  ],
} as const

/**
 * The class of a picture's place, empty where it stays as it is.
 * @param hasSecond without one a picture that was to give way comes nearer
 */
export const hoverClass = (ledger: PageLedger, wanted: Content['imageHover'], hasSecond: boolean): string => {
  if (wanted === undefined || wanted === 'none') return ''
  const name = wanted === 'swap' && hasSecond ? 'turns' : 'nears'
  for (const rule of RULES[name]) ledger.rules.add(rule)
  return name
}
