import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { identityOf, makeOwnFolder, readJson, writeWhole } from '../lib/files.ts'
import { freePort } from '../lib/ports.ts'
import { createService, type Service, tailOf, waitFor } from '../lib/processes.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import type { BuiltTools } from '../lib/tools.ts'
import { adminCredentials, type Certificate, ensureKeys, kubeconfigText } from './pki.ts'

export type ControlPlaneOptions = {
  /** Keys, data, port and kubeconfig are kept here over restarts. */
  stateDir: string
  tools: BuiltTools
  owner: string
  logDir?: string
  /** False for throw-away data: etcd then does not wait for the disk. */
  durable?: boolean
  /** A file that tells each call of a service account, without its body: for who compares rights that are used with those given. */
  calls?: string
  /** Makes it the control plane of a real node; without it there is an API server alone, on loopback. */
  node?: {
    /** Where the API server listens. */
    address: string
    certificates: readonly Certificate[]
    /** Of the API server, over those of the lone one; null takes a flag away. `pki` is the folder of the keys. */
    flags(pki: string): Readonly<Record<string, string | null>>
  }
}

export type ControlPlane = {
  /** Path of the admin's kubeconfig (mode 0600, namespace `default`). */
  kubeconfig: string
  url: string
  processes: { etcd: Service; apiserver: Service }
  restart(name: 'etcd' | 'apiserver'): Promise<void>
  stop(): Promise<void>
}

const portDraws = 5
const etcdReadyMs = 120_000
const apiserverReadyMs = 120_000
/** Without etcd the API server's graceful end never comes, so it is always stopped first, and never waited for longer. */
const apiserverGraceMs = 8_000
const socketName = 'client:0'
const loopback = '127.0.0.1'

/**
 * Starts etcd and kube-apiserver, on 127.0.0.1 unless for a node, and returns once /readyz, checked against our own authority, answers.
 * No root needed; several may run side by side.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { stateDir } = options
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  ensureKeys(join(stateDir, 'pki'), options.node)
  const sockets = socketFolder(stateDir)
  const etcd = etcdService(options, sockets)
  await etcd.start()
  try {
    const { apiserver, url } = await startApiserver(options, sockets)
    const processes = { etcd, apiserver }
    return {
      kubeconfig: join(stateDir, 'admin.kubeconfig'),
      url,
      processes,
      async restart(name) {
        await processes[name].stop()
        await processes[name].start()
      },
      async stop() {
        await apiserver.stop()
        await etcd.stop()
        rmSync(sockets, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await etcd.stop()
    rmSync(sockets, { recursive: true, force: true })
    throw error
  }
}

/** Removes the folder of etcd's sockets that a killed run left behind. */
export function removeSockets(stateDir: string): void {
  if (existsSync(stateDir)) rmSync(socketPath(stateDir), { recursive: true, force: true })
}

/** A unix socket's path ends at 108 bytes, so sockets never lie in the checkout. */
function socketPath(stateDir: string): string {
  return `/tmp/bottega-etcd-${identityOf(stateDir)}`
}

function socketFolder(stateDir: string): string {
  const folder = socketPath(stateDir)
  rmSync(folder, { recursive: true, force: true })
  makeOwnFolder(folder, 0o700)
  return folder
}

function etcdService(
  { stateDir, tools, owner, logDir = stateDir, durable = true }: ControlPlaneOptions,
  sockets: string,
): Service {
  const logFile = join(logDir, 'etcd.log')
  // etcd insists on host:port even for unix sockets and uses that text as the file name in its working directory
  const client = `unix://${socketName}`
  const peer = 'unix://peer:0'
  const addresses = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer]
  const cluster = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`]
  const storage = ['--data-dir', join(stateDir, 'etcd'), ...(durable ? [] : ['--unsafe-no-fsync'])]
  return createService({
    name: 'etcd',
    logFile,
    graceMs: 8_000,
    launch: () => {
      rmSync(join(sockets, socketName), { force: true }) // a killed etcd leaves it, and it would look like readiness
      const args = [...storage, '--log-level', 'error', ...addresses, ...cluster]
      return { name: 'etcd', command: tools.path('etcd'), args, cwd: sockets, owner, logFile }
    },
    ready: (signal) =>
      waitFor('etcd', async () => existsSync(join(sockets, socketName)), { timeoutMs: etcdReadyMs, signal }),
  })
}

/** Port 0 is not possible, so a port is drawn, and drawn again when somebody took it in between. */
async function startApiserver(
  options: ControlPlaneOptions,
  sockets: string,
): Promise<{ apiserver: Service; url: string }> {
  const { stateDir, logDir = stateDir } = options
  const portFile = join(stateDir, 'api-port.json')
  for (let draw = 1; ; draw += 1) {
    const port = await freePort(readJson<number>(portFile) ?? undefined)
    const url = `https://${options.node?.address ?? loopback}:${port}`
    writeAdminKubeconfig(stateDir, url)
    const logFile = join(logDir, 'kube-apiserver.log')
    const apiserver = apiserverService(options, { port, url, logFile, sockets })
    try {
      await apiserver.start()
      writeWhole(portFile, JSON.stringify(port))
      return { apiserver, url }
    } catch (error) {
      if (draw === portDraws || !tailOf(logFile, 30).includes('address already in use')) throw error
      rmSync(portFile, { force: true })
    }
  }
}

const nowhere = { level: 'None' }
/** The accounts of the cluster's own controllers are none of ours. */
const callsPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { ...nowhere, userGroups: ['system:serviceaccounts:kube-system'] },
    { level: 'Metadata', userGroups: ['system:serviceaccounts'], omitManagedFields: true },
    nowhere,
  ],
}

/** A call is written down before it is answered, so none is lost with a server that is killed. */
function callsFlags({ stateDir, calls }: ControlPlaneOptions): Record<string, string> {
  if (calls === undefined) return {}
  const policy = join(stateDir, 'calls-policy.json')
  writeFileSync(policy, JSON.stringify(callsPolicy))
  return { 'audit-policy-file': policy, 'audit-log-path': calls }
}

type Address = { port: number; url: string; logFile: string; sockets: string }

function apiserverService(options: ControlPlaneOptions, { port, url, logFile, sockets }: Address): Service {
  const { stateDir, tools, owner, node } = options
  const pki = join(stateDir, 'pki')
  const credentials = adminCredentials(pki)
  const address = node?.address ?? loopback
  const flags: Record<string, string | null> = {
    'etcd-servers': `unix://${join(sockets, socketName)}`,
    'bind-address': address,
    'advertise-address': address,
    'secure-port': String(port),
    'tls-cert-file': join(pki, 'apiserver.crt'),
    'tls-private-key-file': join(pki, 'apiserver.key'),
    'client-ca-file': join(pki, 'ca.crt'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-signing-key-file': join(pki, 'sa.key'),
    'service-account-key-file': join(pki, 'sa.key'),
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': 'RBAC',
    // no controller makes the `default` account here, and without one every bare Pod would be refused
    'disable-admission-plugins': 'ServiceAccount',
    'endpoint-reconciler-type': 'none',
    'shutdown-delay-duration': '0s',
    profiling: 'false',
    ...callsFlags(options),
    ...node?.flags(pki),
  }
  const args = Object.entries(flags).flatMap(([name, value]) => (value === null ? [] : [`--${name}=${value}`]))
  return createService({
    name: 'kube-apiserver',
    logFile,
    graceMs: apiserverGraceMs,
    launch: () => ({ name: 'kube-apiserver', command: tools.path('kube-apiserver'), args, owner, logFile, cwd: '/' }),
    ready: (signal) =>
      waitFor('the API server', () => answers(`${url}/readyz`, credentials), { timeoutMs: apiserverReadyMs, signal }),
  })
}

function writeAdminKubeconfig(stateDir: string, server: string): void {
  const base64 = (name: string) => readFileSync(join(stateDir, 'pki', name)).toString('base64')
  const user = { 'client-certificate-data': base64('admin.crt'), 'client-key-data': base64('admin.key') }
  writeWhole(
    join(stateDir, 'admin.kubeconfig'),
    kubeconfigText({ server, ca: base64('ca.crt'), user, namespace: 'default' }),
  )
}

/** Checked against our own authority, so a stranger who owns the port is never taken for ours. */
function answers(url: string, credentials: ReturnType<typeof adminCredentials>): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(url, { ...credentials, agent: false, timeout: 2_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asking.on('error', () => resolve(false))
    asking.on('timeout', () => asking.destroy())
    asking.end()
  })
}

/** Refuses a `--kubeconfig` that is not there with a sentence. */
export function demandKubeconfig(path: string): void {
  if (!existsSync(path)) throw new CommandRefusal(`There is no kubeconfig ${path}.`, { exitCode: 2 })
}
