/** The accounts as the other kinds see them: an index over the watch, so that no kind imports another. */
import type { AccountResource } from '../../crds/account/plan.ts'
import { type AccountView, viewAccount } from '../../crds/account/view.ts'
import type { Cache } from '../kube/watch.ts'
import type { Lives } from '../store/account/lives.ts'

/** What other kinds ask about accounts, answered from the watch. */
export type Directory = {
  /** The account that is in force under a key, as `spec.account` of other kinds says it. */
  get(key: string): AccountView | null
  /** Those that decide on websites, by their keys. */
  reviewers(): { key: string; email: string }[]
  /** Whether some account has this address; case does not count. */
  hasEmail(email: string): boolean
  /** Its deletion was seen. Until then an account that is not there was lost, and goes on. */
  forget(name: string): void
}

/** An index over the accounts of one namespace, kept by the watch. */
export const makeDirectory = (
  cache: Cache<AccountResource>,
  namespace: string,
  lives: Pick<Lives, 'holderOf' | 'isKnown'>,
  lost: readonly AccountResource[] = [],
): Directory => {
  /** As they were last, by key. */
  const gone = new Map(lost.map((account) => [`${namespace}/${account.metadata.name}`, account]))
  const emailOf = new Map<string, string>()
  const holders = new Map<string, number>()
  const reviewing = new Set<string>()
  const count = (email: string | undefined, by: 1 | -1) => {
    if (email === undefined) return
    const left = (holders.get(email) ?? 0) + by
    if (left > 0) holders.set(email, left)
    else holders.delete(email)
  }
  const drop = (key: string) => {
    reviewing.delete(key)
    count(emailOf.get(key), -1)
    emailOf.delete(key)
  }
  const note = (key: string, { spec }: AccountResource) => {
    drop(key)
    const email = spec.email.toLowerCase()
    emailOf.set(key, email)
    count(email, 1)
    if (spec.role === 'reviewer') reviewing.add(key)
  }
  for (const [key, account] of gone) note(key, account)
  cache.subscribe((key, { deleted, object }) => {
    if (deleted) {
      gone.set(key, object)
      return
    }
    gone.delete(key)
    note(key, object)
  })
  return {
    get: (key) => {
      const holder = lives.holderOf(key)
      // The first of its name is called like its key; one whose name is known waits until it is bound.
      if (!holder && lives.isKnown(key)) return null
      const of = `${namespace}/${holder?.name ?? key}`
      const object = cache.get(of) ?? gone.get(of)
      return object && (!holder || object.metadata.uid === holder.uid) ? viewAccount(object) : null
    },
    reviewers: () =>
      [...reviewing].flatMap((name) => {
        const account = cache.get(name)
        return account ? [{ key: account.status?.key ?? account.metadata.name, email: account.spec.email }] : []
      }),
    hasEmail: (email) => holders.has(email.toLowerCase()),
    forget: (name) => {
      const key = `${namespace}/${name}`
      gone.delete(key)
      if (cache.get(key) === undefined) drop(key)
    },
  }
}
