/** What websites and documents are made of beside words: pictures, converted or fetched, and typefaces. */
import { type ImageVerdict, type LogoVerdict, renderImage, renderLogo } from './images.ts'
import { type Intake, makeIntake } from './intake.ts'
import { readWebfonts, type Webfont } from './webfonts.ts'

export type Media = {
  renderImage(bytes: Uint8Array): Promise<ImageVerdict>
  renderLogo(bytes: Buffer): Promise<LogoVerdict>
  /** Pictures that a content names by address. */
  intake: Intake
  webfonts(): Webfont[]
}

/** @param settings.allowLoopback the development exception */
export const makeMedia = (settings: { allowLoopback: boolean }): Media => ({
  renderImage,
  renderLogo,
  intake: makeIntake(settings),
  webfonts: readWebfonts,
})
