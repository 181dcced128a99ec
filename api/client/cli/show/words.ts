/** Amounts and times as people say them. */

const UNITS = ['B', 'kB', 'MB', 'GB'] as const

export const bytesWords = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

export const secondsWords = (ms: number): string =>
  ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`

/** `1 file`, `2 files`. */
export const countWords = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

const DURATION = /^(\d{1,6})(ms|s|m|h)$/
const FACTORS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** `90s`, `15m`, `1h` in milliseconds; null for anything else. */
export const durationMs = (text: string): number | null => {
  const [, count, unit = ''] = DURATION.exec(text) ?? []
  return count === undefined ? null : Number(count) * (FACTORS[unit] ?? 0)
}
