/**
 * Why a receiver's check failed: which of body, secret, clock or header is wrong, and how it most likely came. Looks for a
 * secret and a body that make the signature come out right; what they have that the receiver's have not is the answer.
 */
import { createHmac } from 'node:crypto'
import { bodyFinding, repairedBodies } from './bodyfault.ts'
import { findingOf, inOrder, type WebhookFinding } from './findings.ts'
import { type Scheme, type Signature, signaturesOf } from './received.ts'
import { type KnownEndpoint, repairedSecrets, secretFindings, secretsOf } from './secretfault.ts'
import { isSameDigest, SECRET_PREFIX, TOLERANCE_SECONDS } from './signature.ts'

/** What a receiver got, and the secret as it holds it; `received_at` is an ISO time. */
export type Received = { body: string; headers: Readonly<Record<string, string>>; secret: string; received_at?: string }

/** What we know. `event` is the one the delivery says it is of, with the body that was sent, when the account has it. */
export type KnownSecret = { now: Date; event: { id: string; body: string } | null; endpoints: readonly KnownEndpoint[] }

export type SchemeVerdict = { present: boolean; valid: boolean }
/** `findings` is empty exactly when `valid`; the closest explanation comes first. */
export type SignatureVerdict = {
  valid: boolean
  schemes: Record<Scheme, SchemeVerdict>
  findings: WebhookFinding[]
}

/** From here on a number of seconds is a date after the year 5000: it is in milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

type Stamp = Pick<Signature, 'id' | 't'>
type Keying = 'text' | 'bytes'
const KEYED: Record<Scheme, Keying> = { service: 'text', standard: 'bytes' }

/** The key of a secret; null for one that has no bytes. Bytes are those of the tail, with or without the prefix. */
const keyOf = (secret: string, keying: Keying): Buffer | null => {
  if (keying === 'text') return Buffer.from(secret)
  const tail = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  const isBase64 = tail.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(tail)
  return isBase64 ? Buffer.from(tail, 'base64') : null
}

type Attempt = { secret: string; body: string; keying?: Keying; stamp?: Stamp }

/** The digest that a scheme would have written. */
const digestOf = (
  scheme: Scheme,
  { secret, body, keying = KEYED[scheme] }: Attempt,
  { id, t }: Stamp,
): string | null => {
  const key = keyOf(secret, keying)
  if (key === null) return null
  const hmac = createHmac('sha256', key)
  return scheme === 'service'
    ? hmac.update(`${t}.${body}`).digest('hex')
    : hmac.update(`${id}.${t}.${body}`).digest('base64')
}

const matches = (signature: Signature, attempt: Attempt, digests = signature.loose): boolean => {
  const digest = digestOf(signature.scheme, attempt, attempt.stamp ?? signature)
  return digest !== null && digests.some((one) => isSameDigest(one, digest))
}

type Scene = {
  received: Received
  known: KnownSecret
  signatures: readonly Signature[]
  /** When it was received, in ms. */
  at: number
}

const isNumber = ({ t }: Stamp): boolean => /^\d+$/.test(t)
/** How far the receiver's clock is from the timestamp, in seconds; more than 0 when the timestamp is back. */
const behind = ({ at }: Scene, { t }: Stamp): number => Math.floor(at / 1000) - Number(t)

/** What a careful receiver would say. */
const passes = (scene: Scene, signature: Signature): boolean =>
  isNumber(signature) &&
  Math.abs(behind(scene, signature)) <= TOLERANCE_SECONDS &&
  matches(signature, scene.received, signature.strict)

const inSeconds = (t: string): string => (Number(t) >= MILLISECONDS_FROM ? String(Math.floor(Number(t) / 1000)) : t)

/** Stamps that a signature may have been made with, when it was not with its own. */
const otherStamps = ({ signatures, known }: Scene, { scheme, id, t }: Signature): Stamp[] => {
  const times = new Set([t, ...signatures.map((one) => one.t)].flatMap((one) => [one, inSeconds(one)]))
  const ids = scheme === 'service' || known.event === null ? [id] : [id, known.event.id]
  const stamps = ids.flatMap((one) => [...times].map((time) => ({ id: one, t: time })))
  return stamps.filter((one) => one.id !== id || one.t !== t)
}

/** The secret and the body that were signed. */
type Proof = { secret: string; body: string }

const firstThat = (
  { signatures }: Scene,
  candidates: { secrets: readonly string[]; bodies: readonly string[] },
  fits: (signature: Signature, proof: Proof) => boolean,
): Proof | null => {
  for (const body of candidates.bodies) {
    for (const secret of candidates.secrets) {
      if (signatures.some((signature) => fits(signature, { secret, body }))) return { secret, body }
    }
  }
  return null
}

const KEYINGS: readonly Keying[] = ['text', 'bytes']

/** Looks where it is likeliest first: our own secrets and the bodies we know of, then what might have been done to them. */
const proofOf = (scene: Scene): Proof | null => {
  const { received, known } = scene
  const ours = secretsOf(known.endpoints)
  const likely = [...new Set([received.body, ...(known.event === null ? [] : [known.event.body])])]
  const bodies = [...likely, ...repairedBodies(received.body)]
  // while two secrets sign, the one that the receiver has is the one that counts
  const own = ours.filter((secret) => secret === received.secret)
  const secrets = [...new Set([...own, ...ours, ...repairedSecrets(received.secret)])]
  return (
    firstThat(scene, { secrets, bodies }, matches) ??
    firstThat(scene, { secrets, bodies: likely }, (signature, proof) =>
      otherStamps(scene, signature).some((stamp) => matches(signature, { ...proof, stamp })),
    ) ??
    firstThat(scene, { secrets, bodies: likely }, (signature, proof) =>
      KEYINGS.some((keying) => matches(signature, { ...proof, keying })),
    )
  )
}

/** What is wrong with one signature, where it is known what it should have been made of. */
const signatureFindings = (scene: Scene, signature: Signature, proof: Proof): WebhookFinding[] => {
  if (signature.faults.length > 0 || matches(signature, proof)) return []
  const stamp = otherStamps(scene, signature).find((one) => matches(signature, { ...proof, stamp: one }))
  if (stamp !== undefined) {
    const isId = stamp.id !== signature.id
    const isTime = stamp.t !== signature.t && stamp.t !== inSeconds(signature.t)
    return [...(isId ? [findingOf('WEBHOOK_ID_CHANGED')] : []), ...(isTime ? [findingOf('TIMESTAMP_CHANGED')] : [])]
  }
  const other = KEYED[signature.scheme] === 'text' ? 'bytes' : 'text'
  if (matches(signature, { ...proof, keying: other }))
    return [findingOf(other === 'bytes' ? 'KEY_DECODED' : 'KEY_NOT_DECODED')]
  return [findingOf('SIGNATURE_CHANGED')]
}

/** No secret and no body that can be thought of were signed: what can be told by looking at each alone. */
const unprovenFindings = (
  { received, known, signatures }: Scene,
  secret: readonly WebhookFinding[],
): WebhookFinding[] => {
  const { event } = known
  const body = event !== null && event.body !== received.body ? [bodyFinding(received.body, event.body)] : []
  const isFormWrong = signatures.length === 0 || signatures.some(({ faults }) => faults.length > 0)
  if (isFormWrong || secret.length > 0) return body
  return [...body, findingOf(event === null ? 'BODY_OR_HEADER_CHANGED' : 'SIGNATURE_CHANGED')]
}

const clockFinding = (scene: Scene, stamp: Stamp): WebhookFinding[] => {
  if (Number(stamp.t) >= MILLISECONDS_FROM) return [findingOf('T_IN_MILLISECONDS')]
  const seconds = behind(scene, stamp)
  const from = scene.received.received_at === undefined ? 'now; received_at was not given' : 'received_at'
  if (Math.abs(seconds) <= TOLERANCE_SECONDS) return []
  return [
    findingOf(
      seconds > 0 ? 'TIMESTAMP_TOO_OLD' : 'TIMESTAMP_IN_FUTURE',
      `It lies ${Math.abs(seconds)} s from ${from}.`,
    ),
  ]
}

/** A timestamp counts when it was signed, or when nothing says that it was not. */
const clockFindings = (scene: Scene, proof: Proof | null, others: readonly WebhookFinding[]): WebhookFinding[] => {
  const timed = scene.signatures.filter(isNumber)
  const isTrue = (one: Signature) =>
    proof !== null && [one, { id: one.id, t: inSeconds(one.t) }].some((stamp) => matches(one, { ...proof, stamp }))
  const proven = timed.filter(isTrue)
  const isDoubted = others.some(({ code }) => code === 'SIGNATURE_CHANGED' || code === 'TIMESTAMP_CHANGED')
  const counted = proven.length > 0 ? proven : isDoubted ? [] : timed
  return counted.flatMap((one) => clockFinding(scene, one)).slice(0, 1)
}

const findingsOf = (scene: Scene): WebhookFinding[] => {
  const { received, known, signatures, at } = scene
  const form = signatures.flatMap(({ faults }) => faults.map((fault) => findingOf(fault)))
  const missing = signatures.length === 0 ? [findingOf('SIGNATURE_MISSING')] : []
  const proof = proofOf(scene)
  const secret = secretFindings({
    received: received.secret,
    endpoints: known.endpoints,
    signed: proof?.secret ?? null,
    at,
    isServiceUsed: signatures.length === 0 || signatures.some(({ scheme }) => scheme === 'service'),
  })
  const rest =
    proof === null
      ? unprovenFindings(scene, secret)
      : [
          ...(proof.body === received.body ? [] : [bodyFinding(received.body, proof.body)]),
          ...signatures.flatMap((signature) => signatureFindings(scene, signature, proof)),
        ]
  return [...missing, ...form, ...secret, ...rest, ...clockFindings(scene, proof, rest)]
}

/** Judges one delivery as a receiver got it. Pure; the answer holds nothing of a secret or of a body. */
export const judge = (received: Received, known: KnownSecret): SignatureVerdict => {
  const signatures = signaturesOf(received.headers)
  const at = received.received_at === undefined ? known.now.getTime() : Date.parse(received.received_at)
  const scene: Scene = { received, known, signatures, at }
  const verdictOf = (scheme: Scheme): SchemeVerdict => {
    const signature = signatures.find((one) => one.scheme === scheme)
    return { present: signature !== undefined, valid: signature !== undefined && passes(scene, signature) }
  }
  const findings = inOrder(findingsOf(scene))
  return {
    valid: findings.length === 0,
    schemes: { service: verdictOf('service'), standard: verdictOf('standard') },
    findings,
  }
}
