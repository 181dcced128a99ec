import type { Claim } from '../../controllers/runtime/register.ts'

/** A claim with everything filled in; `number` makes its resource. */
export const aClaim = (number: number | string, over: Partial<Claim> = {}): Claim => ({
  resource: `bottega/inv-${number}`,
  uid: `uid-${number}`,
  series: { id: 'demo/INV/026', account: 'demo', prefix: 'INV-026-' },
  kind: 'invoice',
  totalCents: 192_000,
  currency: 'EUR',
  issuedAt: '2026-11-21T09:30:00.000Z',
  payload: { totalCents: 192_000, currency: 'EUR' },
  ...over,
})

/** 1..n, for comparing. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1)
