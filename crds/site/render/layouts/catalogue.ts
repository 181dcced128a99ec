/** Every layout by its name. */
import type { Layout as LayoutName } from '../../content/content.ts'
import { atelier } from './atelier.ts'
import { classic } from './classic.ts'
import { editorial } from './editorial.ts'
import type { LayoutView } from './layout.ts'
import { monolith } from './monolith.ts'
import { narrative } from './narrative.ts'
import { showcase } from './showcase.ts'
import { sidenav } from './sidenav.ts'

export const LAYOUT_VIEWS: Record<LayoutName, LayoutView> = {
  classic,
  editorial,
  showcase,
  monolith,
  atelier,
  sidenav,
  narrative,
}
