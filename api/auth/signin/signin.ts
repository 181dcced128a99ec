/**
 * Signing in by a link that is mailed once: asked for, looked at, used. The API mails nothing itself; it queues, and the
 * mail sender derives the same link from the row's id. No answer, and no time of one, betrays which addresses have an account.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { isAlreadyExists } from '../../../controllers/base/errors.ts'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { Kube } from '../../../controllers/kube/kube.ts'
import type { Pg } from '../../../controllers/store/pg/pg.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import { GROUP, VERSION } from '../../../crds/kernel/object.ts'
import { EMAIL_MAX, EMAIL_PATTERN } from '../../../crds/kernel/schema.ts'
import { waitFor } from '../../command/look.ts'
import type { OwnMirror, OwnWaiter } from '../../command/own.ts'

/** How long a link opens. */
export const LINK_MS = 15 * 60 * 1000
/** Links that one address is sent in that time without a pause; then one a minute. */
export const LINKS_MAX = 5
const EMAIL = new RegExp(EMAIL_PATTERN, 'u')
/** A path on this host, without anything that a browser could read as another one. */
const PATH = /^\/(?:[\w\-.~][\w\-./~]*)?$/
export const HOME = '/account/tokens'

export type Link = { id: string; email: string; next: string }

export type SignIn = {
  /** Queues a link for the holder of the address, if there is such an account (or may be one). */
  ask(about: { email: string; next: string }): Promise<void>
  /** What a link leads to; null for one that was not made here, was used, or is over. Changes nothing. */
  look(token: string): Promise<Link | null>
  /** Takes the link: true for one caller only. */
  use(id: string): Promise<boolean>
  /** The account of an address that was proved to be the caller's. Makes one where sign-up is open; else null. */
  accountOf(email: string): Promise<string | null>
  signUp: 'open' | 'closed'
}

export const isEmail = (text: string): boolean => text.length <= EMAIL_MAX && EMAIL.test(text)

/** Where to go after signing in: a path of ours, whatever was asked for. */
export const nextPath = (wanted: string | null | undefined): string =>
  wanted && wanted.length <= 500 && PATH.test(wanted) ? wanted : HOME

export type SignInDeps = {
  pg: Pg
  kube: Kube
  keys: Keys
  waiter: OwnWaiter
  mirror: OwnMirror
  namespace: string
  publicUrl: string
  now: () => Date
  signUp: 'open' | 'closed'
}

const ASK = 'select ask_signin($1, $2, $3, $4, $5, $6, $7, $8)'
const LOOK = `
select id, email, next_path as next from signins where id = $1 and used_at is null and expires_at > $2`
const USE = `
update signins set used_at = $2 where id = $1 and used_at is null and expires_at > $2 returning id`
/** Should two accounts have one address, the older one is meant, always. */
const FIND = `
select account from mirror where kind = 'Account' and lower((view ->> 'email') collate "C") = lower($1 collate "C")
order by created_at, name limit 1`

/** Any host, as the right-hand side of a Message-ID. */
const mailHost = (publicUrl: string): string => new URL(publicUrl).hostname.replace(/[^\w.-]/g, '') || 'localhost'

export const makeSignIn = (deps: SignInDeps): SignIn => {
  const { pg, kube, keys, namespace, now, signUp } = deps
  const nameKey = keys.lastingKey('account-name')
  const host = mailHost(deps.publicUrl)

  const find = async (email: string): Promise<string | null> => {
    const { rows } = await pg.query<{ account: string }>('account_by_email', FIND, [email])
    return rows[0]?.account ?? null
  }

  /** One address always leads to one name, so that two confirmations at once make one account. */
  const create = async (email: string): Promise<string | null> => {
    const name = `acct-${createHmac('sha256', nameKey).update(email.toLowerCase()).digest('hex').slice(0, 20)}`
    const object = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: ACCOUNT.kind,
      metadata: { name, namespace },
      spec: { email },
    }
    const seen = await waitFor(deps, {
      kind: ACCOUNT,
      name,
      whose: { because: 'itself' },
      async act() {
        await kube.create(ACCOUNT, object).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error
        })
        return {}
      },
      judge: (_goal, row) => (row === undefined ? 'pending' : 'decided'),
      conclude: async () => true as const,
    })
    return seen ? await find(email) : null
  }

  return {
    signUp,
    ask: async ({ email, next }) => {
      const id = randomBytes(16).toString('base64url')
      const at = now()
      const until = new Date(at.getTime() + LINK_MS)
      const messageId = `<signin.${randomBytes(12).toString('hex')}@${host}>`
      const values = [id, email, next, signUp === 'open', messageId, at.toISOString(), until.toISOString(), LINKS_MAX]
      await pg.query('ask_signin', ASK, values)
    },
    look: async (token) => {
      const id = keys.signinOfToken(token)
      if (id === null) return null
      const { rows } = await pg.query<Link>('look_signin', LOOK, [id, now().toISOString()])
      return rows[0] ?? null
    },
    use: async (id) => (await pg.query('use_signin', USE, [id, now().toISOString()])).rows.length === 1,
    accountOf: async (email) => (await find(email)) ?? (signUp === 'open' ? create(email) : null),
  }
}
