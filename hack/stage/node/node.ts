import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePackages, type SystemPackage } from '../../lib/apt.ts'
import { attempt, run } from '../../lib/command.ts'
import { demandDisk, readJson, writeWhole } from '../../lib/files.ts'
import { tryLock } from '../../lib/lock.ts'
import { endProcesses, findOwned, waitFor } from '../../lib/processes.ts'
import type { Progress } from '../../lib/progress.ts'
import { CommandRefusal } from '../../lib/refusal.ts'
import { ensureTools } from '../../lib/tools.ts'
import { nodeTools } from '../../lib/tooltable.ts'
import { type ControlPlane, startControlPlane } from '../../platform/controlplane.ts'
import { asList, createKubectl, type Kubectl } from '../../platform/kubectl.ts'
import { makeGroups } from './cgroups.ts'
import {
  apiserverFlags,
  containerdConfig,
  corefile,
  dnsRights,
  identities,
  kubeletConfig,
  pluginConfig,
} from './configs.ts'
import { hasKubeRules, letPodsThrough } from './firewall.ts'
import { allowForwarding, makeAddress } from './kernel.ts'
import { type Before, holdsNetworks, readBefore, removeLeavings } from './leavings.ts'
import { writePauseImage } from './pause.ts'
import { nodeAddress, nodeDir, nodeName, places, podCidr, stageDir } from './place.ts'
import { ctr, makeServices, type NodeServices, waitOn, writeKubeconfig } from './services.ts'

/**
 * A real Kubernetes of one node on this machine, from programs that were built here and Debian's containerd: pods run,
 * services have addresses, names resolve. One per machine, as root.
 */
export type Node = {
  kubeconfig: string
  kubectl: Kubectl
  /** The machine's address that pods reach: what shall serve them listens there. */
  address: string
  /** Where pods call from. */
  podCidr: string
  /** Takes in an archive of `docker save` or `hack/image`. */
  importImage(archive: string): void
  /** Kills everything at once, as a power cut would; `stop` still clears up after it. */
  kill(): Promise<void>
  /** Ends everything and removes every trace of it from the machine. */
  stop(): Promise<void>
}

/** `calls`: the file that tells what service accounts ask of its API server. */
export type NodeOptions = { owner: string; progress: Progress; calls?: string }

const lockName = 'node'
const lockWaitMs = 20 * 60_000
const neededMib = 4_096
const readyMs = 120_000
const emptyMs = 30_000
const packages: readonly SystemPackage[] = [
  { name: 'containerd', files: ['/usr/bin/containerd', '/usr/local/bin/containerd'] },
  { name: 'runc', files: ['/usr/sbin/runc', '/usr/bin/runc', '/usr/local/sbin/runc'] },
  { name: 'containernetworking-plugins', files: ['/usr/lib/cni/bridge'] },
  { name: 'iptables', files: ['/usr/sbin/iptables'] },
  { name: 'iproute2', files: ['/usr/sbin/ip', '/usr/bin/ip', '/bin/ip'] },
  { name: 'busybox-static', files: ['/bin/busybox'] },
  { name: 'openssl', files: ['/usr/bin/openssl'] },
]

type Note = Before & { owner: string }

/** Starts the node and returns once it is Ready; what an earlier one left, however it ended, is cleared away before. */
export async function startNode({ owner, progress, calls }: NodeOptions): Promise<Node> {
  demandMachine(progress)
  const built = await ensureTools(nodeTools, { progress })
  const lock = await takeMachine()
  const step = progress.step('a Kubernetes node')
  try {
    await endStaleNode()
    if (hasKubeRules()) throw new CommandRefusal('Another Kubernetes has packet rules on this machine: stop it first.')
    const services = makeServices(built, owner)
    const before = readBefore()
    makeFolders({ owner, ...before })
    const parts: Parts = { services, before, plane: null, release: lock.release }
    try {
      const node = await startParts(parts, { owner, tools: built, ...(calls !== undefined && { calls }) })
      step.done()
      return node
    } catch (error) {
      await stopParts(parts, null)
      throw error
    }
  } catch (error) {
    step.fail()
    await lock.release()
    throw error
  }
}

type Parts = {
  services: NodeServices
  before: Before
  plane: ControlPlane | null
  release(): Promise<void>
}

function demandMachine(progress: Progress): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new CommandRefusal('A Kubernetes node needs Linux and root: it makes bridges, mounts and control groups.')
  }
  ensurePackages(packages, { what: 'A Kubernetes node', progress })
  demandDisk('/tmp', neededMib)
}

/** There is one kubelet per machine: another command's node is waited for. */
async function takeMachine(): Promise<{ release(): Promise<void> }> {
  const deadlineMs = performance.now() + lockWaitMs
  for (let lock = await tryLock(lockName); ; lock = await tryLock(lockName)) {
    if (lock !== null) return lock
    if (performance.now() > deadlineMs)
      throw new CommandRefusal('Another command has had a node running for 20 minutes.')
    await sleep(500)
  }
}

/** Clears away a node whose command ended without doing so; one that is in use is left alone. */
export async function clearNode(): Promise<void> {
  const lock = existsSync(nodeDir) || existsSync(stageDir) ? await tryLock(lockName) : null
  if (lock !== null) await endStaleNode().finally(lock.release)
}

/** The lock is ours, so nobody is using what is there. */
async function endStaleNode(): Promise<void> {
  const note = readJson<Note>(places.note)
  if (note !== null) await endProcesses(findOwned(note.owner), 2_000, 'SIGKILL')
  if (existsSync(nodeDir)) await removeLeavings(note ?? { settings: {}, absent: [] })
  rmSync(stageDir, { recursive: true, force: true })
}

function makeFolders(note: Note): void {
  for (const folder of [nodeDir, places.logs, places.plugins, places.containerdState]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  writeWhole(places.note, JSON.stringify(note))
  writeFileSync(places.resolvConf, '')
  writeFileSync(places.containerdConfig, containerdConfig)
  writeFileSync(places.kubeletConfig, kubeletConfig)
  writeFileSync(places.corefile, corefile)
  writeFileSync(join(places.plugins, '10-bottega.conflist'), pluginConfig)
}

type Means = { owner: string; tools: { path(name: string): string }; calls?: string }

async function startParts(parts: Parts, { owner, tools: built, calls }: Means): Promise<Node> {
  const { services } = parts
  makeAddress()
  allowForwarding()
  letPodsThrough()
  makeGroups()
  mkdirSync(places.plane, { recursive: true, mode: 0o700 })
  const node = { address: nodeAddress, certificates: identities, flags: apiserverFlags }
  const plain = { stateDir: places.plane, tools: built, owner, logDir: places.logs, durable: false, node }
  const options = calls === undefined ? plain : { ...plain, calls }
  const [plane] = await Promise.all([startControlPlane(options), services.containerd.start()])
  parts.plane = plane
  for (const { name } of identities) writeKubeconfig(name, plane.url)
  importImage(await writePauseImage(nodeDir))
  const kubectl = createKubectl(built.path('kubectl'), plane.kubeconfig)
  await kubectl(['apply', '-f', '-'], asList(dnsRights))
  const { containerd, ...rest } = services
  await Promise.all(Object.values(rest).map((service) => service.start()))
  await untilReady(kubectl, services)
  return {
    kubeconfig: plane.kubeconfig,
    kubectl,
    address: nodeAddress,
    podCidr,
    importImage,
    kill: async () => {
      const { etcd, apiserver } = plane.processes
      await Promise.all([...Object.values(services), etcd, apiserver].map((service) => service.kill()))
    },
    stop: () => stopParts(parts, kubectl).finally(parts.release),
  }
}

function importImage(archive: string): void {
  run('ctr', ctr('images', 'import', archive))
}

async function untilReady(kubectl: Kubectl, { kcm, kubelet, scheduler, kubeProxy, coredns }: NodeServices) {
  const says = (args: string[], answer: string) => async () => (await kubectl(args).catch(() => '')).includes(answer)
  // a bare Pod is refused before the account is there
  const account = says(['get', 'serviceaccount', 'default', '-o', 'name'], 'default')
  await waitOn(kcm, 'the account of pods', account, readyMs)
  const ready = '{.status.conditions[?(@.type=="Ready")].status}'
  const isReady = says(['get', 'node', nodeName, '-o', `jsonpath=${ready}`], 'True')
  await waitOn(kubelet, 'the node to be Ready', isReady, readyMs)
  for (const service of [scheduler, kubeProxy, coredns]) await waitOn(service, service.name, async () => true, 0)
}

/** Nothing may be made anew while it is taken down, so what makes pods goes first. */
async function stopParts({ services, before, plane }: Parts, kubectl: Kubectl | null): Promise<void> {
  const { scheduler, kcm, kubelet, kubeProxy, coredns, containerd } = services
  await Promise.all([scheduler.stop(), kcm.stop()])
  if (kubectl !== null && kubelet.pid() !== null) await emptyNode(kubectl)
  await Promise.all([kubelet.stop(), kubeProxy.stop(), coredns.stop()])
  await containerd.stop()
  await plane?.stop()
  await removeLeavings(before)
}

/** Lets the kubelet end the pods: it unmounts their volumes and has the plugins take their networks away. */
async function emptyNode(kubectl: Kubectl): Promise<void> {
  const args = [
    'delete',
    'pods',
    '--all',
    '--all-namespaces',
    '--grace-period=1',
    '--wait=false',
    '--request-timeout=10s',
  ]
  const asked = await kubectl(args).then(
    () => true,
    () => false,
  )
  if (!asked) return // the API server is gone: what is left is cleared away by force
  const isEmpty = async () => attempt('ctr', ctr('tasks', 'list', '-q')).stdout.trim() === '' && !holdsNetworks()
  await waitFor('the pods to end', isEmpty, { timeoutMs: emptyMs, everyMs: 200 }).catch(() => {})
}
