/** What websites and documents are made of beside words: pictures, converted or fetched, and typefaces. */
import type { Egress } from '../../net/egress.ts'
import { type HanCutter, makeHanCutter } from './hancutter.ts'
import { type DrawnIcon, type IconSource, makeIconDrawer } from './icons.ts'
import { type LogoVerdict, type OpenVerdict, openImage, type QuickVerdict, quickImage, renderLogo } from './images.ts'
import { type Intake, makeIntake } from './intake.ts'
import { readWebfonts, type Webfont } from './webfonts.ts'

export type Media = {
  /** What can be shown at once. */
  quickImage(bytes: Uint8Array): Promise<QuickVerdict>
  /** What all widths are made of. */
  openImage(bytes: Uint8Array): Promise<OpenVerdict>
  renderLogo(bytes: Buffer): Promise<LogoVerdict>
  /** What stands for a site in tabs and on home screens. */
  drawIcons(source: IconSource): Promise<DrawnIcon[]>
  /** Pictures that a content names by address. */
  intake: Intake
  webfonts(): Webfont[]
  /** A Han face, cut to characters. */
  cutHan: HanCutter['cut']
}

export const makeMedia = (deps: { egress: Egress }): Media => ({
  quickImage,
  openImage,
  renderLogo,
  drawIcons: makeIconDrawer(),
  intake: makeIntake(deps),
  webfonts: readWebfonts,
  cutHan: makeHanCutter().cut,
})
