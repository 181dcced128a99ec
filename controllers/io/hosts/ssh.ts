/**
 * The one door to ssh2: one connection to one host. The host's key is compared before anything about us is sent: with
 * another key the connection ends inside the key exchange, without a single authentication packet.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Duplex } from 'node:stream'
import ssh2, { type ClientChannel, type ServerHostKeyAlgorithm } from 'ssh2'
import { fingerprintOfBytes } from '../../../crds/host/key.ts'

/** One running command: a duplex with `stderr`, and `exit` before `close`. */
export type Channel = ClientChannel

/** Of log-in, all of it. */
const LOG_IN_LIMIT_MS = 15_000
/** Off by default in ssh2: without it a peer that went away is noticed by nobody. Broken after three without an answer. */
const KEEPALIVE_MS = 10_000
const KEEPALIVE_COUNT_MAX = 3

/** `hostKey` in wire form (the base64 of an authorized_keys line, decoded); `privateKey` in OpenSSH or PEM form. */
export type Endpoint = { address: string; port: number; user: string; hostKey: Buffer; privateKey: string }

/** How a connection could not be had. `key`: another host key than the pinned one; `login`: our key is refused. */
export type SshFault = 'key' | 'login' | 'unreachable'

export class SshRefused extends Error {
  override name = 'SshRefused'
  readonly fault: SshFault
  /** Of `key`: the fingerprint of the key that was shown; null where there was none of the pinned type. */
  readonly shown: string | null
  constructor(fault: SshFault, message: string, shown: string | null = null) {
    super(message)
    this.fault = fault
    this.shown = shown
  }
}

/** The connection broke, or would not open a channel. `unstarted`: the command was never handed over. */
export class ChannelLost extends Error {
  override name = 'ChannelLost'
  readonly outcome: 'unstarted' | 'unknown'
  constructor(outcome: 'unstarted' | 'unknown', message: string) {
    super(message)
    this.outcome = outcome
  }
}

/** Nobody listens on the host where a stream was to lead, or not at this moment. */
export class StreamRefused extends Error {
  override name = 'StreamRefused'
}

export type Connection = {
  /** Runs one command. @throws ChannelLost `unstarted` */
  exec(command: string): Promise<Channel>
  /** A stream to a socket on the host: an absolute path, or `host:port`. @throws StreamRefused, ChannelLost `unstarted` */
  forward(to: string): Promise<Duplex>
  isOpen(): boolean
  /** Called once, when it has ended for whatever reason. @returns takes the listener back */
  onEnd(listener: () => void): () => void
  /** Ends it now, whatever runs on it. */
  end(): void
}

/** RSA keys are used with SHA-2 signatures only; others are named as their keys are. */
const algorithmsFor = (hostKey: Buffer): ServerHostKeyAlgorithm[] => {
  const type = hostKey.subarray(4, 4 + hostKey.readUInt32BE(0)).toString('latin1')
  return type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type as ServerHostKeyAlgorithm]
}

const sameKey = (seen: Buffer, pinned: Buffer): boolean =>
  seen.length === pinned.length && timingSafeEqual(seen, pinned)

/** A host that has no key of the pinned type any more has another key. */
const OTHER_TYPE = /no matching host key/i

const refusedBy = (error: Error & { level?: string }, other: Buffer | null): SshRefused => {
  const shown = other && fingerprintOfBytes(other)
  if (other || OTHER_TYPE.test(error.message)) return new SshRefused('key', 'the host shows another key', shown)
  if (error.level === 'client-authentication') return new SshRefused('login', 'the host refuses the key of the user')
  return new SshRefused('unreachable', error.message)
}

/** Opens a connection and logs in. @throws SshRefused */
export const connectSsh = (endpoint: Endpoint, signal?: AbortSignal): Promise<Connection> => {
  const { address, port, user, hostKey, privateKey } = endpoint
  const client = new ssh2.Client()
  const ends = new Set<() => void>()
  let open = true
  let other: Buffer | null = null
  const ended = () => {
    if (!open) return
    open = false
    for (const listener of ends) listener()
  }
  const onEnd = (listener: () => void) => {
    ends.add(listener)
    return () => void ends.delete(listener)
  }
  return new Promise((resolve, reject) => {
    const abort = () => {
      client.destroy()
      reject(new SshRefused('unreachable', 'given up'))
    }
    signal?.addEventListener('abort', abort, { once: true })
    // The listener stays for good: an error without one would end the process.
    client.on('error', (error) => {
      reject(refusedBy(error, other))
      ended()
    })
    client.on('close', () => {
      signal?.removeEventListener('abort', abort)
      reject(new SshRefused('unreachable', 'the connection was closed'))
      ended()
    })
    client.on('ready', () => {
      signal?.removeEventListener('abort', abort)
      resolve(connectionOf(client, { isOpen: () => open, onEnd }))
    })
    if (signal?.aborted) return abort()
    client.connect({
      host: address,
      port,
      username: user,
      privateKey,
      authHandler: ['publickey'],
      readyTimeout: LOG_IN_LIMIT_MS,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: KEEPALIVE_COUNT_MAX,
      algorithms: { serverHostKey: algorithmsFor(hostKey) },
      hostVerifier: (seen: Buffer) => {
        other = sameKey(seen, hostKey) ? null : Buffer.from(seen)
        return other === null
      },
    })
  })
}

const connectionOf = (client: ssh2.Client, life: Pick<Connection, 'isOpen' | 'onEnd'>): Connection => {
  /** ssh2 forgets the callbacks of a connection that breaks, so its end settles what waits for a channel. */
  const opened = <C>(
    ask: (done: (error: Error | undefined, channel: C) => void) => void,
    refusal: (why: string) => Error,
  ): Promise<C> =>
    new Promise((resolve, reject) => {
      const lost = (why: string) => reject(new ChannelLost('unstarted', why))
      if (!life.isOpen()) return lost('the connection has ended')
      const forgetEnd = life.onEnd(() => lost('the connection ended'))
      try {
        ask((error, channel) => {
          forgetEnd()
          if (!error) resolve(channel)
          else if (life.isOpen()) reject(refusal(error.message))
          else lost(error.message)
        })
      } catch (error) {
        lost(error instanceof Error ? error.message : 'no channel')
      }
    })
  const full = (why: string) => new ChannelLost('unstarted', why)
  const nobody = (why: string) => new StreamRefused(why)
  return {
    ...life,
    exec: (command) => opened<Channel>((done) => client.exec(command, done), full),
    forward: (to) =>
      opened<Duplex>((done) => {
        if (to.startsWith('/')) return void client.openssh_forwardOutStreamLocal(to, done)
        const colon = to.lastIndexOf(':')
        client.forwardOut('127.0.0.1', 0, to.slice(0, colon), Number(to.slice(colon + 1)), done)
      }, nobody),
    end: () => client.destroy(),
  }
}
