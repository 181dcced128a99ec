/** A queue in which accounts take turns: the account that was served longest ago is next, its oldest document first. */

export type Turns<T extends { account: string }> = {
  add(one: T): void
  /** It goes on where it was taken out: before whatever else its account has. */
  addFirst(one: T): void
  /** The next one of an account that may go, taken out; undefined when nothing waits. */
  take(mayGo?: (account: string) => boolean): T | undefined
  /** It waits no longer, if it did. */
  drop(one: T): void
  /** What of an account waits. */
  of(account: string): readonly T[]
  size(): number
}

/** Accounts whose turns are remembered; one that is forgotten counts as never served. */
const SERVED_MAX = 1_000

export const makeTurns = <T extends { account: string }>(): Turns<T> => {
  const waiting = new Map<string, T[]>()
  /** At which turn each account was served last; who was served longest ago stands first. */
  const served = new Map<string, number>()
  let [turn, size] = [0, 0]

  const drop = (one: T): void => {
    const own = waiting.get(one.account) ?? []
    const left = own.filter((other) => other !== one)
    size -= own.length - left.length
    if (left.length > 0) waiting.set(one.account, left)
    else waiting.delete(one.account)
  }

  /** Of those that were never served the one that came first. */
  const next = (mayGo: (account: string) => boolean): T | undefined => {
    let chosen: { at: number; first: T | undefined } | undefined
    for (const [account, [first]] of waiting) {
      const at = served.get(account) ?? 0
      if ((!chosen || at < chosen.at) && mayGo(account)) chosen = { at, first }
    }
    return chosen?.first
  }

  return {
    add: (one) => {
      waiting.set(one.account, [...(waiting.get(one.account) ?? []), one])
      size += 1
    },
    addFirst: (one) => {
      waiting.set(one.account, [one, ...(waiting.get(one.account) ?? [])])
      size += 1
    },
    take: (mayGo = () => true) => {
      const one = next(mayGo)
      if (one === undefined) return undefined
      turn += 1
      served.delete(one.account)
      served.set(one.account, turn)
      const [oldest] = served.keys()
      if (served.size > SERVED_MAX && oldest !== undefined) served.delete(oldest)
      drop(one)
      return one
    },
    drop,
    of: (account) => waiting.get(account) ?? [],
    size: () => size,
  }
}
