/**
 * Deliveries with what a receiver is to say of them, for api/client/receivers/vectors.json. Written anew with
 * `node test/support/builders/webhookvectors.ts > api/client/receivers/vectors.json`; a test holds the file to it.
 */
import { createHash, createHmac } from 'node:crypto'
import { type SignatureHeaders, secretOf, signatureHeaders } from '../../../crds/webhook/signature.ts'

export type Vector = {
  name: string
  /** When it is received, in seconds since 1970. */
  now: number
  /** What the receiver has. */
  secret: string
  headers: SignatureHeaders
  body: string
  service: boolean
  standard: boolean
}

const NOW = 1_795_348_800
const ID = `evt_${'0123456789abcdef'.repeat(2)}`
const secretNamed = (name: string): string => secretOf(createHash('sha256').update(`vector ${name}`).digest())
const SECRET = secretNamed('current')
const PREVIOUS = secretNamed('previous')
const STRANGE = secretNamed('strange')

const eventWith = (data: object): string =>
  JSON.stringify({
    id: ID,
    type: 'invoice.paid',
    created_at: '2026-11-22T12:00:00.000Z',
    sequence: 7,
    test: true,
    data,
  })
const BODY = eventWith({ invoice: { id: 'inv-1', external_ref: 'order-1002', total_cents: 144000 } })
const UNICODE = eventWith({ invoice: { id: 'inv-1', metadata: { note: 'Žluťoučký kůň – 請求書 🧾 \u2028' } } })

const signed = (body: string, secrets: readonly string[] = [SECRET], t = NOW): SignatureHeaders =>
  signatureHeaders({ secrets, id: ID, body, at: new Date(t * 1000) })

/** Signed as ours are, but over milliseconds. */
const signedMilliseconds = (): SignatureHeaders => {
  const t = `${NOW}000`
  const bytes = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  return {
    'x-service-signature': `t=${t},v1=${createHmac('sha256', SECRET).update(`${t}.${BODY}`).digest('hex')}`,
    'webhook-id': ID,
    'webhook-timestamp': t,
    'webhook-signature': `v1,${createHmac('sha256', bytes).update(`${ID}.${t}.${BODY}`).digest('base64')}`,
  }
}

const changed = (header: keyof SignatureHeaders, change: (value: string) => string): SignatureHeaders => {
  const headers = signed(BODY)
  return { ...headers, [header]: change(headers[header]) }
}

type Case = Partial<Pick<Vector, 'secret' | 'body' | 'headers'>> & { valid: boolean | { service: boolean } }
const DOCUMENT_ONLY = { service: true }
const STANDARD_ONLY = { service: false }

const CASES: Record<string, Case> = {
  good: { valid: true },
  'unicode body': { body: UNICODE, headers: signed(UNICODE), valid: true },
  'empty data': { body: eventWith({}), headers: signed(eventWith({})), valid: true },
  '300 seconds old': { headers: signed(BODY, [SECRET], NOW - 300), valid: true },
  '300 seconds ahead': { headers: signed(BODY, [SECRET], NOW + 300), valid: true },
  'two v1, the right one first': { headers: signed(BODY, [SECRET, PREVIOUS]), valid: true },
  'two v1, the right one second': { headers: signed(BODY, [SECRET, PREVIOUS]), secret: PREVIOUS, valid: true },
  'two v1, none of them right': { headers: signed(BODY, [SECRET, PREVIOUS]), secret: STRANGE, valid: false },
  'of another secret': { headers: signed(BODY, [STRANGE]), valid: false },
  '301 seconds old': { headers: signed(BODY, [SECRET], NOW - 301), valid: false },
  '301 seconds ahead': { headers: signed(BODY, [SECRET], NOW + 301), valid: false },
  'in milliseconds': { headers: signedMilliseconds(), valid: false },
  'one more line end in the body': { body: `${BODY}\n`, headers: signed(BODY), valid: false },
  'the body written again': { body: JSON.stringify(JSON.parse(BODY), null, 2), headers: signed(BODY), valid: false },
  'no body': { body: '', headers: signed(BODY), valid: false },
  'bad v1': { headers: changed('x-service-signature', (v) => v.replace(/.{4}$/, '0000')), valid: STANDARD_ONLY },
  'v1 cut short': { headers: changed('x-service-signature', (v) => v.slice(0, -2)), valid: STANDARD_ONLY },
  'v1 in upper case': {
    headers: changed('x-service-signature', (v) => `${v.slice(0, -64)}${v.slice(-64).toUpperCase()}`),
    valid: STANDARD_ONLY,
  },
  'no v1': { headers: changed('x-service-signature', (v) => v.replace(/,.*/, '')), valid: STANDARD_ONLY },
  'no t': { headers: changed('x-service-signature', (v) => v.replace(/^t=\d+,/, '')), valid: STANDARD_ONLY },
  'another t': {
    headers: changed('x-service-signature', (v) => v.replace(/^t=\d+/, `t=${NOW - 1}`)),
    valid: STANDARD_ONLY,
  },
  'a t that is no number': {
    headers: changed('x-service-signature', (v) => v.replace(/^t=\d+/, 't=noon')),
    valid: STANDARD_ONLY,
  },
  'no signature of the document': { headers: changed('x-service-signature', () => ''), valid: STANDARD_ONLY },
  'another webhook-id': { headers: changed('webhook-id', (v) => v.replace(/.$/, '0')), valid: DOCUMENT_ONLY },
  'another webhook-timestamp': { headers: changed('webhook-timestamp', () => String(NOW - 1)), valid: DOCUMENT_ONLY },
  'bad webhook-signature': {
    headers: changed('webhook-signature', (v) => v.replace(/.{5}$/, 'AAAA=')),
    valid: DOCUMENT_ONLY,
  },
  'no webhook-signature': { headers: changed('webhook-signature', () => ''), valid: DOCUMENT_ONLY },
  'a further version beside v1': {
    headers: {
      ...changed('x-service-signature', (v) => `${v},v2=00`),
      'webhook-signature': `v1a,AAAA ${signed(BODY)['webhook-signature']}`,
    },
    valid: true,
  },
}

export const vectors = (): Vector[] =>
  Object.entries(CASES).map(([name, { secret = SECRET, body = BODY, headers = signed(body), valid }]) => {
    const service = typeof valid === 'boolean' ? valid : valid.service
    const standard = typeof valid === 'boolean' ? valid : !valid.service
    return { name, now: NOW, secret, headers, body, service, standard }
  })

/** The text of the file. */
export const vectorsText = (): string => `${JSON.stringify({ tolerance_seconds: 300, vectors: vectors() }, null, 2)}\n`

if (import.meta.main) process.stdout.write(vectorsText())
