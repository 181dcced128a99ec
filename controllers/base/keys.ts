/**
 * Everything that is derived from the one server key, so that nothing readable has to be stored and a replay can show it
 * again: links to client pages, their passwords, and the page's session (rules/platform.md#derived-keys).
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { makeSealer, type Sealer } from './seal.ts'

/** No 0/O, 1/l/I: read aloud and typed from paper. 56 characters, 12 of them are 69 bits. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz'
const PASSWORD_LENGTH = 12
/** 22 characters of base64url: 132 bits of the MAC. */
const MAC_LENGTH = 22

/** What a link that is itself the key may open. */
export type Purpose = 'preview' | 'review'
/** Hexadecimal digits. */
const INSTALLATION_LENGTH = 12
const NAME_BYTES = 16

export type Keys = {
  /** Names this installation where several may meet, as on a host. Tells nothing of the key. */
  installation: string
  /** `<name>.<mac>`: the unguessable last part of `/i/…`. */
  linkToken(name: string): string
  /** The resource that a link token names, or null when it was not made here. */
  nameOfLink(token: string): string | null
  /** `<name>.<mac>`: its holder opens one page about a thing, and no page of another purpose. */
  capability(purpose: Purpose, name: string): string
  /** The name in a capability, or null when it was not made here for this purpose. */
  nameOfCapability(purpose: Purpose, token: string): string | null
  /** The password of the n-th send of an invoice. */
  password(name: string, sendCount: number): string
  /** Compares in constant time. */
  passwordOpens(given: string, name: string, sendCount: number): boolean
  /** A cookie value that opens one invoice page, as sent the n-th time, until `untilMs`. */
  pageSession(name: string, sendCount: number, untilMs: number): string
  pageSessionOpens(cookie: string, name: string, sendCount: number, nowMs: number): boolean
  /** `<id>.<mac>`: the unguessable last part of a link to sign in by. Only the id is stored. */
  signinToken(id: string): string
  /** The id that a sign-in token names, or null when it was not made here. Compares in constant time. */
  signinOfToken(token: string): string | null
  /** Guards the forms of one session against posts from elsewhere. */
  formToken(sessionId: string): string
  formTokenFits(given: string, sessionId: string): boolean
  /** `<app>.<mac>`: by this an app's own proxy is believed when it says for which app it asks. */
  gateToken(app: string): string
  /** The app that a gate token names, or null when it was not made here. Compares in constant time. */
  appOfGate(token: string): string | null
  /** A cookie value that opens one private app, under its n-th password, until `untilMs`. */
  accessSession(app: string, passwordVersion: number, untilMs: number): string
  accessSessionOpens(cookie: string, app: string, passwordVersion: number, nowMs: number): boolean
  /** 16 bytes that name a resource after what it is for: nobody else can foresee them. */
  resourceName(of: string): Buffer
  /** For values that are stored and must not be readable in a copy of the database. */
  sealer(purpose: string): Sealer
}

const equal = (a: string, b: string): boolean => {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

const macOf = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, MAC_LENGTH)

const tokenOf = (key: Buffer, name: string): string => `${name}.${macOf(key, name)}`

const nameOfToken = (key: Buffer, token: string): string | null => {
  const dot = token.lastIndexOf('.')
  const name = token.slice(0, Math.max(dot, 0))
  return name !== '' && equal(token.slice(dot + 1), macOf(key, name)) ? name : null
}

/** `<until>.<mac>` of what it opens, and until when. */
const makeSessions = (key: Buffer) => {
  const mac = (name: string, n: number, until: string) =>
    createHmac('sha256', key).update(`${name}\n${n}\n${until}`).digest('base64url')
  return {
    make: (name: string, n: number, untilMs: number) => `${untilMs}.${mac(name, n, String(untilMs))}`,
    opens: (cookie: string, name: string, n: number, nowMs: number) => {
      const [until = '', given = ''] = cookie.split('.', 2)
      return /^[0-9]{13,16}$/.test(until) && Number(until) > nowMs && equal(given, mac(name, n, until))
    },
  }
}

const passwordOf = (key: Buffer, name: string, sendCount: number): string => {
  let text = ''
  for (let block = 0; text.length < PASSWORD_LENGTH; block++) {
    const bytes = createHmac('sha256', key).update(`${name}\n${sendCount}\n${block}`).digest()
    for (const byte of bytes) {
      // Bytes past the last whole multiple would favour the first letters.
      if (byte < ALPHABET.length * 4) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return text.slice(0, PASSWORD_LENGTH)
}

/** @param serverKey 32 bytes (BOTTEGA_SECRET_KEY) */
export const makeKeys = (serverKey: Buffer): Keys => {
  const derive = (label: string) => Buffer.from(hkdfSync('sha256', serverKey, '', `bottega/${label}`, 32))
  const linkKey = derive('link')
  const passwordKey = derive('password')
  const signinKey = derive('signin')
  const formKey = derive('form')
  const capabilityKeys: Record<Purpose, Buffer> = { preview: derive('preview'), review: derive('review') }
  const gateKey = derive('app-gate')
  const nameKey = derive('resource-name')
  const pages = makeSessions(derive('page-session'))
  const accesses = makeSessions(derive('app-access'))

  return {
    installation: derive('installation').toString('hex').slice(0, INSTALLATION_LENGTH),
    linkToken: (name) => tokenOf(linkKey, name),
    nameOfLink: (token) => nameOfToken(linkKey, token),
    capability: (purpose, name) => tokenOf(capabilityKeys[purpose], name),
    nameOfCapability: (purpose, token) => nameOfToken(capabilityKeys[purpose], token),
    signinToken: (id) => tokenOf(signinKey, id),
    signinOfToken: (token) => nameOfToken(signinKey, token),
    formToken: (sessionId) => macOf(formKey, sessionId),
    formTokenFits: (given, sessionId) => equal(given, macOf(formKey, sessionId)),

    password: (name, sendCount) => passwordOf(passwordKey, name, sendCount),
    passwordOpens: (given, name, sendCount) => equal(given, passwordOf(passwordKey, name, sendCount)),

    pageSession: pages.make,
    pageSessionOpens: pages.opens,

    gateToken: (app) => tokenOf(gateKey, app),
    appOfGate: (token) => nameOfToken(gateKey, token),
    resourceName: (of) => createHmac('sha256', nameKey).update(of).digest().subarray(0, NAME_BYTES),
    accessSession: accesses.make,
    accessSessionOpens: accesses.opens,
    sealer: (purpose) => makeSealer(serverKey, purpose),
  }
}
