/** Secrets that stand in what REST is asked and answers: read at the one door by which tests call. */

import { randomBytes } from 'node:crypto'
import type { SecretName } from './kinds.ts'
import { keepText, plant, plantLong } from './plant.ts'

/** Each with the part that is secret as its first group. */
const SHOWN: readonly [SecretName, RegExp][] = [
  ['token', /\bbtg_[0-9a-f]{16}_([\w-]{27})/g],
  ['report token', /\bdbr_[a-z0-9.-]+_([\w-]{27})[A-Za-z0-9]{6}\b/g],
  ['webhook secret', /\bwhsec_([A-Za-z0-9+/]{43}=)/g],
  ['password of a page', /"password": ?"([2-9A-HJ-NP-Za-km-z]{12})"/g],
  ['link to a page', /\/i\/[\w~-]+\.([\w-]{22})/g],
  ['link to a preview', /\/preview\/[\w~-]+\.([\w-]{22})/g],
  ['link to a review', /\/review\/[\w~-]+\.([\w-]{22})/g],
  ['form token', /name="form_token" value="([\w-]{22})"/g],
]
const COOKIES: readonly [SecretName, RegExp][] = [
  ['session', /bottega_session=[\w-]+\.[\w-]+\.([\w-]{40,})/],
  ['visit of a page', /bottega_page=\d+\.([\w-]{40,})/],
  ['visit of an app', /bottega_access=\d+\.([\w-]{40,})/],
  ['visit of a provider', /bottega_visit=([\w.-]{40,})/],
]
/** What shows examples. */
const SAMPLES = /^\/(api\/openapi|problems|client)/
const KEEPS_OUTCOME = /^\/api\/(apps\/)?operations\//
const REFUSED = 400

const plantFound = (kind: SecretName, pattern: RegExp, text: string): void => {
  for (const [, secret] of text.matchAll(pattern)) if (secret !== undefined) plant(kind, secret)
}

/** The lines of a key in PEM, each by itself: a copy may hold them with other breaks. */
export const linesOfKey = (pem: string): string[] =>
  pem.split(/\r?\n|\\n/).filter((line) => line.length >= 40 && !line.startsWith('-----'))

/** Credentials that are shown in a kept answer, whatever they are. */
export const credentialsIn = (text: string): string[] =>
  SHOWN.filter(([kind]) => !kind.startsWith('link') && kind !== 'form token').flatMap(([, pattern]) =>
    [...text.matchAll(pattern)].flatMap(([, secret]) => secret ?? []),
  )

const plantAsked = (path: string, body: unknown): void => {
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return
  const { password, private_key: key, env } = body as { password?: unknown; private_key?: unknown; env?: unknown }
  if (typeof key === 'string') for (const line of linesOfKey(key)) plant('private key of a host', line)
  const opens: SecretName = path.startsWith('/api/apps/registries') ? 'login for a registry' : 'password of an app'
  if (typeof password === 'string' && path.startsWith('/api/apps')) plantLong(opens, password)
  if (typeof env !== 'object' || env === null) return
  const kind: SecretName = path.startsWith('/api/apps') ? 'env of an app' : 'env of a dev instance'
  for (const value of Object.values(env)) if (isMarked(value)) plant(kind, value)
}

/** A value that a test chose to be found nowhere; any other may be an ordinary word. */
const MARK = 'canary-'
/** Such a value. */
export const canaryValue = (name: string): string => `${MARK}${name}-${randomBytes(9).toString('hex')}`
export const isMarked = (value: unknown): value is string => typeof value === 'string' && value.startsWith(MARK)

/** @returns it */
export const plantToken = (token: string): string => {
  plantFound('token', /btg_[0-9a-f]{16}_([\w-]{27})/g, token)
  return token
}

export type Exchange = {
  path: string
  body: unknown
  answer: { status: number; text: string; cookies: readonly string[] }
}

/** @param cookies as they are set */
export const noteCookies = (cookies: readonly string[]): void => {
  for (const cookie of cookies)
    for (const [kind, pattern] of COOKIES) {
      const secret = pattern.exec(cookie)?.[1]
      if (secret !== undefined) plant(kind, secret)
    }
}

/** Notes the secrets of one call, and keeps the text where none may stand. */
export const noteExchange = ({ path, body, answer }: Exchange): void => {
  const { status, text, cookies } = answer
  if (SAMPLES.test(path)) return
  if (status >= REFUSED) {
    keepText('refusal', 'bodies', text)
    return
  }
  plantAsked(path, body)
  if (KEEPS_OUTCOME.test(path)) keepText('operation', 'outcomes', text)
  for (const [kind, pattern] of SHOWN) plantFound(kind, pattern, text)
  noteCookies(cookies)
}
