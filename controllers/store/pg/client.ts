/** A connection of its own, as the package has it. */
import type pg from 'pg'

export type PgClient = pg.Client
