/** What a kind adds to the catalogues that all kinds share. Each is a leaf: it imports words and rules of no kind. */
import type { ProblemEntry } from '../problems/entry.ts'

/** How much an account may use of something: by its plan, or what support granted in its place. */
export type QuotaRule = {
  /** What `used` counts, for the description of the account. */
  description: string
  byPlan: Readonly<Record<'free' | 'pro' | 'team', number>>
  /** The field of the account that grants another limit; `limits.<name of the quota>` when left out. */
  grantedBy?: 'ai_per_day' | 'cost_cap_usd'
  /** Turns over at 00:00 UTC; else it is given back. */
  daily: boolean
}

export type PresetEntry = { description: string; scopes: readonly string[] }

export type KindCatalogue = {
  /** What is told to endpoints, as `<object>.<what happened>`. */
  events?: readonly string[]
  /** Code → what it means. */
  problems?: Readonly<Record<string, ProblemEntry>>
  /** Scope → what it allows. */
  scopes?: Readonly<Record<string, string>>
  /** Common choices of scopes. */
  presets?: Readonly<Record<string, PresetEntry>>
  quotas?: Readonly<Record<string, QuotaRule>>
}
