import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { run } from '../../../hack/lib/command.ts'
import { withLock } from '../../../hack/lib/lock.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { ensureTools, toolPath } from '../../../hack/lib/tools.ts'
import { controlPlaneTools } from '../../../hack/lib/tooltable.ts'
import { type ControlPlane, startControlPlane } from '../../../hack/platform/controlplane.ts'
import { migrateForDevelopment } from '../../../hack/platform/database.ts'
import { createKubectl, type Kubectl } from '../../../hack/platform/kubectl.ts'
import {
  applyNamespace,
  applyPlatform,
  applyTenantNamespace,
  type ProcessName,
  writeServiceKubeconfig,
} from '../../../hack/platform/platform.ts'
import { apiUrlOf, type Postgres, query, startPostgres, withConnection } from '../../../hack/platform/postgres.ts'
import { keepDatabase, keepDatabases, keepLogs, keepPlane } from '../canaries/collect.ts'
import { callsOf } from '../runner/calls.ts'

/**
 * The real parts that integration tests stand on. `hack/test` starts one control plane and one PostgreSQL for all files;
 * a test takes a database and a namespace of its own from them. Tests that kill servers start their own.
 */

const root = join(import.meta.dirname, '..', '..', '..')

/** `url` is the owner's, `apiUrl` the way of the api's role. */
export type Database = { url: string; apiUrl: string; drop(): Promise<void> }
export type Namespace = { name: string; kubeconfig: string; remove(): Promise<void> }
export type Owned<T> = T & { end(): Promise<void> }

/** The shared control plane's admin kubeconfig. */
export function sharedKubeconfig(): string {
  return given('BOTTEGA_TEST_KUBECONFIG')
}

/** kubectl as the admin of the shared control plane, or of the one whose kubeconfig is given. */
export function kubectlFor(kubeconfig = sharedKubeconfig()): Kubectl {
  return createKubectl(toolPath('kubectl'), kubeconfig)
}

/** A migrated, empty database of its own, cloned in 40–90 ms; on the shared PostgreSQL, or on the one whose URL is given. */
export async function makeDatabase(serverUrl = given('BOTTEGA_TEST_DATABASE_URL')): Promise<Database> {
  const template = await ensureTemplate(serverUrl)
  const name = `test_${randomBytes(6).toString('hex')}`
  await query(serverUrl, `create database ${name} template ${template} strategy wal_log`)
  return databaseNamed(serverUrl, name)
}

function databaseNamed(serverUrl: string, name: string): Database {
  const url = withDatabase(serverUrl, name)
  const drop = async () => {
    await keepDatabase(url)
    await query(serverUrl, `drop database if exists ${name} with (force)`)
  }
  return { url, apiUrl: apiUrlOf(url), drop }
}

/** The same database as it is now, under a name of its own. Nobody may be connected to it. */
export async function copyDatabase(url: string): Promise<Database> {
  const serverUrl = given('BOTTEGA_TEST_DATABASE_URL')
  const name = `test_${randomBytes(6).toString('hex')}`
  await query(serverUrl, `create database ${name} template ${new URL(url).pathname.slice(1)} strategy wal_log`)
  return databaseNamed(serverUrl, name)
}

/** A namespace of its own, in which the two service accounts have the rights they have at home. No controller clears namespaces here, so `remove` deletes what is ours in it and leaves the shell. */
export async function makeNamespace(kubeconfig = sharedKubeconfig()): Promise<Namespace> {
  const kubectl = kubectlFor(kubeconfig)
  const name = `test-${randomBytes(5).toString('hex')}`
  await applyNamespace(kubectl, name)
  return { name, kubeconfig, remove: () => removeObjects(kubectl, name) }
}

/** One of a tenant, in which the accounts have the rights of such a one. */
export async function makeTenantNamespace(kubeconfig = sharedKubeconfig()): Promise<Namespace> {
  const kubectl = kubectlFor(kubeconfig)
  const name = `tenant-${randomBytes(5).toString('hex')}`
  await applyTenantNamespace(kubectl, name)
  return { name, kubeconfig, remove: () => removeObjects(kubectl, name) }
}

const liftFinalizers = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
/** In one command line. */
const namesMax = 200

/** Finalizers are lifted first: whoever would have done it has ended with the test. */
async function removeObjects(kubectl: Kubectl, namespace: string): Promise<void> {
  const listed = JSON.parse(await kubectl(['get', 'bottega', '-n', namespace, '-o', 'json']))
  const items: { kind: string; metadata: { name: string; finalizers?: string[] } }[] = listed.items
  const held = items.flatMap(({ kind, metadata }) =>
    metadata.finalizers === undefined ? [] : [`${kind.toLowerCase()}.bottega.dev/${metadata.name}`],
  )
  for (let at = 0; at < held.length; at += namesMax)
    await kubectl(['patch', ...held.slice(at, at + namesMax), '-n', namespace, ...liftFinalizers])
  if (items.length > 0) await kubectl(['delete', 'bottega', '--all', '-n', namespace, '--wait=false'])
}

/** The kubeconfig of one of the two processes, or of who reconciles, as its own service account, on the shared control plane. */
export function serviceKubeconfig(process: Exclude<ProcessName, 'setup'>): string {
  return given(`BOTTEGA_TEST_${process.toUpperCase()}_KUBECONFIG`)
}

/** The same on a control plane of the test's own. @param admin the kubeconfig of its administrator */
export async function ownKubeconfig(process: ProcessName, admin: string): Promise<string> {
  const path = join(scratchFolder('identity'), `${process}.kubeconfig`)
  await writeServiceKubeconfig(kubectlFor(admin), process, path)
  return path
}

/** CRDs, policies and rights on a control plane, in force when this returns. The shared one has them already. */
export async function ensurePlatform(kubeconfig = sharedKubeconfig()): Promise<void> {
  if (kubeconfig !== process.env.BOTTEGA_TEST_KUBECONFIG) await applyPlatform(kubectlFor(kubeconfig))
}

/** A PostgreSQL for one test alone, which it may kill: its data is durable as in production. @param folder goes with it */
export async function ownPostgres(folder = scratchFolder('pg')): Promise<Owned<Postgres>> {
  const made = await ensureMadeData()
  const dataDir = join(folder, 'pg')
  run('cp', ['-a', made, dataDir]) // with its owner, who may be the user postgres
  const postgres = await startPostgres({ dataDir, owner: processOwner(), durable: true })
  const end = async () => {
    await keepDatabases(postgres.url)
    await postgres.stop()
    keepLogs(folder)
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...postgres, end }
}

/**
 * The files of a PostgreSQL that was stopped with the migrated template in it: to make them takes two seconds of a core, and
 * a copy of them a tenth. Made by the first of a run that asks.
 */
async function ensureMadeData(): Promise<string> {
  const folder = join(given('BOTTEGA_TEST_FOLDER'), 'made-postgres')
  const made = join(folder, 'pg')
  return withLock(made, async () => {
    if (existsSync(made)) return made
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    const dataDir = join(folder, 'partial')
    rmSync(dataDir, { recursive: true, force: true })
    const postgres = await startPostgres({ dataDir, owner: processOwner(), durable: false })
    try {
      await ensureTemplate(postgres.url)
    } finally {
      await postgres.stop()
    }
    renameSync(dataDir, made)
    return made
  })
}

/** A control plane for one test alone, which it may stop, kill and restart; durable, without the platform's objects. */
export async function ownControlPlane(): Promise<Owned<ControlPlane>> {
  const folder = scratchFolder('cp')
  const tools = await ensureTools(controlPlaneTools, { progress: createProgress() })
  const plane = await startControlPlane({
    stateDir: folder,
    tools,
    owner: processOwner(),
    durable: true,
    ...callsOf(basename(folder)),
  })
  const end = async () => {
    await plane.stop()
    keepPlane(folder)
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...plane, end }
}

/**
 * A folder for one test; what it forgets to remove goes with the run. Enterable by all, because PostgreSQL runs as another
 * user when the tests run as root.
 */
export function scratchFolder(prefix: string): string {
  const folder = mkdtempSync(join(process.env.BOTTEGA_TEST_FOLDER ?? '/tmp', `bottega-test-${prefix}-`))
  chmodSync(folder, 0o755)
  return folder
}

function processOwner(): string {
  return process.env.BOTTEGA_OWNER ?? `test-${process.pid}`
}

function given(variable: string): string {
  const value = process.env[variable]
  if (!value)
    throw new Error(`${variable} is not set: run this file by \`hack/test FILE\`, which starts the real parts`)
  return value
}

/** Migrated once per server and state of the SQL files. The advisory lock makes the other test processes wait for it. */
async function ensureTemplate(serverUrl: string): Promise<string> {
  const name = `template_${sqlDigest()}`
  const known = 'select 1 from pg_database where datname = $1 and datistemplate'
  if ((await query(serverUrl, known, [name])).length > 0) return name
  await withConnection(serverUrl, async (run) => {
    await run('select pg_advisory_lock(hashtext($1))', [name])
    if ((await run(known, [name])).length > 0) return
    await run(`drop database if exists ${name} with (force)`)
    await run(`create database ${name}`)
    const url = withDatabase(serverUrl, name)
    await migrateForDevelopment(url)
    await run(`alter database ${name} is_template true allow_connections false`)
  })
  return name
}

/** A changed migration makes another template, also on a server that outlives the run (DATABASE_URL). */
function sqlDigest(): string {
  const hash = createHash('sha256')
  for (const file of globSync('{controllers,api}/**/*.sql', { cwd: root }).sort())
    hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 12)
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
