/** What is run on a host for one backup: its job, that which puts a volume back, and pieces of its archive both ways. */

import {
  type AppBackup,
  BACKUP_MAX_BYTES,
  backJobOf,
  COPY_ROOM_MIB,
  COPY_SECONDS,
  keepJobOf,
  PART_BYTES,
  RESTORE_SECONDS,
  volumeOnHost,
} from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { dialFileOf } from '../../../crds/app/lifecycle/route.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { EXIT } from '../../../crds/app/start.ts'
import type { Release, TargetHost } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import type { Job } from '../../io/hosts/hosts.ts'
import type { HostLink } from '../../io/hosts/link.ts'
import { BACKUP, BACKUP_DROP, BACKUP_LAY, BACKUP_TAKE, RESTORE, RESTORE_BACK } from './scripts.ts'

/** A copy, and an archive of it. */
const BACKUP_LIMIT_MS = (COPY_SECONDS + 1_800 + 120) * 1_000
/** It is read three times, and written twice, where its services do not come up. */
const RESTORE_LIMIT_MS = 3 * 3_600 * 1_000
/** Of one piece over a slow line. */
const PIECE_DEADLINE_MS = 90_000
const DROP_DEADLINE_MS = 30_000

const head = ({ spec }: AppResource, { id, volume }: AppBackup): string[] => [
  ...[spec.slug, '0', id, volumeOnHost(spec.slug, volume)],
]

const backupJob = (app: AppResource, backup: AppBackup): Job => ({
  id: keepJobOf(backup),
  script: BACKUP,
  lines: [
    ...head(app, backup),
    ...[backup.consistency, String(BACKUP_MAX_BYTES), String(COPY_ROOM_MIB), String(COPY_SECONDS)],
  ],
  limitMs: BACKUP_LIMIT_MS,
})

/** What is routed is looked for among what stops where the base has it. */
const restoreLines = (app: AppResource, backup: AppBackup, live: Release | undefined, host: TargetHost): string[] => {
  const { route, listener = '', stateful = [] } = live?.record ?? {}
  const isBase = route !== undefined && stateful.includes(route.service)
  return [
    ...head(app, backup),
    ...[backup.given?.sha256 ?? '', String(BACKUP_MAX_BYTES)],
    ...(isBase ? [listener, String(route.port)] : ['', '']),
    dialFileOf(originOf(app.metadata), host) ?? '',
    String(RESTORE_SECONDS),
  ]
}

type Keeping = { backup: AppBackup; live: Release | undefined; host: TargetHost }

export const keepJob = (app: AppResource, { backup, live, host }: Keeping): Job =>
  backup.restores === null
    ? backupJob(app, backup)
    : {
        id: keepJobOf(backup),
        script: RESTORE,
        lines: restoreLines(app, backup, live, host),
        limitMs: RESTORE_LIMIT_MS,
      }

export const backJob = (app: AppResource, { backup, live, host }: Keeping): Job => ({
  id: backJobOf(backup),
  script: RESTORE_BACK,
  lines: restoreLines(app, backup, live, host),
  limitMs: RESTORE_LIMIT_MS,
})

/** How many bytes the host has then; null where it took none, 'noRoom' where its disk is full. */
export type Laid = number | 'noRoom' | null

/** @returns what it has then, once the piece is there */
export const layPiece = async (
  link: HostLink,
  { spec }: AppResource,
  { id, laid }: Pick<AppBackup, 'id' | 'laid'>,
  piece: Buffer,
): Promise<Laid> => {
  const lines = [spec.slug, '0', id, String(laid), String(piece.length)]
  const { code, stdout } = await link.run({
    ...{ script: BACKUP_LAY, lines, body: piece, deadlineMs: PIECE_DEADLINE_MS },
  })
  if (code === EXIT.noRoom) return 'noRoom'
  return code === 0 ? Number(stdout.toString('latin1').trim()) : null
}

/** @returns how many bytes of it the host has; 0 where it says nothing of that */
export const laidOf = async (link: HostLink, app: AppResource, id: string): Promise<number> => {
  const laid = await layPiece(link, app, { id, laid: -1 }, Buffer.alloc(0))
  return typeof laid === 'number' ? laid : 0
}

/** The next piece of what was packed; an empty one where nothing of it is there any more. */
export const takePiece = async (
  link: HostLink,
  { spec }: AppResource,
  { id, taken }: Pick<AppBackup, 'id' | 'taken'>,
): Promise<Buffer> => {
  const lines = [spec.slug, '0', id, String(taken), String(PART_BYTES)]
  const run = { script: BACKUP_TAKE, lines, deadlineMs: PIECE_DEADLINE_MS, maxOutputBytes: PART_BYTES + 1_024 }
  return (await link.run(run)).stdout
}

export const dropFiles = async (link: HostLink, { spec }: AppResource, { id }: AppBackup): Promise<void> => {
  const { code, stderr } = await link.run({
    ...{ script: BACKUP_DROP, lines: [spec.slug, '0', id], deadlineMs: DROP_DEADLINE_MS },
  })
  if (code !== 0) throw new Error(`what ${id} has on its host stays: ${stderr.slice(-300)}`)
}
