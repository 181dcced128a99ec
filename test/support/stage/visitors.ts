/** Visitors of a platform's pages in a real browser, strangers and the signed-in owner of `demo`. */
import type { Browser } from 'playwright-core'
import { sessionsOf } from '../builders/account.ts'
import { type Visitor, type VisitorOptions, visit } from '../judges/browser.ts'
import { assert } from '../runner/spec.ts'
import type { Platform } from './invoicing.ts'

type Around = { browser: Browser; platform: Platform }
type Work = (visitor: Visitor) => Promise<void>
export type VisitOptions = Partial<VisitorOptions>

/** The session of who owns `demo`, without the way over the mail. */
export const ownerSession = async (platform: Platform): Promise<string> => {
  const { sessions, end } = sessionsOf(platform)
  const { jwt } = await sessions.issue('demo', 'mail')
  await end()
  return jwt
}

/** Puts a session into the visitor's cookie. */
export const signIn = async (platform: Platform, { context }: Visitor): Promise<void> => {
  const value = await ownerSession(platform)
  await context.addCookies([{ name: 'bottega_session', value, url: platform.baseUrl, httpOnly: true }])
}

/** A visit of its own, in which no page asks another host for anything. */
export const asVisitor = async ({ browser, platform }: Around, options: VisitOptions, work: Work): Promise<void> => {
  const visitor = await visit(browser, { baseURL: platform.baseUrl, ...options })
  try {
    await work(visitor)
    assert.equal(visitor.outside, [], 'a page asked another host for something')
  } finally {
    await visitor.end()
  }
}

/** The same, signed in. */
export const asOwner = (around: Around, options: VisitOptions, work: Work): Promise<void> =>
  asVisitor(around, options, async (visitor) => {
    await signIn(around.platform, visitor)
    await work(visitor)
  })
