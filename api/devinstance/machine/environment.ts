/**
 * The environment on its way to the machine: sealed to the key that it sent, once (rules/devinstance.md#how-the-environment-comes).
 * What is on record of it are names and the digest of that key.
 */
import { createCipheriv, createHash, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { heldOf, type Report } from '../../../crds/devinstance/bootstrap/report.ts'
import {
  DERIVED_BYTES,
  type EnvironmentAnswer,
  environmentVersion,
  SEAL_INFO,
  type SealedEnvironment,
  sealedFor,
} from '../../../crds/devinstance/bootstrap/unseal.ts'
import type { ShownDevInstance } from '../../../crds/devinstance/view.ts'
import type { ApiRequest } from '../../http/route.ts'
import { recordAudit } from '../../http/stages/audit.ts'
import { pathOf } from '../find.ts'
import type { DevInstanceNeeds } from '../needs.ts'

const x25519 = (x: string) => createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })

/**
 * @param to an X25519 key, in base64url as a JWK has it
 * @throws Error for a point of small order, with which everybody would share the secret
 */
export const sealTo = (to: string, belongs: string, plain: Buffer): SealedEnvironment => {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const sender = String(publicKey.export({ format: 'jwk' }).x)
  const shared = diffieHellman({ privateKey, publicKey: x25519(to) })
  const derived = Buffer.from(hkdfSync('sha256', shared, sender + to, SEAL_INFO, DERIVED_BYTES))
  const sealer = createCipheriv('aes-256-gcm', derived.subarray(0, 32), derived.subarray(32))
  sealer.setAAD(Buffer.from(belongs))
  const data = Buffer.concat([sealer.update(plain), sealer.final(), sealer.getAuthTag()])
  return { key: sender, data: data.toString('base64') }
}

/** Whether anything can be sealed to it: with a point of small order everybody shares the secret. */
const takesSeals = (to: string): boolean => {
  try {
    sealTo(to, '', Buffer.alloc(0))
    return true
  } catch {
    return false
  }
}

/** As `ssh-keygen` would tell it. */
const digestOf = (key: string): string =>
  `SHA256:${createHash('sha256').update(key, 'base64url').digest('base64').replaceAll('=', '')}`

type EnvironmentNeeds = Pick<DevInstanceNeeds, 'devInstances' | 'vault' | 'audit' | 'now'>
type Bringing = { stored: ShownDevInstance; version: string; key: string; at: string; request: ApiRequest }

/** On record before anything is sealed: in the history of the instance, and in the audit of its owner; names only. */
const told = async (deps: EnvironmentNeeds, { stored, version, key, at, request }: Bringing): Promise<void> => {
  const { id, owner, box } = stored
  const keys = box.env?.keys ?? []
  const by = { account: owner, kind: 'instance', id }
  await deps.devInstances.note(id, { kind: 'env.fetched', at, by, data: { keys, version, to: digestOf(key) } })
  await recordAudit(deps, {
    account: owner,
    who: { kind: 'report', id },
    verb: 'environment brought to its dev instance',
    resource: `${pathOf(id)}/env`,
    fields: keys.map((name) => `env.${name}`),
    ip: request.ip,
    requestId: request.requestId,
    status: 200,
  })
}

const bring = async (deps: EnvironmentNeeds, bringing: Bringing): Promise<EnvironmentAnswer> => {
  const { stored, version, key, at } = bringing
  const { id, owner, box } = stored
  const outcome = await deps.devInstances.bringEnv(id, { version, recipient: digestOf(key), at })
  if (outcome === 'refused' || outcome === 'refused before') {
    const by = { account: owner, kind: 'instance', id }
    const data = { version, to: digestOf(key) }
    if (outcome === 'refused') await deps.devInstances.note(id, { kind: 'env.refused', at, by, data })
    return { version, state: 'fetched' }
  }
  const kept = box.env && (await deps.devInstances.env(id, box.env.key))
  if (!kept) return { version, state: 'ready' }
  if (outcome === 'brought') await told(deps, bringing)
  const plain = Buffer.from(JSON.stringify(deps.vault.open(id, kept)), 'utf8')
  return { version, state: 'sealed', sealed: sealTo(key, sealedFor(id, version), plain) }
}

/** What the answer to a report says of the environment, to a machine that speaks of it. */
export const environmentFor = async (
  deps: EnvironmentNeeds,
  stored: ShownDevInstance,
  request: ApiRequest,
): Promise<{ environment?: EnvironmentAnswer | null }> => {
  const body = request.body as Report
  const { envVersion } = heldOf(request.body as Record<string, unknown>)
  if (body.sealTo === undefined && envVersion === undefined) return {}
  const version = environmentVersion(stored.box)
  if (version === null) return { environment: null }
  const at = deps.now().toISOString()
  if (envVersion === version) {
    await deps.devInstances.holdsEnv(stored.id, version, at)
    return { environment: { version, state: 'held' } }
  }
  const key = body.sealTo ?? ''
  if (!takesSeals(key)) return { environment: { version, state: 'ready' } }
  return { environment: await bring(deps, { stored, version, key, at, request }) }
}
