/** What a layout is: a view of every section, and of what stands around them. */
import type { Html } from '../../../text/html.ts'
import type { SectionId } from '../../content/content.ts'
import type { Frame } from '../page/frame.ts'

export type LayoutViews = Record<SectionId, (frame: Frame) => Html> & {
  header(frame: Frame): Html
  footer(frame: Frame): Html
}
