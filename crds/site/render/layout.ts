/** What a layout is: a view of every section, and of what stands around them. */
import type { Html } from '../../html.ts'
import type { SectionId } from '../content.ts'
import type { Frame } from './frame.ts'

export type LayoutViews = Record<SectionId, (frame: Frame) => Html> & {
  header(frame: Frame): Html
  footer(frame: Frame): Html
}
