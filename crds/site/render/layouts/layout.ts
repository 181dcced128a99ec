/** What a layout is: figures of its grid, and the views that are its own. Source: rules/site.md#layouts. */
import type { Html } from '../../../text/html.ts'
import type { Frame } from '../page/frame.ts'
import type { LayoutFigures } from './figures.ts'

export type LayoutView = LayoutFigures & {
  header(frame: Frame): Html
  hero(frame: Frame): Html
  /** What opens a page that has no hero. */
  pageHead(frame: Frame): Html
  footer(frame: Frame): Html
  /** Its rules, written for reading. */
  css: string
}
