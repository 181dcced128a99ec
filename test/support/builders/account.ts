import type { Email } from 'postal-mime'
import { makeSessions } from '../../../api/auth/signin/session.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeMirrorReader } from '../../../controllers/store/mirror.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { eventually, mailsIn, type Platform } from '../stage/invoicing.ts'

/** What a browser sends with a form of our own page. */
export const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

export const formBody = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

/** The mails to sign in by that an address was sent, oldest first. */
export const signinMails = async (platform: Platform, to: string): Promise<Email[]> =>
  (await mailsIn(platform.mailDir)).filter(
    (mail) => mail.subject?.startsWith('Sign in to') && mail.to?.[0]?.address === to,
  )

/** The path of the link in the `count`th of them. */
export const signinLink = (platform: Platform, to: string, count = 1): Promise<string> =>
  eventually(`sign-in mail ${count} to ${to}`, async () => {
    const text = (await signinMails(platform, to))[count - 1]?.text ?? ''
    return /https?:\/\/[^/\s]+(\/signin\/link\/\S+)/.exec(text)?.[1]
  })

/** Sessions as the platform's own processes make and read them, with a clock of one's own. */
export const sessionsOf = (platform: Platform, clock: { now?: () => Date; publicUrl?: string; key?: Buffer } = {}) => {
  const pg = makePg({ url: platform.database.url, max: 2 })
  const sessions = makeSessions({
    pg,
    keys: clock.key ? keysOfOne(clock.key) : platform.keys,
    publicUrl: clock.publicUrl ?? platform.baseUrl,
    now: clock.now ?? (() => new Date()),
    nowMs: () => performance.now(),
    idleMs: 86_400_000,
  })
  return { pg, sessions, mirror: makeMirrorReader({ pg }), end: () => pg.close() }
}
