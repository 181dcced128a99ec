/** One host as the process sees it: its connections, whether work may run, and what its errors mean to a pass. */

import { lookup } from 'node:dns/promises'
import type { Duplex } from 'node:stream'
import { type AddressRule, mayReach } from '../../../crds/host/faults.ts'
import type { Inspection } from '../../../crds/host/inspect.ts'
import { hostKeyBytes } from '../../../crds/host/key.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import { proxyOf } from '../../../crds/host/proxy.ts'
import type { HostCertificate } from '../../../crds/host/schema.ts'
import { bytesOfAddress } from '../../../crds/values/address.ts'
import { StaleEpoch, Stalled, Waiting, withDeadline } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { type AdminAnswer, type AdminCall, AdminReset, callAdmin } from './caddy.ts'
import { makeCertificates } from './certificates.ts'
import { inspect } from './inspect.ts'
import { type JobRun, makeJobs } from './jobs.ts'
import type { AroundHost, HostLink, HostRoutes, HostsDeps, RunInput } from './link.ts'
import { makePool, type Pool } from './pool.ts'
import { execute, HostFenced, OUTPUT_BYTES_MAX, type RunResult } from './remote.ts'
import { makeRoutes } from './routes.ts'
import { ChannelLost, type Connection, connectSsh, SshRefused, StreamRefused } from './ssh.ts'

/** How soon a host that did not answer is tried again. */
const RETRY_MS = 15_000
const ADMIN_LIMIT_MS = 15_000

/** `unknown`: the command was handed over, and may have run. */
export class HostUnreachable extends Waiting {
  readonly outcome: 'unstarted' | 'unknown'
  constructor(name: string, outcome: 'unstarted' | 'unknown', detail: string) {
    super('HostUnreachable', `host ${name} does not answer (${detail}); it is tried again`, RETRY_MS)
    this.name = 'HostUnreachable'
    this.outcome = outcome
  }
}

export class HostMissing extends Stalled {
  constructor(name: string) {
    super('HOST_MISSING', `HOST_MISSING: there is no host ${name}`)
    this.name = 'HostMissing'
  }
}

export class HostNotApproved extends Stalled {
  constructor(name: string) {
    super('HOST_NOT_APPROVED', `HOST_NOT_APPROVED: host ${name} is not approved; an admin may approve it`)
    this.name = 'HostNotApproved'
  }
}

export class HostKeyChanged extends Stalled {
  constructor(name: string) {
    super(
      'HOST_KEY_CHANGED',
      `HOST_KEY_CHANGED: host ${name} shows another key than the pinned one; work on it has stopped`,
    )
    this.name = 'HostKeyChanged'
  }
}

export type HostLinkDeps = Pick<HostsDeps, 'credentials' | 'rows' | 'fence' | 'now' | 'around'> & {
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

export const makeHost = (deps: HostLinkDeps): OneHost => {
  const { name, object, credentials, rows, log, now } = deps
  const around: AroundHost = deps.around ?? ((_call, run) => run())
  let pool: { identity: string; pool: Pool } | undefined
  /** The identity that showed another key: only an inspection may ask it again. */
  let otherKeyOf: string | undefined

  const current = (): HostResource => {
    const found = object()
    if (!found) throw new HostMissing(name)
    return found
  }

  const connect = async ({ spec }: HostResource, signal?: AbortSignal): Promise<Connection> => {
    const hostKey = hostKeyBytes(spec.hostKey)
    const privateKey = await credentials.open(name, spec.credentialVersion)
    if (hostKey === null || privateKey === null) throw new SshRefused('login', 'there is no key')
    const address = await resolved(spec.address, deps.addressRule(name))
    return connectSsh({ address, port: spec.port, user: spec.user, hostKey, privateKey }, signal)
  }

  /** Another key: whatever connections there are end with what runs on them, and no new ones are made for work. */
  const learn = (host: HostResource, error: unknown): void => {
    if (!(error instanceof SshRefused) || error.fault !== 'key') return
    log.warn({ host: name }, 'host shows another key')
    otherKeyOf = identityOf(host.spec)
    void pool?.pool.drain()
    pool = undefined
  }

  const poolOf = (host: HostResource): Pool => {
    const identity = identityOf(host.spec)
    if (pool?.identity !== identity) {
      // What runs on the connections of before may end.
      void pool?.pool.drain()
      pool = { identity, pool: makePool({ connect: (signal) => connect(host, signal) }) }
    }
    return pool.pool
  }

  /** The host, if work may run on it. */
  const allowed = (): HostResource => {
    const host = current()
    const changed = host.status?.conditions?.some(
      ({ type, status, observedGeneration }) =>
        type === 'HostKeyChanged' && status === 'True' && observedGeneration === host.metadata.generation,
    )
    if (changed || otherKeyOf === identityOf(host.spec)) throw new HostKeyChanged(name)
    if (!host.spec.approved) throw new HostNotApproved(name)
    return host
  }

  const translated = (error: unknown): unknown => {
    if (error instanceof StreamRefused) return new AdminReset(error.message)
    if (error instanceof ChannelLost) return new HostUnreachable(name, error.outcome, error.message)
    if (error instanceof HostFenced) return new StaleEpoch(error.message)
    if (!(error instanceof SshRefused)) return error
    switch (error.fault) {
      case 'key':
        return new HostKeyChanged(name)
      case 'login':
        return new Stalled('HOST_LOGIN_REFUSED', `HOST_LOGIN_REFUSED: host ${name} refuses the private key`)
      case 'unreachable':
        return new HostUnreachable(name, 'unstarted', error.message)
      default: {
        const never: never = error.fault
        return never
      }
    }
  }

  const never = new AbortController().signal
  /** One use of a connection, under a deadline, as one call. */
  const use = <T>(
    call: { name: string; lane: 'work' | 'status'; deadlineMs: number; signal?: AbortSignal | undefined },
    work: (connection: Connection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> =>
    around({ name: call.name }, async () => {
      const host = allowed()
      const lent = poolOf(host)
      try {
        return await withDeadline(`${call.name} on ${name}`, call.deadlineMs, call.signal ?? never, (signal) =>
          lent.use(call.lane, signal, (connection) => work(connection, signal)),
        )
      } catch (error) {
        learn(host, error)
        throw translated(error)
      }
    })

  const runFenced = (input: RunInput, isFenced: boolean): Promise<RunResult> => {
    const { script, lines = [], body, deadlineMs, lane = 'work', signal, maxOutputBytes = OUTPUT_BYTES_MAX } = input
    const execution = {
      script,
      fence: isFenced ? deps.fence() : null,
      lines,
      body,
      maxOutputBytes,
      limitMs: deadlineMs,
    }
    return use({ name: `ssh ${script.name}`, lane, deadlineMs, signal }, (connection, cut) =>
      execute(connection, execution, cut),
    )
  }

  const jobs = makeJobs(async ({ fenced, ...input }: JobRun) => {
    const { code, stdout, stderr } = await runFenced(input, fenced)
    if (code !== 0) throw new Error(`${input.script.name} ended with ${code}: ${stderr.slice(-500)}`)
    return stdout.toString()
  })

  const settings = () => proxyOf(current().spec)
  const admin = (call: AdminCall): Promise<AdminAnswer> =>
    use({ name: `admin ${call.method} ${call.path}`, lane: 'status', deadlineMs: ADMIN_LIMIT_MS }, async (connection) =>
      callAdmin(await connection.forward(settings().admin), call),
    )

  const served = (): string => {
    const { bind, httpsPort } = settings()
    return `${bind === undefined || bind.includes(':') ? '127.0.0.1' : bind}:${httpsPort}`
  }
  const tls = () =>
    use({ name: 'tls', lane: 'status', deadlineMs: ADMIN_LIMIT_MS }, (connection) => connection.forward(served()))
  const measure = makeCertificates(tls, now)

  return {
    link: { run: (input) => runFenced(input, (input.lane ?? 'work') === 'work'), ...jobs },
    routes: makeRoutes({ host: name, rows, settings, admin }),
    inspect: (signal) => {
      const host = current()
      const look = { admin: proxyOf(host.spec).admin, siteRoot: host.spec.siteRoot ?? '' }
      const asked = async () => {
        try {
          const connection = await connect(host, signal)
          if (otherKeyOf === identityOf(host.spec)) otherKeyOf = undefined
          return connection
        } catch (error) {
          learn(host, error)
          throw error
        }
      }
      return around({ name: 'ssh inspect' }, () => inspect(asked, look, signal))
    },
    tls,
    certificates: async () => measure((await rows.list(name)).flatMap(({ hostnames }) => hostnames)),
    drain: async () => pool?.pool.drain(),
  }
}
