import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf, makeOwnFolder, readJson, writeWhole } from '../lib/files.ts'
import { type Service, waitFor } from '../lib/processes.ts'
import { failing, type Progress } from '../lib/progress.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { type HostEnvironment, paths, stateDir } from '../lib/state.ts'
import type { BuiltTools } from '../lib/tools.ts'
import { importBuilds, LOCAL_BUILDS } from '../stage/builds/builds.ts'
import { type Docker, endDockerLeftovers, startDocker } from '../stage/docker.ts'
import { endSshdsOf, type HostPorts, type HostStage, startHostStage } from '../stage/hoststage.ts'
import { hostUsersOf, makeHostUser, removeHostUser } from '../stage/hostuser.ts'

/** The app host of `hack/up --with hosts`: on loopback, registered and approved as Host `local`. */
export type UpHost = { docker: Docker; stage: HostStage; services: Service[] }

const hostName = 'local'
export const baseDomain = 'apps.bottega.test'
const lookMs = 60_000

/** Outside the checkout, which the host's user might not be able to enter. */
const folderOf = (): string => `/var/tmp/bottega-host-${identityOf(stateDir)}`

export async function openUpHost(owner: string, tools: BuiltTools, progress: Progress): Promise<UpHost> {
  const step = progress.step('app host: sshd, Docker, Caddy, ACME CA')
  const host = await startUpHost({ owner, tools }).catch(failing(step))
  step.done()
  return host
}

async function startUpHost({ owner, tools }: { owner: string; tools: BuiltTools }): Promise<UpHost> {
  const folder = folderOf()
  makeOwnFolder(folder, 0o755)
  const user = makeHostUser({ id: identityOf(stateDir).slice(0, 8), home: join(folder, 'home'), owner })
  const dockerFolder = join(folder, 'docker')
  mkdirSync(dockerFolder, { recursive: true, mode: 0o711 })
  const logFile = join(paths.logs, 'dockerd.log')
  const docker = await startDocker({ folder: dockerFolder, owner, logFile, gid: user.gid, masquerade: true })
  await importBuilds(docker.socket, tools.path)
  const ports = readJson<HostPorts>(paths.hostPorts) ?? {}
  const given = { folder, owner, logDir: paths.logs, user, dockerSocket: docker.socket, tool: tools.path, ports }
  const stage = await startHostStage(given).catch(async (error) => {
    await docker.remove()
    throw error
  })
  const { sshPort, httpPort, httpsPort, acme } = stage
  const kept: HostPorts = { ssh: sshPort, http: httpPort, https: httpsPort, acme: Number(new URL(acme.directory).port) }
  writeWhole(paths.hostPorts, JSON.stringify(kept))
  return { docker, stage, services: [docker.service, ...stage.services] }
}

export const hostEnvironment = ({ stage }: UpHost): HostEnvironment => ({
  sshPort: stage.sshPort,
  httpPort: stage.httpPort,
  httpsPort: stage.httpsPort,
  caCert: stage.acme.caCert,
  baseDomain,
})

/** After the processes have ended: mounts, networks and the user go; with `purge` all that the host kept as well. */
export async function removeUpHost(owner: string, { purge }: { purge: boolean }): Promise<void> {
  for (const user of hostUsersOf(owner)) await removeHostUser(user)
  const folder = folderOf()
  if (!existsSync(folder)) return
  await endSshdsOf(folder)
  await endDockerLeftovers(join(folder, 'docker'))
  if (purge) rmSync(folder, { recursive: true, force: true })
}

type Shown = {
  approved: boolean
  address: string
  port: number
  user: string
  host_key: string
  proxy: Record<string, unknown>
  state: string
  stalled: { code: string; detail: string } | null
}

const wantedOf = ({ stage }: UpHost) => ({
  name: 'This machine',
  class: 'shared',
  address: '127.0.0.1',
  port: stage.sshPort,
  user: stage.user,
  host_key: stage.hostKey,
  base_domain: baseDomain,
  takes_sites: true,
  site_root: stage.siteRoot,
  ...LOCAL_BUILDS,
  proxy: {
    admin: stage.admin,
    bind: '127.0.0.1',
    http_port: stage.httpPort,
    https_port: stage.httpsPort,
    acme: { directory: stage.acme.directory, roots_file: stage.acme.rootsFile },
  },
})

/** Registers the host through the API as any host is, looks until it is well, and approves it. A repeat changes nothing. */
export async function registerUpHost(
  host: UpHost,
  { baseUrl, token }: { baseUrl: string; token: string },
): Promise<void> {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; host: Shown; text: string }> => {
    const response = await fetch(`${baseUrl}/api/apps/hosts${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    return { status: response.status, host: response.ok ? JSON.parse(text).host : {}, text }
  }
  const wanted = wantedOf(host)
  const privateKey = { private_key: host.stage.privateKey }
  const one = `/${hostName}`
  const found = await call('GET', one)
  if (found.status === 404) await call('POST', '', { id: hostName, ...wanted, ...privateKey })
  else if (differs(found.host, wanted)) await call('PATCH', one, { ...wanted, ...privateKey })
  let last = found.text
  const settles = async () => {
    const { host: now, text } = await call('POST', `${one}/inspect`, {})
    last = text
    if (now.stalled?.code === 'HOST_LOGIN_REFUSED' || now.stalled?.code === 'NO_CREDENTIAL')
      await call('PATCH', one, privateKey)
    if (now.state === 'inspected') last = (await call('POST', `${one}/approve`, {})).text
    return now.state === 'approved' && now.stalled === null
  }
  await waitFor('Host local to be inspected and approved', settles, { timeoutMs: lookMs, everyMs: 300 }).catch(
    (cause) => {
      throw new CommandRefusal('Host local did not become ready; what the API last said stands above.', {
        detail: last,
        cause,
      })
    },
  )
}

const differs = (shown: Shown, wanted: object): boolean =>
  Object.entries(wanted).some(([field, value]) => !sameKeys(Reflect.get(shown, field), value))

const sameKeys = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return Object.keys({ ...left, ...right }).every((key) => sameKeys(left[key], right[key]))
}
