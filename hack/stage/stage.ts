import { chmodSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ensureBundle } from '../container/bundle.ts'
import { demandDisk, readJson, writeWhole } from '../lib/files.ts'
import { endProcesses, findOwned, type ProcessId, startOf } from '../lib/processes.ts'
import type { Progress } from '../lib/progress.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { ensureTools } from '../lib/tools.ts'
import { controlPlaneTools, hostTools } from '../lib/tooltable.ts'
import { removeSockets, startControlPlane } from '../platform/controlplane.ts'
import { createKubectl } from '../platform/kubectl.ts'
import { applyPlatform, type ProcessName, writeServiceKubeconfig } from '../platform/platform.ts'
import { startPostgres } from '../platform/postgres.ts'
import { removeBoxes } from './boxes/boxes.ts'
import { endDockerLeftovers, startDocker } from './docker.ts'
import { endSshdsOf } from './hoststage.ts'
import { hostUsersOf, makeHostUser, removeHostUser } from './hostuser.ts'

/** The control plane and PostgreSQL that all integration tests of one run share; throw-away, so neither waits for the disk. */
export type TestStage = {
  env: Record<string, string>
  /** Starts a Docker as well, which the hosts of the tests share, and gives what their files need to know of it. */
  openDocker(): Promise<Record<string, string>>
  end(): Promise<void>
}

const folderPrefix = '/tmp/bottega-test-stage-'
const neededMib = 1_024
type Note = { owner: string; runner: ProcessId }

/** `calls`: the file that tells what service accounts ask of its API server. */
export type StageOptions = { owner: string; calls?: string; progress: Progress; signal: AbortSignal }

/** Starts both (or takes DATABASE_URL), applies the platform's objects, and gives what the test files need to know. */
export async function startStage(options: StageOptions): Promise<TestStage> {
  const { owner, calls, progress, signal } = options
  demandDisk('/tmp', neededMib)
  const tools = await ensureTools(controlPlaneTools, { progress })
  const folder = mkdtempSync(folderPrefix)
  chmodSync(folder, 0o755) // the user postgres must get in
  const note: Note = { owner, runner: { pid: process.pid, start: startOf(process.pid) ?? '' } }
  writeWhole(join(folder, 'runner.json'), JSON.stringify(note))
  const planeFolder = join(folder, 'control-plane')
  const end = () => removeStage(folder, owner)
  const step = progress.step('control plane and PostgreSQL for the tests')
  try {
    mkdirSync(planeFolder)
    const [plane, databaseUrl] = await Promise.all([
      startControlPlane({ stateDir: planeFolder, tools, owner, durable: false, ...(calls !== undefined && { calls }) }),
      givenOrOwnDatabase(join(folder, 'pg'), owner),
      ensureBundle(), // the first platform of a test would wait for it
    ])
    step.update('applying the platform')
    const kubectl = createKubectl(tools.path('kubectl'), plane.kubeconfig)
    await applyPlatform(kubectl)
    const kubeconfigOf = async (process: ProcessName): Promise<string> => {
      const path = join(folder, `${process}.kubeconfig`)
      await writeServiceKubeconfig(kubectl, process, path)
      return path
    }
    const [controllers, api, reconcile] = await Promise.all([
      kubeconfigOf('controllers'),
      kubeconfigOf('api'),
      kubeconfigOf('reconcile'),
    ])
    if (signal.aborted) throw new CommandRefusal('Interrupted.')
    step.done()
    return {
      end,
      openDocker: () => openDocker(folder, options),
      env: {
        BOTTEGA_TEST_KUBECONFIG: plane.kubeconfig,
        BOTTEGA_TEST_CONTROLLERS_KUBECONFIG: controllers,
        BOTTEGA_TEST_API_KUBECONFIG: api,
        BOTTEGA_TEST_RECONCILE_KUBECONFIG: reconcile,
        BOTTEGA_TEST_DATABASE_URL: databaseUrl,
        BOTTEGA_TEST_FOLDER: folder,
      },
    }
  } catch (error) {
    step.fail()
    await end()
    throw error
  }
}

const dockerFolder = (folder: string) => join(folder, 'docker')

/** The group that may use it is that of a user who does nothing else. */
async function openDocker(folder: string, { owner, progress }: StageOptions): Promise<Record<string, string>> {
  // What hosts need is built here: on a new machine that takes minutes, more than a test may wait for its host.
  await ensureTools(hostTools, { progress })
  const keeper = makeHostUser({
    id: basename(folder).slice(-6).toLowerCase(),
    home: join(folder, 'docker-home'),
    owner,
  })
  const logFile = join(folder, 'dockerd.log')
  const docker = await startDocker({ folder: dockerFolder(folder), owner, logFile, gid: keeper.gid, masquerade: false })
  return { BOTTEGA_TEST_DOCKER: docker.socket, BOTTEGA_TEST_DOCKER_GROUP: keeper.name }
}

async function givenOrOwnDatabase(dataDir: string, owner: string): Promise<string> {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL
  return (await startPostgres({ dataDir, owner, durable: false })).url
}

/** Ends what runs that were killed have left behind: their servers, and their folders. */
export async function endStaleStages(): Promise<void> {
  for (const folder of globSync(`${folderPrefix}*`)) {
    const note = readJson<Note>(join(folder, 'runner.json'))
    if (note === null || startOf(note.runner.pid) === note.runner.start) continue
    await removeStage(folder, note.owner)
  }
}

/** Also what tests that were cut off have left: their servers carry the run's mark, their folders lie in the stage's. */
async function removeStage(folder: string, owner: string): Promise<void> {
  await endOwned(owner)
  await endSshdsOf(folder)
  // that of all files, and those of hosts that had one of their own
  for (const docker of globSync('{,*/}docker', { cwd: folder })) await endDockerLeftovers(join(folder, docker))
  for (const boxes of globSync('boxes-*/', { cwd: folder })) await removeBoxes(join(folder, boxes), { purge: true })
  for (const user of hostUsersOf(owner)) await removeHostUser(user)
  for (const inside of globSync('*/', { cwd: folder })) removeSockets(join(folder, inside))
  rmSync(folder, { recursive: true, force: true })
}

const endingOrder = ['kube-apiserver', 'etcd', 'postgres']

/** The API server goes before etcd, without which its own graceful end never comes. */
async function endOwned(owner: string): Promise<void> {
  const left = findOwned(owner)
  await endProcesses(left.sort((a, b) => endingOrder.indexOf(a.name) - endingOrder.indexOf(b.name)))
}
