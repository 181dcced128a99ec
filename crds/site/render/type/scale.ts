/** Sizes that grow with the window: 1.2 between steps on a phone, 1.333 on a desktop. Source: rules/site.md#type-scale. */

const PHONE_WIDTH = 360
const DESKTOP_WIDTH = 1440
const REM = 16

/** Pixels at 360 and at 1440, by step; nothing is smaller than 13. */
export const SIZES: Readonly<Record<number, readonly [phone: number, desktop: number]>> = {
  [-2]: [13, 13],
  [-1]: [14, 14],
  0: [17, 18],
  1: [20, 24],
  2: [24, 32],
  3: [29, 43],
  4: [35, 57],
  5: [42, 76],
  6: [51, 101],
  7: [61, 134],
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000

/** `clamp()` from the phone's size to the desktop's, in rem, so that a reader's own text size counts. */
export const fluid = (phonePx: number, desktopPx: number): string => {
  if (phonePx === desktopPx) return `${rounded(phonePx / REM)}rem`
  const slope = (desktopPx - phonePx) / (DESKTOP_WIDTH - PHONE_WIDTH)
  const start = rounded((phonePx - slope * PHONE_WIDTH) / REM)
  const [least, most] = [Math.min(phonePx, desktopPx), Math.max(phonePx, desktopPx)].map((px) => rounded(px / REM))
  return `clamp(${least}rem,${start}rem + ${rounded(slope * 100)}vw,${most}rem)`
}

/**
 * `--t-2` … `--t7`: text sizes.
 * @param body pixels by which a layout or a template moves body text
 */
export const scaleRules = (body: number): string =>
  Object.entries(SIZES)
    .map(([step, [phone, desktop]]) => {
      const by = step === '0' ? body : 0
      return `--t${step}:${fluid(phone + by, desktop + by)};`
    })
    .join('')
