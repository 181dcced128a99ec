/** Refusals that rest on more than one instance, with their arithmetic: the same words over REST and in a status. */

import { type Refusal, refusal } from './life/refusal.ts'
import { usdOf } from './sizing/prices.ts'

/** Micro-USD in a dollar. */
export const MICRO_USD = 1_000_000

export const CAPABILITY = 'devbox.manage'

const usd = (microUsd: number): string => usdOf(microUsd).toFixed(2)

/** @param sum.others what the owner's other instances are committed to, micro-USD a month */
export const capDetail = (sum: { committedMicroUsd: number; capMicroUsd: number; others: number }): string => {
  const { committedMicroUsd, capMicroUsd, others } = sum
  const total = usd(others + committedMicroUsd)
  return `${usd(others)} USD a month committed and ${usd(committedMicroUsd)} USD for this are ${total} USD, the cap is ${usd(capMicroUsd)} USD`
}

export const capRefusal = (sum: Parameters<typeof capDetail>[0]): Refusal => refusal('CAP_EXCEEDED', capDetail(sum))

export const nameDetail = (name: string): string => `another instance of the owner is called ${name}`

export const nameRefusal = (name: string): Refusal => refusal('NAME_TAKEN', nameDetail(name))
