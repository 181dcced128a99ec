/** Sizes that grow with the window: 1.2 between steps on a phone, 1.333 on a desktop. Source: rules/site.md#type-scale. */

const PHONE = { width: 390, base: 17, ratio: 1.2 }
const DESKTOP = { width: 1440, base: 18, ratio: 1.333 }
/** Small text shrinks less: it has to be read. */
const SMALL_RATIO = 1.13
/** Steps below and above body text. */
const STEPS = [-2, -1, 0, 1, 2, 3, 4, 5, 6]
const REM = 16

const rounded = (value: number): number => Math.round(value * 1000) / 1000

/** `clamp()` from the phone's size to the desktop's, in rem, so that a reader's own text size counts. */
export const fluid = (phonePx: number, desktopPx: number): string => {
  const slope = (desktopPx - phonePx) / (DESKTOP.width - PHONE.width)
  const start = rounded((phonePx - slope * PHONE.width) / REM)
  const [least, most] = [Math.min(phonePx, desktopPx), Math.max(phonePx, desktopPx)].map((px) => rounded(px / REM))
  return `clamp(${least}rem,${start}rem + ${rounded(slope * 100)}vw,${most}rem)`
}

const stepOf = (step: number): string =>
  step < 0
    ? fluid(PHONE.base * SMALL_RATIO ** step, DESKTOP.base * SMALL_RATIO ** step)
    : fluid(PHONE.base * PHONE.ratio ** step, DESKTOP.base * DESKTOP.ratio ** step)

/** `--t-2` … `--t6`: text sizes. */
export const scaleRules: string = STEPS.map((step) => `--t${step}:${stepOf(step)};`).join('')
