/** One host as the process sees it: its connections, whether work may run, and what its errors mean to a pass. */

import { lookup } from 'node:dns/promises'
import type { Duplex } from 'node:stream'
import { type AddressRule, mayReach } from '../../../crds/host/faults.ts'
import type { Inspection } from '../../../crds/host/inspect.ts'
import { hostKeyBytes } from '../../../crds/host/key.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import { proxyOf } from '../../../crds/host/proxy.ts'
import type { HostCertificate } from '../../../crds/host/schema.ts'
import { VISITS_FOLDER } from '../../../crds/host/visits.ts'
import { bytesOfAddress } from '../../../crds/values/address.ts'
import { trimmedEnd } from '../../../crds/values/trimmed.ts'
import { withDeadline } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { type AdminAnswer, type AdminCall, AdminReset, callAdmin } from './caddy.ts'
import { HostKeyChanged, HostMissing, HostNotApproved, hostErrorOf } from './hosterrors.ts'
import { inspect } from './inspect.ts'
import { type JobRun, makeJobs } from './jobs.ts'
import type { AroundHost, HostLink, HostRoutes, HostsDeps, RunInput } from './link.ts'
import { makePool, type Pool } from './pool.ts'
import { execute, HostFenced, OUTPUT_BYTES_MAX, type RunResult } from './remote.ts'
import { makeRoutes } from './routes.ts'
import { type Connection, connectSsh, SshRefused } from './ssh.ts'
import { authorityOf, makeCertificates } from './tls/certificates.ts'

const ADMIN_LIMIT_MS = 15_000
/** So long nothing is written of visits after the proxy has refused to. */
const NO_VISITS_MS = 300_000

export type HostLinkDeps = Pick<HostsDeps, 'credentials' | 'rows' | 'fence' | 'now' | 'around' | 'onAhead'> & {
  log: Log
  name: string
  object: () => HostResource | undefined
  addressRule: (name: string) => AddressRule
}

export type OneHost = {
  link: HostLink
  routes: HostRoutes
  inspect(signal: AbortSignal): Promise<Inspection>
  tls(): Promise<Duplex>
  certificates(): Promise<HostCertificate[]>
  certificatesOf(hostnames: readonly string[]): Promise<HostCertificate[]>
  authorityOf(hostname: string): Promise<string | null>
  drain(): Promise<void>
}

/** What a connection was opened for: with another of these it is another host. */
const identityOf = ({ address, port, user, hostKey, credentialVersion }: HostResource['spec']): string =>
  [address, port, user, hostKey, credentialVersion].join(' ')

/** The address to connect to: judged after it was resolved, so a name cannot lead elsewhere afterwards. */
const resolved = async (address: string, rule: AddressRule): Promise<string> => {
  const found =
    bytesOfAddress(address) !== null
      ? [address]
      : await lookup(address, { all: true }).then(
          (answers) => answers.map((answer) => answer.address),
          () => [],
        )
  if (found.length === 0) throw new SshRefused('unreachable', 'its name leads nowhere')
  const allowed = found.find((one) => mayReach(one, rule))
  if (allowed === undefined) throw new SshRefused('unreachable', 'its name leads to no public address')
  return allowed
}

type HostState = HostLinkDeps & {
  around: AroundHost
  pool: { identity: string; pool: Pool } | undefined
  /** The identity that showed another key: only an inspection may ask it again. */
  otherKeyOf: string | undefined
  /** By the clock that only goes on. */
  noVisitsUntilMs: number
}

const current = ({ name, object }: HostState): HostResource => {
  const found = object()
  if (!found) throw new HostMissing(name)
  return found
}

const connect = async (state: HostState, { spec }: HostResource, signal?: AbortSignal): Promise<Connection> => {
  const { name, credentials, addressRule } = state
  const hostKey = hostKeyBytes(spec.hostKey)
  const privateKey = await credentials.open(name, spec.credentialVersion)
  if (hostKey === null || privateKey === null) throw new SshRefused('login', 'there is no key')
  const address = await resolved(spec.address, addressRule(name))
  return connectSsh({ address, port: spec.port, user: spec.user, hostKey, privateKey }, signal)
}

/** Another key: whatever connections there are end with what runs on them, and no new ones are made for work. */
const noteOtherKey = (state: HostState, host: HostResource, error: unknown): void => {
  if (!(error instanceof SshRefused) || error.fault !== 'key') return
  state.log.warn({ host: state.name }, 'host shows another key')
  state.otherKeyOf = identityOf(host.spec)
  void state.pool?.pool.drain()
  state.pool = undefined
}

const poolOf = (state: HostState, host: HostResource): Pool => {
  const identity = identityOf(host.spec)
  if (state.pool?.identity === identity) return state.pool.pool
  // What runs on the connections of before may end.
  void state.pool?.pool.drain()
  const pool = makePool({ connect: (signal) => connect(state, host, signal) })
  state.pool = { identity, pool }
  return pool
}

/** The host, if work may run on it. */
const allowed = (state: HostState): HostResource => {
  const host = current(state)
  const changed = host.status?.conditions?.some(
    ({ type, status, observedGeneration }) =>
      type === 'HostKeyChanged' && status === 'True' && observedGeneration === host.metadata.generation,
  )
  if (changed || state.otherKeyOf === identityOf(host.spec)) throw new HostKeyChanged(state.name)
  if (!host.spec.approved) throw new HostNotApproved(state.name)
  return host
}

const never = new AbortController().signal

/** One use of a connection, under a deadline, as one call. */
const use = <T>(
  state: HostState,
  call: { name: string; lane: 'work' | 'status'; deadlineMs: number; signal?: AbortSignal | undefined },
  work: (connection: Connection, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  state.around({ name: call.name }, async () => {
    const host = allowed(state)
    const lent = poolOf(state, host)
    try {
      return await withDeadline(`${call.name} on ${state.name}`, call.deadlineMs, call.signal ?? never, (signal) =>
        lent.use(call.lane, signal, (connection) => work(connection, signal)),
      )
    } catch (error) {
      noteOtherKey(state, host, error)
      if (error instanceof HostFenced) state.onAhead?.(error.mark)
      throw hostErrorOf(state.name, error)
    }
  })

const runFenced = (state: HostState, input: RunInput, isFenced: boolean): Promise<RunResult> => {
  const { script, lines = [], body, deadlineMs, lane = 'work', signal, maxOutputBytes = OUTPUT_BYTES_MAX } = input
  const fence = isFenced ? state.fence() : null
  const execution = { script, fence, lines, body, maxOutputBytes, limitMs: deadlineMs }
  return use(state, { name: `ssh ${script.name}`, lane, deadlineMs, signal }, (connection, cut) =>
    execute(connection, execution, cut),
  )
}

/** @throws when the script fails */
const runJob = async (state: HostState, { fenced, ...input }: JobRun): Promise<Buffer> => {
  const { code, stdout, stderr } = await runFenced(state, input, fenced)
  if (code !== 0) throw new Error(`${input.script.name} ended with ${code}: ${stderr.slice(-500)}`)
  return stdout
}

const callAdminOf = (state: HostState, call: AdminCall): Promise<AdminAnswer> =>
  use(
    state,
    { name: `admin ${call.method} ${call.path}`, lane: 'status', deadlineMs: ADMIN_LIMIT_MS },
    async (connection) => callAdmin(await connection.forward(proxyOf(current(state).spec).admin), call),
  )

/** Where the proxy serves TLS, as the host itself reaches it. */
const servedAt = (state: HostState): string => {
  const { bind, httpsPort } = proxyOf(current(state).spec)
  return `${bind === undefined || bind.includes(':') ? '127.0.0.1' : bind}:${httpsPort}`
}

/** Where visits of the sites are written to; null where there are none, or while the proxy cannot. */
const visitsOf = (state: HostState): string | null => {
  const { siteRoot, takesSites } = current(state).spec
  if (!takesSites || siteRoot === undefined || performance.now() < state.noVisitsUntilMs) return null
  return `${trimmedEnd(siteRoot, '/')}/${VISITS_FOLDER}`
}

const noVisits = (state: HostState): void => {
  state.log.warn({ host: state.name }, 'the proxy cannot write down visits')
  state.noVisitsUntilMs = performance.now() + NO_VISITS_MS
}

/** A connection of its own, also to a host that is not approved yet, or that showed another key before. */
const inspectHost = (state: HostState, signal: AbortSignal): Promise<Inspection> => {
  const host = current(state)
  const look = { admin: proxyOf(host.spec).admin, siteRoot: host.spec.siteRoot ?? '' }
  const connected = async () => {
    try {
      const connection = await connect(state, host, signal)
      if (state.otherKeyOf === identityOf(host.spec)) state.otherKeyOf = undefined
      return connection
    } catch (error) {
      noteOtherKey(state, host, error)
      throw error
    }
  }
  return state.around({ name: 'ssh inspect' }, () => inspect(connected, look, signal))
}

export const makeHost = (deps: HostLinkDeps): OneHost => {
  const { name, rows, now } = deps
  const around: AroundHost = deps.around ?? ((_call, run) => run())
  const state: HostState = { ...deps, around, pool: undefined, otherKeyOf: undefined, noVisitsUntilMs: 0 }
  const tls = () =>
    use(state, { name: 'tls', lane: 'status', deadlineMs: ADMIN_LIMIT_MS }, (connection) =>
      connection.forward(servedAt(state)),
    )
  /** A proxy that came back with nothing listens nowhere: that is seen, and keeps nobody from putting it back. */
  const tlsOrNobody = () =>
    tls().catch((error) => {
      if (error instanceof AdminReset) return null
      throw error
    })
  const measure = makeCertificates(tlsOrNobody, now)
  const settings = () => proxyOf(current(state).spec)

  return {
    link: {
      run: (input) => runFenced(state, input, (input.lane ?? 'work') === 'work'),
      ...makeJobs((run) => runJob(state, run)),
    },
    routes: makeRoutes({
      host: name,
      rows,
      settings,
      visits: () => visitsOf(state),
      noVisits: () => noVisits(state),
      now,
      admin: (call) => callAdminOf(state, call),
    }),
    inspect: (signal) => inspectHost(state, signal),
    tls,
    certificatesOf: (hostnames) => measure(hostnames, false),
    authorityOf: (hostname) => authorityOf(tlsOrNobody, hostname),
    certificates: async () => measure((await rows.list(name)).flatMap(({ hostnames }) => hostnames)),
    drain: async () => state.pool?.pool.drain(),
  }
}
