/** The Account's hands: it is bound to its rows, logos that were sent are looked into, and it is mirrored. */

import { ACCOUNT } from '../../../crds/account/kind.ts'
import { continuesOf } from '../../../crds/account/life.ts'
import {
  type AccountFacts,
  type AccountResource,
  type AccountStep,
  type AccountWorld,
  planAccount,
} from '../../../crds/account/plan.ts'
import type { Unserved } from '../../../crds/account/tenants.ts'
import { storedAccount } from '../../../crds/account/view.ts'
import { belongsTo } from '../../../crds/kernel/fields.ts'
import type { Media } from '../../io/pictures/media.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { Lives } from '../../store/account/lives.ts'
import type { Blobs } from '../../store/blobs.ts'
import { type Logos, makeLogos } from '../../store/invoice/logos.ts'
import { type Mirror, rowOf } from '../../store/mirror.ts'
import type { Directory } from '../account-index.ts'
import type { Held } from '../held.ts'
import { controlOf } from '../kind-controller.ts'
import { ACCOUNT_MAILS } from './mails.ts'

/** A picture that took the process down this often is not decoded again. */
const TRIES_MAX = 3

export type AccountDeps = {
  mirror: Mirror
  blobs: Blobs
  media: Pick<Media, 'renderLogo'>
  logos: Logos
  lives: Lives
  accounts: Pick<Directory, 'forget'>
  /** What stands where nobody looks, of all accounts. */
  unserved?: (() => Promise<Unserved[]>) | undefined
  /** Accounts whose deletion was seen and is not on record yet: name to uids. */
  gone: Map<string, Set<string>>
  now: () => Date
}

/** Each part is safe to repeat; the verdict falls once. */
const takeLogo = async (
  { logos, blobs, media }: AccountDeps,
  { seq, source }: Extract<AccountStep, { do: 'takeLogo' }>,
): Promise<void> => {
  const tries = await logos.begin(seq)
  if (tries === null) return
  if (tries > TRIES_MAX) return logos.settle(seq, { reason: 'could not be decoded in three attempts' })
  const sent = await blobs.get(source)
  if (!sent) return logos.settle(seq, { reason: 'is not stored; send it again' })
  const verdict = await media.renderLogo(sent)
  if (!verdict.ok) return logos.settle(seq, { reason: verdict.reason })
  const { bytes, width, height } = verdict
  await logos.settle(seq, { logo: { sha256: await blobs.put(bytes), width, height } })
}

/** Before anything is said of who comes under the name: what was the account's own that was deleted ends. */
const endGone = async ({ lives, gone, now }: AccountDeps, name: string): Promise<void> => {
  const uids = gone.get(name)
  for (const uid of uids ?? []) {
    await lives.end(uid, now().toISOString())
    uids?.delete(uid)
  }
  if (uids?.size === 0) gone.delete(name)
}

const begin = async ({ lives, now }: AccountDeps, { metadata, spec }: AccountResource): Promise<void> => {
  const { uid, name } = metadata
  await lives.begin({ uid, name, email: spec.email, continues: continuesOf(metadata), at: now().toISOString() })
}

export const accountController = (
  deps: AccountDeps,
): Controller<AccountResource, AccountFacts, AccountWorld, AccountStep> => ({
  kind: ACCOUNT,
  observe: async ({ metadata }) => {
    const life = await deps.lives.of(metadata.uid)
    if (!life) return { logos: [], factSeq: 0, life }
    const { open, factSeq } = await deps.logos.of(life.key)
    const unserved = (await deps.unserved?.())?.filter((one) => belongsTo(one, life.key)) ?? []
    return { logos: open, factSeq, life, unserved }
  },
  plan: planAccount,
  act: {
    begin: async (_step, object) => {
      await endGone(deps, object.metadata.name)
      await begin(deps, object)
    },
    takeLogo: (step) => takeLogo(deps, step),
  },
  report: async (object, world) => {
    const { metadata } = object
    const view = storedAccount(object, world.factSeq)
    const account = world.life?.key ?? metadata.name
    await deps.mirror.put(rowOf(object, { kind: ACCOUNT, account, view }))
  },
  forget: async (key) => {
    const name = key.slice(key.indexOf('/') + 1)
    await endGone(deps, name)
    deps.accounts.forget(name)
    await deps.mirror.remove('Account', name)
  },
})

/** Only what is seen to be deleted: a name that nobody stands for may belong to a cluster that was lost. */
const goneOf = (held: Held<AccountResource>): Map<string, Set<string>> => {
  const gone = new Map<string, Set<string>>()
  held.subscribe((_key, { deleted, lost, object }) => {
    const { name, uid } = object.metadata
    if (deleted && !lost) gone.set(name, (gone.get(name) ?? new Set()).add(uid))
  })
  return gone
}

export const accountControl = controlOf({
  kind: ACCOUNT,
  hasOwnLives: true,
  concurrency: 4,
  mails: ACCOUNT_MAILS,
  make: ({ mirror, blobs, media, pg, epoch, lives, accounts, unserved, held, now }) =>
    accountController({
      mirror,
      blobs,
      media,
      logos: makeLogos({ pg, epoch }),
      lives,
      accounts,
      unserved,
      gone: goneOf(held(ACCOUNT)),
      now,
    }),
})
