/** The accounts as the other kinds see them: an index over the watch, so that no kind imports another. */
import type { AccountResource } from '../crds/account/plan.ts'
import { type AccountView, viewAccount } from '../crds/account/view.ts'
import type { Cache } from './runtime/watch.ts'

/** What other kinds ask about accounts, answered from the watch. */
export type Directory = {
  get(id: string): AccountView | null
  /** Whether some account has this address; case does not count. */
  hasEmail(email: string): boolean
}

/** An index over the accounts of one namespace, kept by the watch. */
export const makeDirectory = (cache: Cache<AccountResource>, namespace: string): Directory => {
  const emailOf = new Map<string, string>()
  const holders = new Map<string, number>()
  const count = (email: string | undefined, by: 1 | -1) => {
    if (email === undefined) return
    const left = (holders.get(email) ?? 0) + by
    if (left > 0) holders.set(email, left)
    else holders.delete(email)
  }
  cache.subscribe((key, { deleted, object }) => {
    count(emailOf.get(key), -1)
    emailOf.delete(key)
    if (deleted) return
    const email = object.spec.email.toLowerCase()
    emailOf.set(key, email)
    count(email, 1)
  })
  return {
    get: (id) => {
      const object = cache.get(`${namespace}/${id}`)
      if (!object) return null
      return viewAccount(object)
    },
    hasEmail: (email) => holders.has(email.toLowerCase()),
  }
}
