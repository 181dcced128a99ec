/** The Account's hands: logos that were sent are looked into, and it is mirrored. */
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
import type { Media } from './io/media.ts'
import type { Blobs } from './runtime/blobs.ts'
import type { Controller } from './runtime/controller.ts'
import { type Logos, makeLogos } from './runtime/logos.ts'
import { type Mirror, rowOf } from './runtime/mirror.ts'

/** A picture that took the process down this often is not decoded again. */
const TRIES_MAX = 3

export type AccountDeps = { mirror: Mirror; blobs: Blobs; media: Pick<Media, 'renderLogo'>; logos: Logos }

/** Each part is safe to repeat; the verdict falls once. */
const takeLogo = async ({ logos, blobs, media }: AccountDeps, { seq, source }: AccountStep): Promise<void> => {
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

export const accountController = (
  deps: AccountDeps,
): Controller<AccountResource, AccountFacts, AccountWorld, AccountStep> => ({
  kind: ACCOUNT,
  observe: async ({ metadata }) => {
    const { open, factSeq } = await deps.logos.of(metadata.name)
    return { logos: open, factSeq }
  },
  plan: planAccount,
  act: { takeLogo: (step) => takeLogo(deps, step) },
  report: async (object, world) => {
    const { metadata } = object
    // Who sent a logo is waiting until its number is reached here.
    const view = { ...viewAccount(object), fact_seq: world.factSeq }
    await deps.mirror.put(rowOf(object, { kind: ACCOUNT, account: metadata.name, view }))
  },
  forget: async (key) => {
    await deps.mirror.remove('Account', key.slice(key.indexOf('/') + 1))
  },
})

export const accountControl = controlOf({
  kind: ACCOUNT,
  concurrency: 4,
  make: ({ mirror, blobs, media, pg, epoch }) =>
    accountController({ mirror, blobs, media, logos: makeLogos({ pg, epoch }) }),
})
