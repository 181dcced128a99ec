/** Refusals that rest on more than one instance, with their arithmetic: the same words over REST and in a status. */

import { type Refusal, refusal } from './life/refusal.ts'
import { usdOf } from './sizing/prices.ts'

/** Micro-USD in a dollar. */
export const MICRO_USD = 1_000_000

export const CAPABILITY = 'devbox.manage'

const usd = (microUsd: number): string => usdOf(microUsd).toFixed(2)

/** @param sum.others what the owner's other instances are committed to, micro-USD a month */
export const capRefusal = (sum: { committedMicroUsd: number; capMicroUsd: number; others: number }): Refusal => {
  const { committedMicroUsd, capMicroUsd, others } = sum
  const total = usd(others + committedMicroUsd)
  const detail = `${usd(others)} USD a month committed and ${usd(committedMicroUsd)} USD for this are ${total} USD, the cap is ${usd(capMicroUsd)} USD`
  return refusal('CAP_EXCEEDED', detail)
}

export const nameRefusal = (name: string): Refusal =>
  refusal('NAME_TAKEN', `another instance of the owner is called ${name}`)

export const takenRefusal = (what: 'name' | 'instance' | 'address', said: Record<string, unknown>): Refusal => {
  switch (what) {
    case 'name':
      return nameRefusal(String(said.name))
    case 'instance':
      return refusal('INSTANCE_MISMATCH', `${said.instanceId} is attached to another dev instance`)
    case 'address':
      return refusal('ADDRESS_IN_USE', `${said.eipAllocId} (${said.publicIp}) is held by another dev instance`)
    default:
      return what satisfies never
  }
}
