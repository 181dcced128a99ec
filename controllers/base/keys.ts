/**
 * Everything that is derived from a root secret, so that nothing readable has to be stored and a replay can show it again: links
 * to client pages, their passwords, and the page's session (rules/platform.md#derived-keys). Roots are stored under the seal of
 * the key ring (controllers/store/installation/roots.ts): another ring changes nothing that is derived.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { FIRST_LINK } from '../../crds/values/links.ts'
import { deriveKey, type KeyRing, makeKeyRing } from './keyring.ts'
import { makeSealer, type Sealer } from './seal.ts'

/** No 0/O, 1/l/I: read aloud and typed from paper. 56 characters, 12 of them are 69 bits. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz'
const PASSWORD_LENGTH = 12
/** 22 characters of base64url: 132 bits of the MAC. */
const MAC_LENGTH = 22

/** What a link that is itself the key may open; that of a form opens nothing, it takes in. `access`: a private app. */
export type Purpose = 'preview' | 'review' | 'form' | 'access'
/** What a token says: whether that version is still good stands on record (crds/values/links.ts). */
export type NamedLink = { name: string; version: number }
/** The page of an invoice as a session was let in to it: as sent the n-th time, by these versions of its link and its password. */
export type PageStand = { name: string; n: number; link: number; password: number }
/** Hexadecimal digits. */
const INSTALLATION_LENGTH = 12
const NAME_BYTES = 16

/** 32 bytes each. What changes is asked for each time. */
export type Roots = {
  /** The first that was made. It names things, for ever: a reference leads to the same resource under every later root. */
  first: Buffer
  /** What is made now derives from it. */
  making(): Buffer
  /** What is shown to us may derive from any of these: all that were not retired. */
  holding(): readonly Buffer[]
}

export type Keys = {
  /** Names this installation where several may meet, as on a host. Tells nothing of the root. */
  installation: string
  /** `<name>.<mac>`, of a later version than the first `<name>~v<version>.<mac>`: the unguessable last part of `/i/…`. */
  linkToken(name: string, version: number): string
  /** The resource that a link token names, or null when it was not made here. */
  nameOfLink(token: string): NamedLink | null
  /** As a link token; its holder opens one page about a thing, and no page of another purpose. */
  capability(purpose: Purpose, name: string, version: number): string
  /** What a capability names, or null when it was not made here for this purpose. */
  nameOfCapability(purpose: Purpose, token: string): NamedLink | null
  /** The password of the n-th send of an invoice; of those the `version`-th. */
  password(name: string, sendCount: number, version: number): string
  /** Compares in constant time. */
  passwordOpens(given: string, of: Omit<PageStand, 'link'>): boolean
  /** A cookie value that opens one invoice page, until `untilMs`. */
  pageSession(of: PageStand, untilMs: number): string
  pageSessionOpens(cookie: string, of: PageStand, nowMs: number): boolean
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
  /** The key for one purpose that outlasts every change of roots: of what names or recognises, and opens nothing. 32 bytes. */
  lastingKey(purpose: string): Buffer
  /** What a stored token is compared by. It outlasts every change of roots: whoever has the root still has no token. */
  tokenHash(secret: string): Buffer
  /** Bytes that nobody else can foresee, the same for the same text until another root makes. */
  drawn(text: string): Buffer
  /** 32 bytes each, for keys that sign: the first signs, and what any of them signed holds. */
  signingSeeds(purpose: string): Buffer[]
  /** For values that are stored and must not be readable in a copy of the database. */
  sealer(purpose: string): Sealer
  /** For what somebody else keeps for a while and brings back. */
  visitSealer(purpose: string): Sealer
  /** What `sealer` seals under. */
  ring: KeyRing
}

const equal = (a: string, b: string): boolean => {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

const macOf = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, MAC_LENGTH)

/** The key for one purpose: of the root that makes, and of all that hold. */
type Family = { making(): Buffer; holding(): Buffer[] }

const makeFamilies = (roots: Roots): ((derive: (root: Buffer) => Buffer) => Family) => {
  return (derive) => {
    const known = new Map<Buffer, Buffer>()
    const of = (root: Buffer): Buffer => {
      const found = known.get(root) ?? derive(root)
      known.set(root, found)
      return found
    }
    return { making: () => of(roots.making()), holding: () => roots.holding().map(of) }
  }
}

const tokenOf = ({ making }: Family, name: string): string => `${name}.${macOf(making(), name)}`

const nameOfToken = ({ holding }: Family, token: string): string | null => {
  const dot = token.lastIndexOf('.')
  const name = token.slice(0, Math.max(dot, 0))
  return name !== '' && holding().some((key) => equal(token.slice(dot + 1), macOf(key, name))) ? name : null
}

/** No name of a resource holds the mark, and what the first version was made of is the name alone: those of before hold. */
const VERSION_MARK = '~v'
const VERSIONED = /^(.+)~v([2-9]|[1-9][0-9]{1,6})$/

const versioned = (name: string, version: number): string =>
  version === FIRST_LINK ? name : `${name}${VERSION_MARK}${version}`

const namedBy = (family: Family, token: string): NamedLink | null => {
  const text = nameOfToken(family, token)
  if (text === null) return null
  const [, name = text, version = FIRST_LINK] = VERSIONED.exec(text) ?? []
  return { name, version: Number(version) }
}

/** One text for each way in, which of the first versions is the name alone. */
const standOf = ({ name, link, password }: PageStand): string => {
  const text = versioned(name, link)
  return password === FIRST_LINK ? text : `${text}~p${password}`
}

/** `<until>.<mac>` of what it opens, and until when. */
const makeSessions = ({ making, holding }: Family) => {
  const mac = (key: Buffer, name: string, n: number, until: string) =>
    createHmac('sha256', key).update(`${name}\n${n}\n${until}`).digest('base64url')
  return {
    make: (name: string, n: number, untilMs: number) => `${untilMs}.${mac(making(), name, n, String(untilMs))}`,
    opens: (cookie: string, name: string, n: number, nowMs: number) => {
      const [until = '', given = ''] = cookie.split('.', 2)
      if (!/^[0-9]{13,16}$/.test(until) || Number(until) <= nowMs) return false
      return holding().some((key) => equal(given, mac(key, name, n, until)))
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

/** One secret that never changes. @param secret 32 bytes */
export const soleRoot = (secret: Buffer): Roots => ({ first: secret, making: () => secret, holding: () => [secret] })

/** As from one key alone, which is root and ring: for what has no database. @param key 32 bytes */
export const keysOfOne = (key: Buffer): Keys => makeKeys({ roots: soleRoot(key), ring: makeKeyRing([key]) })

export const installationOf = (root: Buffer): string =>
  deriveKey(root, 'installation').toString('hex').slice(0, INSTALLATION_LENGTH)

/** Not by deriveKey: the first tokens were hashed under this one. */
const tokenKeyOf = (root: Buffer): Buffer => createHmac('sha256', root).update('tokens').digest()

export const makeKeys = ({ roots, ring }: { roots: Roots; ring: KeyRing }): Keys => {
  const family = makeFamilies(roots)
  const derive = (label: string) => family((root) => deriveKey(root, label))
  const link = derive('link')
  const passwords = derive('password')
  const signin = derive('signin')
  const form = derive('form')
  const gate = derive('app-gate')
  const capabilities: Record<Purpose, Family> = {
    preview: derive('preview'),
    review: derive('review'),
    form: derive('site-form'),
    access: derive('app-access-link'),
  }
  const draws = family(tokenKeyOf)
  const nameKey = deriveKey(roots.first, 'resource-name')
  const tokenKey = tokenKeyOf(roots.first)
  const pages = makeSessions(derive('page-session'))
  const accesses = makeSessions(derive('app-access'))

  return {
    installation: installationOf(roots.first),
    linkToken: (name, version) => tokenOf(link, versioned(name, version)),
    nameOfLink: (token) => namedBy(link, token),
    capability: (purpose, name, version) => tokenOf(capabilities[purpose], versioned(name, version)),
    nameOfCapability: (purpose, token) => namedBy(capabilities[purpose], token),
    signinToken: (id) => tokenOf(signin, id),
    signinOfToken: (token) => nameOfToken(signin, token),
    formToken: (sessionId) => macOf(form.making(), sessionId),
    formTokenFits: (given, sessionId) => form.holding().some((key) => equal(given, macOf(key, sessionId))),

    password: (name, sendCount, version) => passwordOf(passwords.making(), versioned(name, version), sendCount),
    passwordOpens: (given, { name, n, password }) =>
      passwords.holding().some((key) => equal(given, passwordOf(key, versioned(name, password), n))),

    pageSession: (of, untilMs) => pages.make(standOf(of), of.n, untilMs),
    pageSessionOpens: (cookie, of, nowMs) => pages.opens(cookie, standOf(of), of.n, nowMs),

    gateToken: (app) => tokenOf(gate, app),
    appOfGate: (token) => nameOfToken(gate, token),
    resourceName: (of) => createHmac('sha256', nameKey).update(of).digest().subarray(0, NAME_BYTES),
    accessSession: accesses.make,
    accessSessionOpens: accesses.opens,
    lastingKey: (purpose) => deriveKey(roots.first, purpose),
    tokenHash: (secret) => createHmac('sha256', tokenKey).update(secret).digest(),
    drawn: (text) => createHmac('sha256', draws.making()).update(text).digest(),
    signingSeeds: (purpose) => {
      const { making, holding } = derive(`sign ${purpose}`)
      const first = making()
      return [first, ...holding().filter((seed) => !seed.equals(first))]
    },
    sealer: (purpose) => makeSealer(ring, purpose),
    visitSealer: (purpose) => ({
      seal: (plain, about) => makeSealer(makeKeyRing([roots.making()]), purpose).seal(plain, about),
      open: (sealed, about) => makeSealer(makeKeyRing(roots.holding()), purpose).open(sealed, about),
    }),
    ring,
  }
}
