import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { identityOf, readJson, writeWhole } from '../lib/files.ts'
import type { Service } from '../lib/processes.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { paths, stateDir } from '../lib/state.ts'
import { type BuiltTools, toolPath } from '../lib/tools.ts'
import { controlPlaneTools } from '../lib/tooltable.ts'
import { type ControlPlane, startControlPlane } from './controlplane.ts'
import { createKubectl } from './kubectl.ts'
import { copyContext } from './platform.ts'

/** Which Kubernetes `hack/up` stands on: a control plane of its own, one of somebody's, or a kind cluster. */
export type ClusterChoice =
  | { kind: 'own' }
  | { kind: 'given'; kubeconfig: string; context: string | undefined }
  | { kind: 'kind' }

/** The kubeconfig to be admin with, and the processes to watch over (none but for a control plane of our own). */
export type Cluster = { kubeconfig: string; services: Service[]; plane: ControlPlane | null }

/** The Go-built tools that a choice needs; building them is done before anything is started. */
export function toolsFor(choice: ClusterChoice): readonly string[] {
  switch (choice.kind) {
    case 'own':
      return controlPlaneTools
    case 'given':
      return ['kubectl']
    case 'kind':
      return ['kubectl', 'kind']
    default:
      return choice satisfies never
  }
}

/** Starts or reaches the chosen cluster. */
export async function openCluster(choice: ClusterChoice, tools: BuiltTools, owner: string): Promise<Cluster> {
  switch (choice.kind) {
    case 'own': {
      const plane = await startControlPlane({
        stateDir: paths.controlPlane,
        tools,
        owner,
        logDir: paths.logs,
        durable: true,
      })
      return { kubeconfig: plane.kubeconfig, services: [plane.processes.apiserver, plane.processes.etcd], plane }
    }
    case 'given': {
      if (!existsSync(choice.kubeconfig))
        throw new CommandRefusal(`There is no kubeconfig ${choice.kubeconfig}.`, { exitCode: 2 })
      return await copyOf(choice.kubeconfig, choice.context, tools)
    }
    case 'kind':
      return await copyOf(createKindCluster(tools), undefined, tools)
    default:
      return choice satisfies never
  }
}

async function copyOf(kubeconfig: string, context: string | undefined, tools: BuiltTools): Promise<Cluster> {
  await copyContext(createKubectl(tools.path('kubectl'), kubeconfig), context, paths.adminKubeconfig)
  const kubectl = createKubectl(tools.path('kubectl'), paths.adminKubeconfig)
  await kubectl(['version', '--request-timeout=10s']).catch((cause) => {
    const detail = cause instanceof CommandRefusal ? cause.detail : ''
    throw new CommandRefusal(`The cluster of ${kubeconfig} does not answer (see above).`, { detail, cause })
  })
  return { kubeconfig: paths.adminKubeconfig, services: [], plane: null }
}

/** kind keeps no data over a stop, so its cluster is made by `hack/up` and removed by `hack/down`. */
function createKindCluster(tools: BuiltTools): string {
  demandDocker()
  const name = `bottega-${identityOf(stateDir)}`
  const kubeconfig = `${paths.kind}.kubeconfig`
  writeWhole(paths.kind, JSON.stringify({ name }))
  const { status, stderr } = spawnSync(
    tools.path('kind'),
    ['create', 'cluster', '--name', name, '--kubeconfig', kubeconfig, '--wait', '120s'],
    { encoding: 'utf8' },
  )
  if (status !== 0 && !/already exist/.test(stderr)) {
    removeKindCluster()
    throw new CommandRefusal('kind could not make its cluster (see above); without --kind no Docker is needed.', {
      detail: stderr.trim(),
    })
  }
  return kubeconfig
}

/** Looked at before anything is built or started. */
export function demandDocker(): void {
  const { status, error } = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 15_000 })
  if (error || status !== 0)
    throw new CommandRefusal('--kind needs a Docker daemon, and none answers: start it, or leave --kind out.')
}

/** Removes the kind cluster of an earlier `hack/up --kind`, when there is one. */
export function removeKindCluster(): void {
  const noted = readJson<{ name: string }>(paths.kind)
  if (noted === null) return
  const { status, stderr } = spawnSync(toolPath('kind'), ['delete', 'cluster', '--name', noted.name], {
    encoding: 'utf8',
  })
  if (status !== 0)
    throw new CommandRefusal(`kind could not remove its cluster ${noted.name} (see above).`, { detail: stderr })
  for (const file of [paths.kind, `${paths.kind}.kubeconfig`]) rmSync(file, { force: true })
}
