/** How a template joins and frames what a layout places, in a thumbnail: the same levers as its style sheet. Source: rules/site.md#templates. */
import type { Template } from '../../../content/content.ts'

/** What stands by the title of a section. */
export type TitleMark =
  | 'square'
  | 'double'
  | 'above'
  | 'leaf'
  | 'stitch'
  | 'plain'
  | 'tab'
  | 'index'
  | 'lozenge'
  | 'black'
export type PictureMark = 'plain' | 'mat' | 'lined' | 'arch' | 'print' | 'cutout' | 'cell' | 'gilt' | 'flush'

export type Framing = {
  title: TitleMark
  picture: PictureMark
  button: 'filled' | 'outlined' | 'pill' | 'bar'
  /** As a browser without the template's own fonts sets it. */
  face: string
  weight: number
  capitals?: true
}

const SANS = 'Helvetica Neue,Arial,sans-serif'
const SERIF = 'Georgia,Times New Roman,serif'

export const FRAMINGS: Readonly<Record<Template, Framing>> = {
  studio: { title: 'square', picture: 'plain', button: 'filled', face: SANS, weight: 600 },
  harbor: { title: 'double', picture: 'mat', button: 'filled', face: SERIF, weight: 600 },
  ledger: { title: 'above', picture: 'lined', button: 'filled', face: SERIF, weight: 500 },
  garden: { title: 'leaf', picture: 'arch', button: 'pill', face: SERIF, weight: 500 },
  craft: { title: 'stitch', picture: 'print', button: 'filled', face: 'Rockwell,Roboto Slab,serif', weight: 700 },
  clinic: { title: 'plain', picture: 'plain', button: 'filled', face: 'Verdana,Arial,sans-serif', weight: 600 },
  market: { title: 'tab', picture: 'cutout', button: 'filled', face: SANS, weight: 800 },
  voltage: { title: 'index', picture: 'cell', button: 'filled', face: 'Segoe UI,Arial,sans-serif', weight: 700 },
  lumen: { title: 'lozenge', picture: 'gilt', button: 'outlined', face: SERIF, weight: 300 },
  runway: {
    title: 'black',
    picture: 'flush',
    button: 'bar',
    face: 'Arial Black,Arial,sans-serif',
    weight: 900,
    capitals: true,
  },
}
