/** The figures of a layout: what its pages measure, and in which turn its grounds stand. */
import type { Layout as LayoutName } from '../../content/content.ts'

/** Pixels at 360 and at 1440; between them lengths grow with the window. */
export type Fluid = readonly [phone: number, desktop: number]

export type Grid = {
  margin: Fluid
  gutter: Fluid
  /** Between sections. */
  gap: Fluid
  /** The most that the matter is wide. */
  width: number
  /** The step of the shortest headline. */
  top: number
  /** Pixels by which body text differs. */
  body: number
  /** The step of section headings. */
  heading: number
}

/** What grounds the sections of a layout take in turn, and whether every third hangs its heading. */
export type Rhythm = { grounds: readonly string[]; hung: boolean; last: string }

export type LayoutFigures = { name: LayoutName; grid: Grid; rhythm: Rhythm }
