import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeHosts } from '../../../controllers/io/hosts/hosts.ts'
import type { AroundHost, Hosts } from '../../../controllers/io/hosts/link.ts'
import { makeCredentials, makeRouteRows } from '../../../controllers/store/host/hosts.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { HOST } from '../../../crds/host/kind.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import type { Condition } from '../../../crds/kernel/object.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { describe, type Service, tailOf } from '../../../hack/lib/processes.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { ensureTools } from '../../../hack/lib/tools.ts'
import { hostTools } from '../../../hack/lib/tooltable.ts'
import { importBuilds, LOCAL_BUILDS } from '../../../hack/stage/builds/builds.ts'
import { type Docker, startDocker } from '../../../hack/stage/docker.ts'
import { type HostStage, startHostStage } from '../../../hack/stage/hoststage.ts'
import { type HostUser, makeHostUser, removeHostUser } from '../../../hack/stage/hostuser.ts'
import { keepLogs } from '../canaries/collect.ts'
import { type Database, makeDatabase, scratchFolder } from './stage.ts'

/** What the command line of the tests' Docker says. @throws with its stderr when it fails */
export const docker = (...args: string[]): string =>
  execFileSync('docker', args, {
    encoding: 'utf8',
    env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
  }).trim()

/** What of an app an engine may have: how it is found, what is said of it, its name first, and what takes it away. */
const SORTS = {
  container: { of: ['ps', '--all'], shown: '{{.Names}} {{.Status}}', remove: ['rm', '--force', '--volumes'] },
  network: { of: ['network', 'ls'], shown: '{{.Name}}', remove: ['network', 'rm'] },
  volume: { of: ['volume', 'ls'], shown: '{{.Name}}', remove: ['volume', 'rm', '--force'] },
  image: { of: ['image', 'ls'], shown: '{{.Repository}}:{{.Tag}}', remove: ['image', 'rm', '--force'] },
} as const
type Sort = keyof typeof SORTS

/** @returns lines as `container <name> <status>` @param filters all of them */
const found = (sort: Sort, ...filters: string[]): string[] => {
  const { of, shown } = SORTS[sort]
  const wanted = filters.flatMap((filter) => ['--filter', filter])
  return docker(...of, ...wanted, '--format', `${sort} ${shown}`)
    .split('\n')
    .filter(Boolean)
}

/** What copies of a volume `data` may have left on the engine of the run, of this app alone: copiers, copies, what is paused for one. */
export const copiesOf = (slug: string): string[] => [
  ...found('container', 'label=dev.bottega.copier', `volume=${slug}-base_data`),
  ...found('volume', `label=dev.bottega.copy=${slug}`),
  ...found('container', 'status=paused', `label=dev.bottega.app=${slug}`),
]

/** Who uses something comes before it. */
const onEngine = (slug: string): string[] => [
  ...copiesOf(slug),
  ...found('container', `label=dev.bottega.app=${slug}`),
  ...found('network', `label=dev.bottega.app=${slug}`),
  ...found('volume', `label=com.docker.compose.project=${slug}-base`),
  ...found('image', `reference=bottega.local/${slug}/*`),
]

const appFolders = (folder: string): string[] => {
  const apps = join(folder, 'home', '.bottega', 'apps')
  return existsSync(apps) ? readdirSync(apps).filter((name) => !name.startsWith('.')) : []
}

/** All that an app may have left on the engine of the run and on its host, but for its jobs: containers, networks, volumes, images, files. */
export const remnantsOf = ({ folder }: Pick<AppHost, 'folder'>, slug: string): string[] => [
  ...onEngine(slug),
  ...appFolders(folder).flatMap((name) => (name === slug ? [`folder ${name}`] : [])),
]

/**
 * A real app host for one test file: a user, an sshd, a Caddy and an ACME CA of its own; the Docker is that of the run,
 * which `hack/test` starts for the part `hosts`.
 */
export type AppHost = HostStage & {
  folder: string
  dockerSocket: string
  account: HostUser
  /** Names under it are served with certificates of the CA. */
  baseDomain: string
  /** The spec of a Host for it, class shared, that takes sites; approved, with a private key of version 1. */
  spec: HostManifestSpec
  /** Gives its Docker what it builds with; hosts of files that build nothing go without. */
  prepareBuilds(): Promise<void>
  /** The engine that is its own, gone and back; what runs in it goes on. */
  restartDocker(): Promise<void>
  /** Caddy, gone and back without anything that it was told. */
  restartCaddy(): Promise<void>
  /** No site, no job, no route and no epoch of an earlier database is on the host any more. */
  forget(): Promise<void>
  end(): Promise<void>
}

export type HostManifestSpec = {
  class: 'shared'
  address: string
  port: number
  user: string
  hostKey: string
  credentialVersion: number
  approved: boolean
  baseDomain: string
  takesSites: boolean
  siteRoot: string
  builder: string
  gate: string
  proxy: {
    admin: string
    bind: string
    httpPort: number
    httpsPort: number
    acme: { directory: string; rootsFile: string }
  }
}

const owner = () => process.env.BOTTEGA_OWNER ?? `test-${process.pid}`

const specOf = (stage: HostStage, baseDomain: string): HostManifestSpec => ({
  class: 'shared',
  address: '127.0.0.1',
  port: stage.sshPort,
  user: stage.user,
  hostKey: stage.hostKey,
  credentialVersion: 1,
  approved: true,
  baseDomain,
  takesSites: true,
  siteRoot: stage.siteRoot,
  ...LOCAL_BUILDS,
  proxy: {
    admin: stage.admin,
    bind: '127.0.0.1',
    httpPort: stage.httpPort,
    httpsPort: stage.httpsPort,
    acme: { directory: stage.acme.directory, rootsFile: stage.acme.rootsFile },
  },
})

/** Else a test would only see that nobody is there. */
const sayDeath = ({ name, logFile, onDeath }: Service): void =>
  onDeath((ending) => console.error(`${name} of a host ended (${describe(ending)}): ${tailOf(logFile)}`))

/**
 * Takes the apps of a host off the engine that all files share. What is left of one would meet the next app of its name (whoever runs the
 * file again has the same names) and would run on beside all that comes after it.
 */
const clearApps = (folder: string): void => {
  const all = appFolders(folder).flatMap(onEngine)
  for (const one of new Set(all.map((line) => line.split(' ', 2).join(' ')))) {
    const [sort, name] = one.split(' ') as [Sort, string]
    try {
      docker(...SORTS[sort].remove, name)
    } catch (error) {
      console.error(`${one} was not cleared away: ${error}`)
    }
  }
}

/** `own`: a second machine, as far as Docker tells. `rooted`: one more, on which root of a container is root of the machine. */
export type WhoseDocker = 'shared' | 'own' | 'rooted'

/** One that no other host has; `folder` is the host's. */
const startOwnDocker = (folder: string, { gid }: HostUser, sameUsers: boolean): Promise<Docker> =>
  startDocker({
    ...{ folder: join(folder, 'docker'), owner: owner(), logFile: join(folder, 'logs', 'dockerd.log') },
    ...{ gid, masquerade: false, liveRestore: true, sameUsers },
  })

/** Starts it; what a test that dies leaves is cleared away with the run. */
export async function startAppHost({ docker: whose = 'shared' }: { docker?: WhoseDocker } = {}): Promise<AppHost> {
  const isOwn = whose !== 'shared'
  const tools = await ensureTools(hostTools, { progress: createProgress() })
  const folder = scratchFolder('host')
  const id = randomBytes(4).toString('hex')
  const group = process.env.BOTTEGA_TEST_DOCKER_GROUP
  const account = makeHostUser({
    id,
    home: join(folder, 'home'),
    owner: owner(),
    ...(group !== undefined && !isOwn && { group }),
  })
  const logDir = join(folder, 'logs')
  mkdirSync(logDir)
  const own = isOwn ? await startOwnDocker(folder, account, whose === 'rooted') : null
  const dockerSocket = own?.socket ?? process.env.BOTTEGA_TEST_DOCKER ?? null
  const stage = await startHostStage({ folder, owner: owner(), logDir, user: account, dockerSocket, tool: tools.path })
  for (const one of [stage.caddy, stage.sshd]) sayDeath(one)
  const baseDomain = `${id}.apps.test`
  const restartCaddy = async () => {
    await stage.caddy.kill()
    await stage.caddy.start()
  }
  const restartDocker = async () => {
    if (!own) throw new Error('its Docker is that of all files')
    await own.service.stop()
    await own.service.start()
  }
  return {
    ...stage,
    folder,
    dockerSocket: dockerSocket ?? '',
    account,
    baseDomain,
    spec: specOf(stage, baseDomain),
    prepareBuilds: () => importBuilds(dockerSocket ?? '', tools.path),
    restartDocker,
    restartCaddy,
    forget: async () => {
      const gone = [
        join(folder, 'home', '.bottega'),
        ...['store', 'sites', 'dial'].map((part) => join(stage.siteRoot, part)),
      ]
      for (const path of gone) rmSync(path, { recursive: true, force: true })
      await restartCaddy()
    },
    end: async () => {
      await stage.stop()
      await own?.remove()
      if (!isOwn && dockerSocket !== null) clearApps(folder)
      keepLogs(logDir)
      await removeHostUser(account)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Hosts as a controller has them, over a database of its own, with one Host in the watch: the one that was started. */
export type TestHosts = {
  hosts: Hosts
  database: Database
  pg: Pg
  /** The resource as the watch holds it; change it with `put`. */
  resource(): HostResource
  put(change: { spec?: Partial<HostResource['spec']>; conditions?: Condition[] }): void
  end(): Promise<void>
}

export const HOST_NAME = 'local'

/** @param options.epoch what the leader's commands carry; a later one takes the lease */
export async function openHosts(
  host: AppHost,
  options: { around?: AroundHost; installation?: string; database?: Database; epoch?: number } = {},
): Promise<TestHosts> {
  const database = options.database ?? (await makeDatabase())
  const pg = makePg({ url: database.url, max: 4 })
  const epoch = options.epoch ?? (await takeEpoch(pg, 'a test'))
  const keys = keysOfOne(Buffer.alloc(32, 7))
  const credentials = makeCredentials({ pg, keys })
  await credentials.put(HOST_NAME, 1, host.privateKey)
  let resource: HostResource = {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Host',
    metadata: {
      name: HOST_NAME,
      namespace: 'test',
      uid: 'uid-of-local',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-01T00:00:00Z',
    },
    spec: withDefaults<HostResource['spec']>(HOST.spec, host.spec),
  }
  const installation = options.installation ?? randomBytes(6).toString('hex')
  const hosts = makeHosts({
    held: { get: (key) => (key === `test/${HOST_NAME}` ? resource : undefined), list: () => [resource] },
    namespace: 'test',
    credentials,
    rows: makeRouteRows({ pg, epoch: () => epoch, keys }),
    fence: () => ({ installation, epoch }),
    allowLoopback: true,
    now: () => new Date(),
    log: pino({ level: 'silent' }),
    ...(options.around && { around: options.around }),
  })
  return {
    hosts,
    database,
    pg,
    resource: () => resource,
    put: ({ spec, conditions }) => {
      const metadata = { ...resource.metadata, generation: resource.metadata.generation + (spec ? 1 : 0) }
      const status = conditions ? { ...resource.status, conditions } : resource.status
      resource = { ...resource, metadata, spec: { ...resource.spec, ...spec }, ...(status && { status }) }
    },
    end: async () => {
      await hosts.close()
      await pg.close()
      if (!options.database) await database.drop()
    },
  }
}
