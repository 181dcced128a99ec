/**
 * The keys of a process: its ring from the settings, the roots from the database. Roots are read again and again, so that one
 * that is made or retired is known everywhere without a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type KeyRing, makeKeyRing } from '../../base/keyring.ts'
import { type Keys, makeKeys, type Roots } from '../../base/keys.ts'
import { DatabaseRefused, DatabaseUnavailable, type Pg } from '../pg/pg.ts'
import { assertHeld, enterKeys } from './ringkeys.ts'
import { makeFirstRoot, openRoot, type Root, type RootRow, readRoots } from './roots.ts'

const WAIT_MS = 60_000
const PAUSE_MS = 100
const REREAD_MS = 60_000

/** What the cluster keeps of the roots, for a database that was lost (runtime/keptroots.ts). */
export type KeptRoots = () => Promise<readonly RootRow[]>

export type OpenedKeys = {
  keys: Keys
  /** Reads the roots again. */
  refresh(): Promise<void>
  stop(): void
}

export type OpenKeysDeps = {
  pg: Pg
  /** The newest first. */
  secretKeys: readonly Buffer[]
  /** May make the first root; who may not waits for it. */
  makes: boolean
  /** Who may not make a root, and is given what the cluster keeps, reads by that where there is none, and writes nothing. */
  kept?: KeptRoots
  now?: () => Date
  /** Told of a look that failed: the roots stay as they were. */
  onError?: (error: unknown) => void
}

/** PostgreSQL's undefined_table and undefined_function: the database was not migrated yet. */
const NOT_MIGRATED = /^(42P01|42883)$/

const passes = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || (error instanceof DatabaseRefused && NOT_MIGRATED.test(error.state))

/** What there is, or undefined while there is nothing to open; who may makes it meanwhile. */
const tryRows = async ({ pg, makes, kept }: OpenKeysDeps, ring: KeyRing): Promise<readonly RootRow[] | undefined> => {
  await assertHeld(pg, ring)
  const rows = await readRoots(pg)
  if (rows.length > 0 && rows.every(({ sealed }) => sealed !== null)) return rows
  const elsewhere = (await kept?.()) ?? []
  if (!makes) return rows.length === 0 && elsewhere.length > 0 ? elsewhere : undefined
  await makeFirstRoot(pg, { ring, rows, kept: elsewhere })
  return undefined
}

/** A process may be up before its database, before that is migrated, and before whoever makes the first root. */
const firstRows = async (deps: OpenKeysDeps, ring: KeyRing): Promise<readonly RootRow[]> => {
  for (const endMs = performance.now() + WAIT_MS; ; await sleep(PAUSE_MS)) {
    try {
      const rows = await tryRows(deps, ring)
      if (rows) return rows
      if (performance.now() > endMs)
        throw new Error('there is no root yet: this process waits for the first start of the controllers')
    } catch (error) {
      if (!passes(error) || performance.now() > endMs) throw error
    }
  }
}

/** What there is now, and what of it makes and holds. */
const makeLiveRoots = (ring: KeyRing, now: () => Date) => {
  let known: Root[] = []
  let held: Buffer[] = []
  const secretOf = (row: RootRow): Buffer => known.find(({ id }) => id === row.id)?.secret ?? openRoot(ring, row).secret
  const take = (rows: readonly RootRow[]): void => {
    known = rows.map((row) => ({
      id: row.id,
      secret: secretOf(row),
      fromMs: Date.parse(row.derivesFrom),
      isRetired: row.retiredAt !== null,
    }))
    held = known.filter(({ isRetired }) => !isRetired).map(({ secret }) => secret)
  }
  const making = (): Buffer => {
    const atMs = now().getTime()
    const able = known.filter(({ isRetired, fromMs }) => !isRetired && fromMs <= atMs)
    const newest = able.toSorted((a, b) => b.fromMs - a.fromMs)[0] ?? known[0]
    if (!newest) throw new Error('there is no root')
    return newest.secret
  }
  return { take, making, holding: () => held, first: () => known[0]?.secret }
}

/** @throws KeyUnknown; DatabaseUnavailable once it was away for a minute */
export const openKeys = async (deps: OpenKeysDeps): Promise<OpenedKeys> => {
  const { pg, secretKeys, makes, kept, now = () => new Date() } = deps
  const ring = makeKeyRing(secretKeys)
  const live = makeLiveRoots(ring, now)
  live.take(await firstRows(deps, ring))
  if (makes || !kept) await enterKeys(pg, ring.ids.slice(0, 1))
  const first = live.first()
  if (!first) throw new Error('there is no root')
  const roots: Roots = { first, making: live.making, holding: live.holding }
  const refresh = async () => {
    const rows = await readRoots(pg)
    if (rows.length > 0) live.take(rows)
  }
  const timer = setInterval(() => void refresh().catch((error) => deps.onError?.(error)), REREAD_MS)
  timer.unref()
  return { keys: makeKeys({ roots, ring }), refresh, stop: () => clearInterval(timer) }
}
