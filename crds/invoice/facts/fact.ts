/** A row of the ledger about one invoice, as its readers see it. */

export type FactLike = {
  seq: number
  key: string
  kind: string
  body: Record<string, unknown>
  state: 'pending' | 'accepted' | 'refused'
  outcome?: Record<string, unknown> | null
  at: string
}
