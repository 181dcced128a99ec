/**
 * How the environment comes to a dev instance: sealed to a key that the machine made at this start, once for each environment and
 * start. Nobody between can read it, and a token alone, stolen later, gets nothing. The program is Node's own, which is there for
 * the agents; it runs without compiling (`--jitless`), as its unit demands.
 * Source: rules/devinstance.md#how-the-environment-comes; RFC 7748 (X25519), RFC 5869 (HKDF), NIST SP 800-38D (GCM).
 */
import { createHash } from 'node:crypto'
import type { DevInstanceRow } from '../life/row.ts'
import { PREFIX } from './places.ts'

/** Where it lies: in memory, and the reporter's user alone reads it. */
export const HELD_ENV = '/run/bottega/env'
/** What the derived key is for: the same words on both sides. */
export const SEAL_INFO = 'bottega environment of a dev instance'
/** 32 bytes of a key and 12 of a nonce: a key is made for one sealing, so the nonce may follow from it. */
export const DERIVED_BYTES = 44

/** What goes with the machine is said, and to which machine and environment it belongs. */
export const sealedFor = (id: string, version: string): string => `${id} ${version}`

/** The sender's key, made for this once, in base64url as a JWK has it; in base64 the sealed JSON with its tag behind it. */
export type SealedEnvironment = { key: string; data: string }
/**
 * - `sealed`: here it is, to the key that was sent
 * - `held`: the machine has said that it has it; it is brought no more
 * - `fetched`: it was brought to another key since this start; it is brought no more
 * - `ready`: it is brought to whoever sends a key
 */
export type EnvironmentAnswer = {
  version: string
  state: 'sealed' | 'held' | 'fetched' | 'ready'
  sealed?: SealedEnvironment
}

/** Names an environment at one start of the machine: a new one, or a new start, is brought anew. Null: there is none, or nowhere to bring it. */
export const environmentVersion = ({ env, machine, machineSince }: DevInstanceRow): string | null =>
  env === null || machine !== 'up'
    ? null
    : createHash('sha256').update(`${env.key}\n${machineSince}`).digest('hex').slice(0, 16)

/** `unseal key FOLDER` makes a pair for this start; `unseal open FOLDER ID ANSWER` keeps what was sealed to it. */
export const unsealScript = (): string => `'use strict'
// Makes the key that the environment is sealed to, and opens what was sealed to it. Nothing is printed of either.
const crypto = require('crypto')
const fs = require('fs')
const [what, folder, id, answer] = require('process').argv.slice(2)
const read = (name) => fs.readFileSync(name, 'utf8')
const keep = (name, content) => {
  fs.writeFileSync(folder + name + '.new', content, { mode: 0o600 })
  fs.renameSync(folder + name + '.new', folder + name)
}
if (what === 'key') {
  const { privateKey, publicKey } = crypto.generateKeyPairSync('x25519')
  keep('/seal.key', privateKey.export({ type: 'pkcs8', format: 'pem' }))
  keep('/seal.pub', publicKey.export({ format: 'jwk' }).x)
} else {
  const { version, sealed } = JSON.parse(read(answer)).environment
  const privateKey = crypto.createPrivateKey(read(folder + '/seal.key'))
  const publicKey = crypto.createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: sealed.key }, format: 'jwk' })
  const shared = crypto.diffieHellman({ privateKey, publicKey })
  const derived = Buffer.from(crypto.hkdfSync('sha256', shared, sealed.key + read(folder + '/seal.pub'), '${SEAL_INFO}', ${DERIVED_BYTES}))
  const data = Buffer.from(sealed.data, 'base64')
  const opener = crypto.createDecipheriv('aes-256-gcm', derived.subarray(0, 32), derived.subarray(32))
  opener.setAAD(Buffer.from(id + ' ' + version))
  opener.setAuthTag(data.subarray(-16))
  const env = JSON.parse(opener.update(data.subarray(0, -16), undefined, 'utf8') + opener.final('utf8'))
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error('no name of a variable')
    return 'export ' + name + "='" + value.replaceAll("'", "'\\\\''") + "'\\n"
  })
  keep('/env', lines.join(''))
  keep('/env.version', version)
}
`

/** Before a report: `$held_env` and `$seal_to`, empty where there is nothing to say. */
export const HELD_ENVIRONMENT = `
unseal=\${PREFIX:-${PREFIX}}/bin/unseal node=\${NODE:-${PREFIX}/node/bin/node}
seal_to='' held_env=''
if [ -r "$unseal" ] && [ -x "$node" ]; then
  if [ ! -s "$run/seal.pub" ]; then "$node" --jitless "$unseal" key "$run"; fi
  seal_to=$(cat "$run/seal.pub" 2>/dev/null)
fi
if [ -r "$run/env" ]; then held_env=$(cat "$run/env.version" 2>/dev/null); fi
`

/** After its answer. What was brought to another key is told to whoever logs in. */
export const TAKE_ENVIRONMENT = `
take_env() {
  case $(sed -n 's/.*"environment":{"version":"[0-9a-f]*","state":"\\([a-z]*\\)".*/\\1/p' "$work/answer") in
    sealed)
      rm -f "$run/env.fetched"
      "$node" --jitless "$unseal" open "$run" "\${id%%_*}" "$work/answer" 2>/dev/null ||
        echo 'the environment that was brought does not open, and is dropped' >&2
      ;;
    fetched) : > "$run/env.fetched" ;;
  esac
}
`
