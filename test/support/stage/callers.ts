import { makeSessions, type Sessions } from '../../../api/auth/signin/session.ts'
import { makeTokenStore, type NewToken, type TokenStore } from '../../../api/auth/token-store.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { plantToken } from '../canaries/answers.ts'
import { plant } from '../canaries/plant.ts'
import { call, eventually, type Json, type Platform, type Reply } from './invoicing.ts'

/** Mints tokens and sessions for a running platform, past its doors, as its own processes would. */
export type Minter = {
  tokens: TokenStore
  sessions: Sessions
  /** The whole token. */
  token(account: string, change?: Partial<NewToken>): Promise<{ id: string; secret: string }>
  session(account: string): Promise<string>
  end(): Promise<void>
}

export function makeMinter({ database, keys, baseUrl }: Platform): Minter {
  const pg = makePg({ url: database.apiUrl, max: 4 })
  const tokens = makeTokenStore({ pg, keys })
  const now = () => new Date()
  const idleMs = 86_400_000
  const sessions = makeSessions({ pg, keys, publicUrl: baseUrl, now, nowMs: () => performance.now(), idleMs })
  return {
    tokens,
    sessions,
    async token(account, change = {}) {
      const plain = { account, name: 'test', scopes: ['invoices:read'] as const, preset: null, expiresAt: null }
      const minted = await tokens.mint({ ...plain, ...change })
      if (minted === null) throw new Error(`${account} has too many tokens`)
      return { id: minted.token.id, secret: plantToken(minted.secret) }
    },
    session: async (account) => {
      const { jwt } = await sessions.issue(account, 'mail')
      plant('session', jwt.split('.')[2] ?? '')
      return jwt
    },
    end: () => pg.close(),
  }
}

type AccountSpec = { role?: string; teams?: string[]; capabilities?: string[]; aiPerDay?: number; limits?: object }

/** Makes an account, waits until the API knows it, and gives a token of it with full access. */
export async function addAccount(platform: Platform, name: string, spec: AccountSpec): Promise<string> {
  const metadata = { name, namespace: platform.namespace.name }
  const whole = { email: `${name}@demo.test`, name, plan: 'pro', ...spec }
  await platform.kubectl(['apply', '-f', '-'], {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Account',
    metadata,
    spec: whole,
  })
  const token = await platform.token(name)
  const isKnown = async () => (await call(platform.baseUrl, token, 'GET', '/api/auth/tokens/self')).status === 200
  await eventually(`the account ${name}`, isKnown)
  return token
}

/** Calls by whoever a token is kept of, under a name; nobody's where none is. @param of as it is by then */
export const makeCallers = (of: { platform(): Platform; tokens: Readonly<Record<string, string>> }) => {
  const as = (who: string, method: string, path: string, body?: unknown): Promise<Reply> =>
    call(of.platform().baseUrl, of.tokens[who] ?? null, method, path, body)
  /** @throws Error with what was answered, where it was refused */
  const must = async (who: string, method: string, path: string, body?: unknown): Promise<Json> => {
    const reply = await as(who, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`)
    return reply.json
  }
  return { as, must }
}

/** Waits until the controllers have a leader. */
export const someoneLeads = ({ metricsUrls }: Platform): Promise<boolean> =>
  eventually('somebody to lead', async () => {
    const page = await (await fetch(metricsUrls.controllers)).text()
    return /^bottega_epoch [1-9]/m.test(page)
  })
