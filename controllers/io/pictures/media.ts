/** What websites and documents are made of beside words: pictures, converted or fetched, and typefaces. */
import type { Egress } from '../../net/egress.ts'
import { type HanCutter, makeHanCutter } from './hancutter.ts'
import { type ImageVerdict, type LogoVerdict, renderImage, renderLogo } from './images.ts'
import { type Intake, makeIntake } from './intake.ts'
import { readWebfonts, type Webfont } from './webfonts.ts'

export type Media = {
  renderImage(bytes: Uint8Array): Promise<ImageVerdict>
  renderLogo(bytes: Buffer): Promise<LogoVerdict>
  /** Pictures that a content names by address. */
  intake: Intake
  webfonts(): Webfont[]
  /** A Han face, cut to characters. */
  cutHan: HanCutter['cut']
}

export const makeMedia = (deps: { egress: Egress }): Media => ({
  renderImage,
  renderLogo,
  intake: makeIntake(deps),
  webfonts: readWebfonts,
  cutHan: makeHanCutter().cut,
})
