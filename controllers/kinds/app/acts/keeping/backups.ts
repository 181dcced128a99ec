/**
 * Steps of backups: each is a row under its revision, a job under an id of its own, or a piece of an archive at its place, so that whoever is
 * killed in between neither restores twice nor loses what a volume held (rules/app.md#backups).
 */
import { limitOf } from '../../../../../crds/account/quotas.ts'
import { APP } from '../../../../../crds/app/kind.ts'
import {
  type AppBackup,
  type BackupEnding,
  backJobOf,
  begun,
  ended,
  keepJobOf,
  PART_BYTES,
  packed,
} from '../../../../../crds/app/lifecycle/keeping/backups/backup.ts'
import type { BackupStep } from '../../../../../crds/app/lifecycle/keeping/backups/steps.ts'
import { liveOf } from '../../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import type { AppWorld, JobState } from '../../../../../crds/app/world.ts'
import type { EventType, NewEvent } from '../../../../../crds/kernel/event.ts'
import type { Events } from '../../../../kube/events.ts'
import { type BackupLedger, digestOf } from '../../../../store/app/backups.ts'
import type { AppStorage } from '../../../../store/app/storage.ts'
import type { Directory } from '../../../account-index.ts'
import { backJob, dropFiles, keepJob, type Laid, layPiece, takePiece } from '../../backupjobs.ts'
import { JOB_WAIT_MS } from '../../jobs.ts'
import { targetHostOf } from '../../observe.ts'
import { type ActContext, type Apply, eventAbout, instantOf, rowsOf } from '../context.ts'

export type BackupDeps = {
  backups: BackupLedger
  accounts: Directory
  storage: Pick<AppStorage, 'storedBytes'>
  events?: Events | undefined
  /** Counts one that ended, by what it was and how it ended. */
  onBackupEnded?: ((kind: 'backup' | 'restore', state: AppBackup['state']) => void) | undefined
}

type BackupContext = ActContext & BackupDeps
type StepOf<Do extends BackupStep['do']> = Extract<BackupStep, { do: Do }>

const MIB = 1_048_576
/** Pieces in one step: what is left comes with the next. */
const PIECES_MAX = 8

/** The row as it was stored; of one that somebody else was faster with the world is not what it was taken for. */
const applied = (backup: AppBackup | null, jobs?: AppWorld['backupJobs'][string]): Apply => {
  if (backup === null) return undefined
  return (world) => ({
    ...world,
    backups: world.backups.map((one) => (one.id === backup.id ? backup : one)),
    ...(jobs && { backupJobs: { ...world.backupJobs, [backup.id]: jobs } }),
  })
}

const TOLD: Record<'backup' | 'restore', Partial<Record<AppBackup['state'], EventType>>> = {
  backup: { succeeded: 'app.backup_succeeded', failed: 'app.backup_failed' },
  restore: { succeeded: 'app.restored', failed: 'app.restore_failed' },
}

const kindOf = ({ restores }: AppBackup): 'backup' | 'restore' => (restores === null ? 'backup' : 'restore')

/** Ids, codes and figures. What somebody asked to stop is no news to him. */
const toldOf = ({ hosts }: BackupContext, object: AppResource, backup: AppBackup): NewEvent | null => {
  const type = TOLD[kindOf(backup)][backup.state]
  if (type === undefined) return null
  const { release, id, volume, restores, state, packed, code } = backup
  return eventAbout(type, object, hosts, {
    ...{ release, operation_id: id, kind: kindOf(backup), volume, restores, state },
    ...{ bytes: packed?.bytes ?? null, code },
  })
}

const noteEnd = (context: BackupContext, object: AppResource, backup: AppBackup): void => {
  const kind = kindOf(backup)
  context.onBackupEnded?.(kind, backup.state)
  if (backup.state === 'cancelled') return
  const isFailed = backup.state === 'failed'
  const what = kind === 'backup' ? 'Backup' : 'Restore'
  context.events?.emit({
    ...{ object, kind: APP, type: isFailed ? 'Warning' : 'Normal', action: what },
    reason: `${what}${isFailed ? 'Failed' : 'Succeeded'}`,
    message: backup.message ?? backup.state,
  })
}

const end = async (
  context: BackupContext,
  object: AppResource,
  backup: AppBackup,
  ending: BackupEnding,
): Promise<Apply> => {
  const at = instantOf(context)
  const wanted = ended(backup, ending, at)
  const stored = await context.backups.move({ backup: wanted, told: toldOf(context, object, wanted), at })
  if (stored) {
    noteEnd(context, object, stored)
    // Services were stopped and started: what was seen of them before says nothing.
    if (stored.restores !== null) context.observations.lookAgain(object.metadata.name)
  }
  return applied(stored)
}

const begin = async (context: BackupContext, { backup, release }: StepOf<'beginBackup'>): Promise<Apply> => {
  const at = instantOf(context)
  const stored = await context.backups.move({ backup: begun(backup, release, at), at })
  return applied(stored, { keep: { state: 'absent' } })
}

const failed = (backup: AppBackup, message: string): BackupEnding => ({
  state: 'failed',
  code: backup.restores === null ? 'BACKUP_FAILED' : 'RESTORE_FAILED',
  message,
})

const whyNotLaid = (laid: Laid): string => {
  if (laid === 'noRoom') return 'the host has no room for it'
  return laid === null ? 'the host did not take it' : 'what was laid on the host is not there any more'
}

const lay = async (context: BackupContext, object: AppResource, { backup }: StepOf<'layBackup'>): Promise<Apply> => {
  const { backups, hosts } = context
  const link = hosts.link(object.spec.hostId)
  let known = backup
  for (let pieces = 0; pieces < PIECES_MAX && known.laid < (known.given?.bytes ?? 0); pieces += 1) {
    const piece = await backups.pieceAt(known.restores ?? '', known.laid)
    if (piece === null) return end(context, object, known, failed(known, `${known.restores} is not kept any more`))
    const laid = await layPiece(link, object, known, piece)
    if (laid !== known.laid + piece.length) return end(context, object, known, failed(known, whyNotLaid(laid)))
    const stored = await backups.move({ backup: { ...known, laid }, at: instantOf(context) })
    if (stored === null) return undefined
    known = stored
  }
  return applied(known, { keep: { state: 'absent' } })
}

const keepingOf = async (context: BackupContext, object: AppResource, backup: AppBackup) => {
  const host = targetHostOf(context.hosts.facts(object.spec.hostId))
  if (!host) throw new Error(`the host ${object.spec.hostId} is gone`)
  return { backup, live: liveOf(await rowsOf(context, object)), host }
}

const start = async (
  context: BackupContext,
  object: AppResource,
  { backup }: StepOf<'startBackup'>,
): Promise<Apply> => {
  const job = keepJob(object, await keepingOf(context, object, backup))
  const keep = await context.hosts.link(object.spec.hostId).startJob(job, { waitMs: JOB_WAIT_MS })
  return (world) => ({ ...world, backupJobs: { ...world.backupJobs, [backup.id]: { keep } } })
}

/** What did not end well is tried again: until then nobody knows what the volume holds. */
const putBack = async (context: BackupContext, object: AppResource, { backup }: StepOf<'putBack'>): Promise<Apply> => {
  const link = context.hosts.link(object.spec.hostId)
  const job = backJob(object, await keepingOf(context, object, backup))
  if ((await link.jobState(job.id)).state === 'exited') await link.dropJob(job.id)
  const back = await link.startJob(job, { waitMs: JOB_WAIT_MS })
  return (world) => {
    const keep: JobState = world.backupJobs[backup.id]?.keep ?? { state: 'absent' }
    return { ...world, backupJobs: { ...world.backupJobs, [backup.id]: { keep, back } } }
  }
}

const cancel = async (
  context: BackupContext,
  { spec }: AppResource,
  { backup }: StepOf<'cancelBackup'>,
): Promise<Apply> => {
  const keep = await context.hosts.link(spec.hostId).cancelJob(keepJobOf(backup))
  return (world) => ({ ...world, backupJobs: { ...world.backupJobs, [backup.id]: { keep } } })
}

/** The account has no room for it; null where it has. What was there before a restore is kept all the same. */
const storageFault = async (
  { accounts, storage }: BackupContext,
  { spec }: AppResource,
  { restores }: AppBackup,
  bytes: number,
): Promise<BackupEnding | null> => {
  const account = accounts.get(spec.account)
  if (restores !== null || account === null) return null
  const limit = limitOf('app_storage_mib', account)
  const used = (await storage.storedBytes(spec.account)) / MIB
  if (used + bytes / MIB <= limit) return null
  const message = `${Math.ceil(used)} MiB of ${limit} are taken, and this backup takes ${Math.ceil(bytes / MIB)}`
  return { state: 'failed', code: 'APP_STORAGE', message }
}

const notePacked = async (
  context: BackupContext,
  object: AppResource,
  { backup, packed: given }: StepOf<'notePacked'>,
): Promise<Apply> => {
  const fault = await storageFault(context, object, backup, given.bytes)
  if (fault) return end(context, object, backup, fault)
  const at = instantOf(context)
  if (backup.restores !== null) context.observations.lookAgain(object.metadata.name)
  return applied(await context.backups.move({ backup: packed(backup, given, at), at }))
}

const take = async (context: BackupContext, object: AppResource, { backup }: StepOf<'takeBackup'>): Promise<Apply> => {
  const link = context.hosts.link(object.spec.hostId)
  let known = backup
  for (let pieces = 0; pieces < PIECES_MAX && known.taken < (known.packed?.bytes ?? 0); pieces += 1) {
    const part = await takePiece(link, object, known)
    const wanted = Math.min(PART_BYTES, (known.packed?.bytes ?? 0) - known.taken)
    if (part.length !== wanted) return end(context, object, known, failed(known, sayLost(known)))
    const stored = await context.backups.move({ backup: known, part, at: instantOf(context) })
    if (stored === null) return undefined
    known = stored
  }
  return applied(known)
}

/** A restore has come to its end all the same; only the way back is not there. */
const sayLost = ({ restores, volume }: AppBackup): string =>
  restores === null
    ? 'what was packed is not on the host any more'
    : `${volume} holds ${restores}, but what it held before is not on the host any more, and could not be kept`

/** What is in the store is what the host has packed, byte for byte, before anybody is told that it is kept. */
const settle = async (
  context: BackupContext,
  object: AppResource,
  { backup, ending }: StepOf<'endBackup'>,
): Promise<Apply> => {
  const isKept = ending.state !== 'succeeded' || (await digestOf(context.backups, backup.id)) === backup.packed?.sha256
  const damaged = failed(backup, 'what came over the network is not what the host has packed')
  return end(context, object, backup, isKept ? ending : damaged)
}

const drop = async (context: BackupContext, object: AppResource, { backup }: StepOf<'dropBackup'>): Promise<Apply> => {
  const at = instantOf(context)
  if (backup.startedAt !== null) {
    const link = context.hosts.link(object.spec.hostId)
    const jobs = [keepJobOf(backup), backJobOf(backup)]
    for (const job of jobs) if ((await link.jobState(job)).state === 'running') await link.cancelJob(job)
    await dropFiles(link, object, backup)
    await link.dropJob(keepJobOf(backup), backJobOf(backup))
  }
  return applied(await context.backups.move({ backup: { ...backup, droppedAt: at }, at }))
}

export const makeBackupActs = (context: BackupContext) => ({
  beginBackup: (step: StepOf<'beginBackup'>) => begin(context, step),
  layBackup: (step: StepOf<'layBackup'>, object: AppResource) => lay(context, object, step),
  startBackup: (step: StepOf<'startBackup'>, object: AppResource) => start(context, object, step),
  notePacked: (step: StepOf<'notePacked'>, object: AppResource) => notePacked(context, object, step),
  takeBackup: (step: StepOf<'takeBackup'>, object: AppResource) => take(context, object, step),
  putBack: (step: StepOf<'putBack'>, object: AppResource) => putBack(context, object, step),
  cancelBackup: (step: StepOf<'cancelBackup'>, object: AppResource) => cancel(context, object, step),
  endBackup: (step: StepOf<'endBackup'>, object: AppResource) => settle(context, object, step),
  dropBackup: (step: StepOf<'dropBackup'>, object: AppResource) => drop(context, object, step),
})
