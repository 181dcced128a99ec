/**
 * Whether the work of a pattern grows with the length of the text and no faster, from wherever the search begins. recheck
 * proves it on the automaton of the pattern (Weideman 2016 and others, see its site); what it cannot decide is not linear
 * until it is written otherwise.
 */
import type { Parameters } from 'recheck'
import type { Pattern } from './collect.ts'
import { forcedForms } from './forced.ts'

// The checker in this process: neither Java nor a program of one kind of machine, and no process left behind.
process.env.RECHECK_BACKEND = 'pure'
const { check } = await import('recheck')

/** Far more than any takes here, so that a busy machine decides nothing. */
const TIMEOUT_MS = 60_000
/** A text that takes longer is called an attack, by the clock: 1 s is not enough where others want the core as well. */
const ATTACK_TIMEOUT_MS = 20_000
/** Repetitions whose numbers add up to more make the automaton too large to be looked at whole. */
const COUNTS_MAX = 40
const FEW = 4
/** As good as no end: a bounded repetition multiplies the work by its bound. */
const COUNT_MAX = 1000

const LIMITS = { maxNFASize: 1e7, maxRepeatCount: 1e6, maxPatternSize: 1e6, timeout: TIMEOUT_MS } as const

/** `{2,61}` where it repeats: neither behind a backslash nor among the characters of a class. */
const replaceCounts = (source: string, write: (least: number, most: number) => string): string =>
  source.replace(
    /\\[pPuxk]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}/gs,
    (all, least: string | undefined, comma: string, most: string) =>
      least === undefined
        ? all
        : write(Number(least), comma === '' ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most)),
  )

const verdict = async (source: string, flags: string, parameters: Parameters): Promise<string | null> => {
  const found = await check(source, flags, parameters)
  if (found.status === 'safe') return null
  if (found.status === 'unknown') return `undecided: ${JSON.stringify(found.error)}`
  return `${found.complexity.summary} at ${found.attack.pattern.slice(0, 200)}`
}

/** Looks at a pattern with large counts three times: with few, with no end, and as it stands for a text that attacks it. */
const ofLargeCounts = async (source: string, flags: string): Promise<string | null> => {
  const few = replaceCounts(
    source,
    (least, most) => `{${Math.min(least, FEW)},${Number.isFinite(most) ? Math.min(most, FEW) : ''}}`,
  )
  const endless = replaceCounts(source, (least, most) =>
    least === most ? `{${Math.min(least, FEW)}}` : least === 0 ? '*' : '+',
  )
  return (
    (await verdict(few, flags, { ...LIMITS, checker: 'automaton' })) ??
    (await verdict(endless, flags, { ...LIMITS, checker: 'automaton' })) ??
    (await verdict(source, flags, { checker: 'fuzz', timeout: TIMEOUT_MS, attackTimeout: ATTACK_TIMEOUT_MS }))
  )
}

const ofOne = async (source: string, flags: string): Promise<string | null> => {
  let counts = 0
  let largest = 0
  replaceCounts(source, (least, most) => {
    const count = Number.isFinite(most) ? most : least
    counts += count
    largest = Math.max(largest, count)
    return ''
  })
  if (largest > COUNT_MAX) return `repeats ${largest} times, more than ${COUNT_MAX}`
  if (counts > COUNTS_MAX) return ofLargeCounts(source, flags)
  return verdict(source, flags, { ...LIMITS, checker: 'automaton' })
}

/** Begins at the start of the text in every way, so that it is tried once. */
const isAnchored = (source: string, flags: string): boolean =>
  source.startsWith('^') && !flags.includes('m') && !source.includes('|')

/** Why a pattern is refused; null when it is linear. */
export const faultOf = async ({ source, flags }: Pick<Pattern, 'source' | 'flags'>): Promise<string | null> => {
  const fault = await ofOne(source, flags)
  if (fault !== null || isAnchored(source, flags) || !/[*+]|,\}/.test(source)) return fault
  for (const form of forcedForms(source)) {
    const inVain = await ofOne(form, flags)
    if (inVain !== null) return `tries ${form} in vain: ${inVain}`
  }
  return null
}
