/** Every form by its name. */
import type { FormId } from '../choose/table.ts'
import { cards } from './cards.ts'
import { chapters } from './chapters.ts'
import type { SiteForm } from './form.ts'
import { justified } from './justified.ts'
import { ladder } from './ladder.ts'
import { list } from './list.ts'
import { numbered } from './numbered.ts'
import { plates } from './plates.ts'
import { reach } from './reach.ts'
import { rows } from './rows.ts'
import { banner } from './small/banner.ts'
import { facts } from './small/facts.ts'
import { film } from './small/film.ts'
import { folds } from './small/folds.ts'
import { line } from './small/line.ts'
import { marquee } from './small/marquee.ts'
import { measures } from './small/measures.ts'
import { proofs } from './small/proofs.ts'
import { prose } from './small/prose.ts'
import { seals } from './small/seals.ts'
import { sizes, stacked } from './small/sizes.ts'
import { spoken } from './small/spoken.ts'
import { wall } from './small/wall.ts'
import { week } from './small/week.ts'
import { write } from './small/write.ts'
import { strip } from './strip.ts'
import { table } from './table.ts'

export const FORM_VIEWS: Record<FormId, SiteForm> = {
  banner,
  cards,
  chapters,
  facts,
  film,
  folds,
  index: numbered,
  justified,
  ladder,
  line,
  list,
  marquee,
  measures,
  plates,
  proofs,
  prose,
  reach,
  rows,
  seals,
  sizes,
  spoken,
  stacked,
  strip,
  table,
  wall,
  week,
  write,
}
