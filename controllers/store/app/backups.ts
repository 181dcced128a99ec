/** Backups of volumes in PostgreSQL: what somebody asks for, what controllers make of it, and its bytes (rules/app.md#backups). */
import { createHash } from 'node:crypto'
import {
  type AppBackup,
  BACKUPS_KEPT,
  BACKUPS_OPEN_MAX,
  type NewBackup,
} from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import type { Blobs } from '../blobs.ts'
import { LEASE } from '../pg/fence.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

/** `full`: as many of the app wait or run as may. `mismatch`: the id is another app's. `gone`: what is restored is not there any more. */
export type BackupAsked =
  | { outcome: 'asked' | 'held'; backup: AppBackup }
  | { outcome: 'full' | 'mismatch' | 'gone'; backup: null }

export type BackupReader = {
  /** The archive, piece by piece. @throws when a piece is not there any more, or is damaged */
  content(id: string): AsyncGenerator<Buffer>
}

export type BackupStore = BackupReader & {
  /** Enters what somebody asks for, or finds it under its id. */
  ask(backup: NewBackup, at: string): Promise<BackupAsked>
  one(id: string): Promise<AppBackup | null>
  /** Of one app, newest first. @param volume null for all of them */
  list(app: string, volume: string | null, page: Page): Promise<{ backups: AppBackup[]; total: number }>
  cancel(id: string, at: string): Promise<AppBackup | null>
  delete(app: string, id: string): Promise<'deleted' | 'in use' | 'missing'>
}

export type BackupLedger = BackupReader & {
  observe(app: string): Promise<AppBackup[]>
  /** Null when it was decided on an older one, or something else of the app runs that stops services. */
  move(of: { backup: AppBackup; part?: Buffer; told?: NewEvent | null; at: string }): Promise<AppBackup | null>
  /** Bytes of an archive from one of its pieces on; null behind the last. @param from where a piece begins */
  pieceAt(id: string, from: number): Promise<Buffer | null>
}

/** Of those that have ended, as many are in a pass's world: whoever waits for one finds it in the view. */
const ENDED_SEEN = 20
const SWEPT_MAX = 200

const clean = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part))

type Row = { backup: AppBackup | null }
type Part = { sha256: string }

const PARTS = `select encode(p.sha256, 'hex') as sha256 from app_backup_parts p where p.backup = $1 order by p.n`
const PART_AT = `
select encode(p.sha256, 'hex') as sha256 from (
  select q.sha256, sum(q.bytes) over (order by q.n) - q.bytes as start from app_backup_parts q where q.backup = $1
) p where p.start = $2`
const LIST = `
select
  (select count(*) from app_backups b where b.app = $1 and ($2::text is null or b.volume = $2)) as total,
  (
    select coalesce(json_agg(app_backup_row(p) order by p.created_at desc, p.id), '[]')
    from (
      select b.* from app_backups b where b.app = $1 and ($2::text is null or b.volume = $2)
      order by b.created_at desc, b.id limit $3 offset $4
    ) p
  ) as backups`

const makeReader = ({ pg, blobs }: { pg: Pg; blobs: Pick<Blobs, 'get'> }) => {
  const piece = async (id: string, { sha256 }: Part): Promise<Buffer> => {
    const content = await blobs.get(sha256)
    if (content === null) throw new Error(`a piece of ${id} is not there any more`)
    return content
  }
  return {
    async *content(id: string) {
      const { rows } = await pg.query<Part>('app_backup_parts', PARTS, [id])
      for (const part of rows) yield await piece(id, part)
    },
    async pieceAt(id: string, from: number) {
      const { rows } = await pg.query<Part>('app_backup_part', PART_AT, [id, from])
      return rows[0] ? piece(id, rows[0]) : null
    },
  }
}

/** The sha256 of an archive as it lies in the store, in hex. */
export const digestOf = async ({ content }: BackupReader, id: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const piece of content(id)) hash.update(piece)
  return hash.digest('hex')
}

export const makeBackupStore = (deps: { pg: Pg; blobs: Pick<Blobs, 'get'> }): BackupStore => {
  const { pg } = deps
  const first = async (name: string, text: string, values: unknown[]): Promise<AppBackup | null> =>
    (await pg.query<Row>(name, text, values)).rows[0]?.backup ?? null
  return {
    content: makeReader(deps).content,
    async ask(backup, at) {
      const text = 'select outcome, backup from ask_app_backup($1, $2, $3)'
      const { rows } = await pg.query<BackupAsked>('ask_app_backup', text, [clean(backup), BACKUPS_OPEN_MAX, at])
      if (!rows[0]) throw new Error('ask_app_backup gave no row')
      return rows[0]
    },
    one: (id) => first('app_backup', 'select app_backup_row(b) as backup from app_backups b where b.id = $1', [id]),
    async list(app, volume, { limit, offset }) {
      const values = [app, volume, limit, offset]
      const { rows } = await pg.query<{ backups: AppBackup[]; total: number }>('app_backups', LIST, values)
      return rows[0] ?? { backups: [], total: 0 }
    },
    cancel: (id, at) => first('cancel_app_backup', 'select cancel_app_backup($1, $2) as backup', [id, at]),
    async delete(app, id) {
      const text = 'select outcome from delete_app_backup($1, $2)'
      const { rows } = await pg.query<{ outcome: 'deleted' | 'in use' | 'missing' }>('delete_app_backup', text, [
        app,
        id,
      ])
      return rows[0]?.outcome ?? 'missing'
    },
  }
}

type LedgerDeps = { pg: Pg; epoch: () => number; blobs: Pick<Blobs, 'get' | 'put'> }

export const makeBackupLedger = (deps: LedgerDeps): BackupLedger => {
  const { pg, epoch, blobs } = deps
  return {
    ...makeReader(deps),
    async observe(app) {
      const text = 'select backups from observe_app_backups($1, $2)'
      const { rows } = await pg.query<{ backups: AppBackup[] }>('observe_app_backups', text, [app, ENDED_SEEN])
      return rows[0]?.backups ?? []
    },
    async move({ backup, part, told = null, at }) {
      // The bytes first: a row that names them never stands without them.
      const named = part && JSON.stringify({ sha256: await blobs.put(part), bytes: part.length })
      const text = 'select backup from move_app_backup($1, $2, $3, $4, $5, $6)'
      const values = [LEASE, epoch(), clean(backup), named ?? null, told && clean(told), at]
      return (await pg.query<Row>('move_app_backup', text, values)).rows[0]?.backup ?? null
    },
  }
}

/** Those whose time is over go. @param now the clock of the platform */
export const sweepAppBackups = async (deps: { pg: Pg; epoch: () => number; now: () => Date }): Promise<number> => {
  const { pg, epoch, now } = deps
  const values = [LEASE, epoch(), now().toISOString(), BACKUPS_KEPT, SWEPT_MAX]
  const text = 'select gone::integer from sweep_app_backups($1, $2, $3, $4, $5)'
  return (await pg.query<{ gone: number }>('sweep_app_backups', text, values)).rows[0]?.gone ?? 0
}
