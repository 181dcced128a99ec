/** One-off work around the two processes, as the chart's hooks run it: `setup.ts definitions | migrate | remove-definitions`. */

import { CLUSTER, EnvError, MIGRATION, readEnv } from './base/env.ts'
import { makeLog } from './base/log.ts'
import { applyDefinitions, removeDefinitions } from './kube/definitions.ts'
import { type Kube, makeKube } from './kube/kube.ts'
import { migrate } from './store/pg/migrate.ts'

const withKube = async (work: (kube: Kube) => Promise<string[]>): Promise<string[]> => {
  const { kubeconfig } = readEnv(CLUSTER, process.env)
  const kube = makeKube({ ...(kubeconfig !== undefined && { kubeconfig }), fieldManager: 'bottega-setup' })
  try {
    return await work(kube)
  } finally {
    await kube.close()
  }
}

const migrateDatabase = (): Promise<string[]> => {
  const { databaseUrl, apiDatabaseUrl } = readEnv(MIGRATION, process.env)
  return migrate(databaseUrl, { apiUrl: apiDatabaseUrl })
}

const WORKS: Record<string, () => Promise<string[]>> = {
  definitions: () => withKube(applyDefinitions),
  migrate: migrateDatabase,
  'remove-definitions': () => withKube(removeDefinitions),
}

const main = async () => {
  const [name = ''] = process.argv.slice(2)
  const work = WORKS[name]
  if (!work) throw new EnvError([{ name: 'argument', expected: `one of ${Object.keys(WORKS).join(', ')}` }])
  const log = makeLog({ level: 'info', base: { process: 'setup' } })
  log.info({ work: name, done: await work() }, 'set up')
}

main().catch((error) => {
  console.error(error instanceof EnvError ? error.message : error)
  process.exit(error instanceof EnvError ? 2 : 1)
})
