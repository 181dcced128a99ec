/**
 * What of an answer may reach a command line, an ssh_config, a known_hosts file or a link. An answer comes over the network, and
 * from a server that may have been taken over: a name that is an option, an address with a line feed, a key that is two lines would
 * run what they say on the caller's machine. Each is a word of a known shape, or nothing is done.
 */
import { isIPv4 } from 'node:net'
import type { AnswerBody } from '../net/api.ts'
import { RefusedByApi } from '../net/outcome.ts'

/** A dev instance whose every word is what it may be. */
export type BelievedBox = {
  id: string
  name: string
  /** Its name in ssh_config: no other host is called so. */
  host: string
  state: string
  /** Null: it has none. */
  publicIp: string | null
  /** As `SHA256:…`, of the keys that the machine attested when it was finalized. */
  fingerprints: readonly string[]
  /** The same as `type base64`, where the registry keeps whole keys. */
  keys: readonly string[]
}

/** As Kubernetes names resources. */
const ID = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/
/** As the schema of dev instances has it. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const STATE = /^[a-z]{1,32}$/
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/
const KEY_TYPE =
  /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const USER = /^[a-z_][a-z0-9_-]{0,31}$/
const KEYS_MAX = 20
const [KEY_MIN, KEY_MAX] = [16, 4_096]

/** `type base64`, and nothing before, between or behind. */
export const isPublicKey = (text: string): boolean => {
  const [type = '', base64 = '', ...more] = text.split(' ')
  const fits = base64.length >= KEY_MIN && base64.length <= KEY_MAX
  return more.length === 0 && fits && KEY_TYPE.test(type) && BASE64.test(base64)
}

export const isUser = (text: string): boolean => USER.test(text)

const unsafe = (what: string, value: unknown): RefusedByApi => {
  const shown = (JSON.stringify(value) ?? 'nothing').slice(0, 120)
  return new RefusedByApi({
    status: 0,
    code: 'UNSAFE_ANSWER',
    detail: `The server says ${shown} for the ${what}, which is none; nothing was run or written.`,
    next: 'Tell whoever runs the installation: its answer may be forged. Check BOTTEGA_URL.',
  })
}

const wordOf = (what: string, value: unknown, isOne: (text: string) => boolean): string => {
  if (typeof value !== 'string' || !isOne(value)) throw unsafe(what, value)
  return value
}

/** Editors take the host of a link for lower case: a name that is not is known by its id. */
const hostOf = (id: string, name: string): string => (name === name.toLowerCase() ? `bottega-${name}` : id)

const hostKeysOf = (value: unknown): string[] => {
  if (!Array.isArray(value) || value.length > KEYS_MAX) throw unsafe('host keys', value)
  return value.map((one) => wordOf('host key', one, (text) => FINGERPRINT.test(text) || isPublicKey(text)))
}

/** @param devbox as GET answers it @throws RefusedByApi UNSAFE_ANSWER */
export const believedBox = (devbox: AnswerBody): BelievedBox => {
  const { publicIp = null, hostKeys = [] } = devbox ?? {}
  const id = wordOf('id', devbox?.id, (text) => ID.test(text))
  const name = wordOf('name', devbox?.name, (text) => NAME.test(text))
  const known = hostKeysOf(hostKeys)
  return {
    id,
    name,
    host: hostOf(id, name),
    state: wordOf('state', devbox?.state, (text) => STATE.test(text)),
    publicIp: publicIp === null ? null : wordOf('address', publicIp, isIPv4),
    fingerprints: known.filter((one) => FINGERPRINT.test(one)),
    keys: known.filter(isPublicKey),
  }
}
