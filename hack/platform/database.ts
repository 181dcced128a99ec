/** The database of `hack/up`: started, or given, and brought to the present schema. */

import { migrate } from '../../controllers/store/pg/migrate.ts'
import type { Service } from '../lib/processes.ts'
import { CommandRefusal, messageOf } from '../lib/refusal.ts'
import { type Ports, paths } from '../lib/state.ts'
import { apiUrlOf, query, startPostgres } from './postgres.ts'

export type OpenDatabase = { url: string; port: number; clusterId: string; services: Service[] }

export async function openDatabase(owner: string, kept: Ports): Promise<OpenDatabase> {
  const given = process.env.DATABASE_URL
  if (given) {
    const [row] = await query(
      given,
      'select current_database() as name, oid::text from pg_database where datname = current_database()',
    ).catch((cause) => {
      throw new CommandRefusal(`The database of DATABASE_URL does not answer: ${messageOf(cause)}.`, { cause })
    })
    return { url: given, port: 0, clusterId: `given ${row?.name} ${row?.oid}`, services: [] }
  }
  const port = kept.postgres === undefined ? {} : { port: kept.postgres }
  const postgres = await startPostgres({ dataDir: paths.postgres, owner, logDir: paths.logs, durable: true, ...port })
  return { url: postgres.url, port: postgres.port, clusterId: postgres.clusterId, services: [postgres.service] }
}

/** Of `hack/up`, and so of development. */
export async function migrateDatabase(url: string): Promise<void> {
  await migrateForDevelopment(url).catch((cause) => {
    const detail = messageOf(cause)
    throw new CommandRefusal(
      'The database could not be brought to this version (see above); hack/down --purge begins anew.',
      {
        detail,
        cause,
      },
    )
  })
}

/** Brings a database to the present schema, and says in it that settings of development are good here. */
export async function migrateForDevelopment(url: string): Promise<void> {
  await migrate(url, { apiUrl: apiUrlOf(url) })
  await query(url, 'insert into development default values on conflict do nothing')
}
