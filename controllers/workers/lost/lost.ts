/**
 * What is not there though it is known. Whose deletion is on record is forgotten; what nobody deleted was lost, and nothing of
 * it goes: it is made again from what is kept (rebuild.ts), and of some kinds the rows go on meanwhile (hack/decisions/037).
 */
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { AccountResource } from '../../../crds/account/plan.ts'
import type { Log } from '../../base/log.ts'
import type { AnyResource, Caches } from '../../kinds/held.ts'
import { lostResource } from '../../kinds/kept.ts'
import { CONTROLS, GOING_ON } from '../../kinds/list.ts'
import { isOlderThan, type Witness } from '../../kube/witness.ts'
import type { Gone } from '../../runtime/contract.ts'
import { type Desires, makeDeletionReader, makeKeptReader } from '../../store/ledger/desires.ts'
import type { Mirror } from '../../store/mirror.ts'
import type { Pg } from '../../store/pg/pg.ts'
import { type AbsenceDeps, type Absent, absenceOf } from '../truths/absence.ts'

/** Lines in the log. */
const LOST_SHOWN = 20
/** How long superseded generations and deleted resources are kept: about a kilobyte for each edit. */
const KEPT_DAYS = 30
/** Whoever asked for a deletion that has not come by then was told that it did not. */
const ASKED_MS = 120_000

/** Kinds whose resources do not go unseen. */
const FINALIZED = new Set(CONTROLS.flatMap(({ kind }) => (kind.finalizer === undefined ? [] : [kind.kind])))

export type LostDeps = {
  pg: Pg
  log: Log
  mirror: Pick<Mirror, 'known' | 'unknown'>
  desires: Desires
  caches: Pick<Caches, 'byKind' | 'served'>
  witness: Pick<Witness, 'since'>
  strays?: AbsenceDeps['strays']
  passes: { wake(kind: string, name: string): void; forget(kind: string, name: string, how: Gone): void }
}

const namesHeld = ({ byKind }: Pick<Caches, 'byKind'>, kind: string): string[] =>
  byKind
    .get(kind)
    ?.list()
    .map(({ metadata }) => metadata.name) ?? []

/** Of these the ones that are older than the definition that stands now: they went with the one before. `Kind/name` */
const goneWithDefinition = async ({ pg, witness }: LostDeps, absent: readonly Absent[]): Promise<Set<string>> => {
  const concerned = CONTROLS.map(({ kind }) => kind).filter((kind) => absent.some((one) => one.kind === kind.kind))
  if (concerned.length === 0) return new Set()
  const made = await Promise.all(concerned.map(async (kind) => [kind.kind, await witness.since(kind)] as const))
  const since = new Map(made)
  const gone = (await makeKeptReader({ pg }).named(absent)).filter(({ kind, createdAt }) => {
    const standsSince = since.get(kind) ?? null
    return standsSince === null || isOlderThan(createdAt, standsSince)
  })
  return new Set(gone.map(({ kind, name }) => `${kind}/${name}`))
}

/**
 * Of those whose deletion is on nobody's record a few that nothing holds are taken for deleted while nobody looked; for more
 * than that nobody leads (truths.ts), and whoever does all the same forgets nothing. What has a finalizer cannot go unseen, and
 * what went with its definition was not deleted. Of a kind that is not served nothing is said.
 */
export const forgetAbsent = async (deps: LostDeps, namespace: string): Promise<void> => {
  const { mirror, caches, passes, strays, log } = deps
  const looked = { mirror, deletions: makeDeletionReader(deps), held: caches.served(), namespace, strays }
  const { absent, deleted, known, isMass } = await absenceOf(looked)
  for (const { kind, name } of deleted) passes.forget(kind, name, 'deleted')
  if (isMass) log.error({ absent: absent.length, known }, 'too much is absent to be forgotten')
  const withDefinition = isMass ? new Set<string>() : await goneWithDefinition(deps, absent)
  const isLost = ({ kind, name }: Absent) => isMass || FINALIZED.has(kind) || withDefinition.has(`${kind}/${name}`)
  for (const one of absent.filter(isLost).slice(0, LOST_SHOWN)) {
    log.warn(one, 'lost: it is not there, and nobody deleted it')
  }
  for (const one of absent) if (!isLost(one)) passes.forget(one.kind, one.name, 'absent')
}

/** Looks at what goes on though its resource was lost. */
export const wakeLost = async ({ desires, caches, passes }: LostDeps): Promise<void> => {
  for (const kind of GOING_ON) {
    for (const name of await desires.lost(kind, namesHeld(caches, kind))) passes.wake(kind, name)
  }
}

/** What is kept of a resource that is not there, of the kinds that go on without one. */
export const storedOf =
  (desires: Pick<Desires, 'stored'>, namespace: string) =>
  async (kind: string, name: string): Promise<AnyResource | null> => {
    const kept = GOING_ON.has(kind) ? await desires.stored({ kind, name }) : null
    return kept && lostResource(kept, namespace)
  }

/** Accounts that are not there, and that nobody deleted: what is theirs goes on. */
export const lostAccounts = async (
  desires: Desires,
  caches: Pick<Caches, 'byKind'>,
  namespace: string,
): Promise<AccountResource[]> => {
  const names = await desires.lost(ACCOUNT.kind, namesHeld(caches, ACCOUNT.kind))
  const kept = await Promise.all(names.map((name) => desires.stored({ kind: ACCOUNT.kind, name })))
  return kept.flatMap((one) => (one ? [lostResource(one, namespace) as unknown as AccountResource] : []))
}

/** Keeps the history sparse, and takes back what was asked and did not come to pass. */
export const sweepDesires = async (
  desires: Desires,
  find: (kind: string, name: string) => AnyResource | undefined,
): Promise<void> => {
  for (const { kind, name, uid } of await desires.askedFor(ASKED_MS)) {
    const held = find(kind, name)
    const isStaying = held?.metadata.uid === uid && held.metadata.deletionTimestamp === undefined
    if (isStaying) await desires.takeBack({ kind, name, uid })
  }
  await desires.prune(KEPT_DAYS)
}
