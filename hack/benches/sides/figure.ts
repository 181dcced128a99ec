import type { Progress } from '../../lib/progress.ts'

/** What is asked of a figure: `atLeast` or `atMost` this ratio of value to peer. */
export type Goal = { atLeast: number } | { atMost: number }

/** One measured thing beside its peer, measured in the same run on the same machine. */
export type BenchFigure = {
  name: string
  value: number
  unit: string
  peer: string
  peerValue: number
  ratio: number
  goal: string
  verdict: 'holds' | 'short'
}

/** What a part measured, before ratio and verdict are worked out. */
export type Measured = {
  name: string
  value: number
  unit: string
  peer: string
  peerValue: number
  goal: Goal
}

/** What a part of `hack/bench` gets: where its figures go, and how it shows that it is alive. */
export type BenchContext = {
  figure(measured: Measured): BenchFigure
  progress: Progress
  /** A folder of its own, enterable by all users, removed afterwards. */
  scratch: string
}
export type Bench = (context: BenchContext) => Promise<void>

/** Works out ratio and verdict. */
export function figure({ goal, ...measured }: Measured): BenchFigure {
  const ratio = measured.value / measured.peerValue
  const holds = 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
  const asked = 'atLeast' in goal ? `≥ ${goal.atLeast} ×` : `≤ ${goal.atMost} ×`
  return { ...measured, ratio, goal: asked, verdict: holds ? 'holds' : 'short' }
}

/** One line for people: `numbering, 64 callers: 17,250 /s, 19.2 × row lock (898 /s), goal ≥ 12 ×: holds`. */
export function figureLine(one: BenchFigure): string {
  const { name, value, unit, peer, peerValue, ratio, goal, verdict } = one
  const peerText = `${peer} (${amount(peerValue)} ${unit})`
  return `${name}: ${amount(value)} ${unit}, ${ratio.toFixed(2)} × ${peerText}, goal ${goal}: ${verdict}`
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle]
  if (upper === undefined || lower === undefined) throw new Error('the median of nothing')
  return (lower + upper) / 2
}

function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 })
}
