/** The Account's hands: nothing is done outside for it; it is mirrored. */
import { ACCOUNT } from '../crds/account/kind.ts'
import {
  type AccountFacts,
  type AccountResource,
  type AccountStep,
  type AccountWorld,
  planAccount,
} from '../crds/account/plan.ts'
import { viewAccount } from '../crds/account/view.ts'
import { controlOf } from './control.ts'
import type { Controller } from './runtime/controller.ts'
import { type Mirror, rowOf } from './runtime/mirror.ts'

export const accountController = (deps: {
  mirror: Mirror
}): Controller<AccountResource, AccountFacts, AccountWorld, AccountStep> => ({
  kind: ACCOUNT,
  observe: async () => ({ factSeq: 0 }),
  plan: planAccount,
  act: {},
  report: async (object) => {
    const { metadata } = object
    await deps.mirror.put(rowOf(object, { kind: ACCOUNT, account: metadata.name, view: viewAccount(object) }))
  },
  forget: async (key) => {
    await deps.mirror.remove('Account', key.slice(key.indexOf('/') + 1))
  },
})

export const accountControl = controlOf({
  kind: ACCOUNT,
  concurrency: 4,
  make: ({ mirror }) => accountController({ mirror }),
})
