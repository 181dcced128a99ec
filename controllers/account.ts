/** The Account's hands: nothing is done outside for it; it is mirrored, and others look it up here. */
import { ACCOUNT } from '../crds/account/kind.ts'
import {
  type AccountFacts,
  type AccountResource,
  type AccountStep,
  type AccountWorld,
  planAccount,
} from '../crds/account/plan.ts'
import type { AccountSpec } from '../crds/account/schema.ts'
import { viewAccount } from '../crds/account/view.ts'
import type { Resource } from '../crds/object.ts'
import type { Controller } from './runtime/controller.ts'
import type { Mirror } from './runtime/mirror.ts'
import type { Cache } from './runtime/watch.ts'

/** What other kinds ask about accounts, answered from the watch. */
export type Directory = {
  get(id: string): { name: string; plan: string; email: string } | null
  /** Whether some account has this address; case does not count. */
  hasEmail(email: string): boolean
}

/** An index over the accounts of one namespace, kept by the watch. */
export const makeDirectory = (cache: Cache<Resource<AccountSpec>>, namespace: string): Directory => {
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
      const spec = cache.get(`${namespace}/${id}`)?.spec
      return spec ? { name: spec.name, plan: spec.plan, email: spec.email } : null
    },
    hasEmail: (email) => holders.has(email.toLowerCase()),
  }
}

export const accountController = (deps: {
  mirror: Mirror
}): Controller<AccountResource, AccountFacts, AccountWorld, AccountStep> => ({
  kind: ACCOUNT,
  observe: async () => ({ factSeq: 0 }),
  plan: planAccount,
  act: {},
  report: async (object) => {
    const { metadata } = object
    await deps.mirror.put({
      kind: 'Account',
      name: metadata.name,
      account: metadata.name,
      uid: metadata.uid,
      generation: metadata.generation,
      observedGeneration: metadata.generation,
      view: viewAccount(object),
      createdAt: metadata.creationTimestamp,
      updatedAt: metadata.creationTimestamp,
    })
  },
  forget: async (key) => {
    await deps.mirror.remove('Account', key.slice(key.indexOf('/') + 1))
  },
})
