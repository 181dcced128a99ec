import { authRoutes } from '../../../api/auth/routes.ts'
import { Problem } from '../../../api/http/problem.ts'
import { issuerRoutes } from '../../../api/invoice/issuers/issuer-routes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { plain } from '../../support/builders/logos.ts'
import { askBy } from '../../support/crash/ask.ts'
import type { OneProcess } from '../../support/crash/process.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import type { Namespace } from '../../support/stage/stage.ts'

/** What an account sets for itself, issuers with their logos and tokens, wherever the processes die. */

const byIssuers = askBy(issuerRoutes)
const byTokens = askBy(authRoutes)
const profile = { id: 'demo' }

type Stand = Record<string, string | number>
type Tale = {
  /** How it stands, in what may not happen twice. */
  stand: string
  play(process: OneProcess, asking: Asking): Promise<unknown>
  whole: Stand
  others?: Record<string, Stand>
  look?(url: string, played: Json): Promise<void>
}

const story = (namespace: string, { stand, play, whole, others, look }: Tale): Story<unknown> => {
  const standIn = async (url: string) => (await query(url, stand))[0] as Stand
  let databaseUrl = ''
  /** Nobody is let in whose account no process has seen yet. */
  const isKnown = async () =>
    (await query(databaseUrl, "select from mirror where kind = 'Account' and name = 'demo'")).length > 0
  const fits = (one: Stand, other: Stand) => JSON.stringify(one) === JSON.stringify(other)
  return {
    options: { namespace, mailPort: 9 },
    prepare: async (url) => {
      databaseUrl = url
    },
    async play(process, asking) {
      await eventually('the account to be known', isKnown)
      return play(process, asking)
    },
    isSettled: async (url) => fits(await standIn(url), whole),
    look: async (url, played) => look?.(url, played as Json),
    stand: standIn,
    alone: async (url) => {
      const now = await standIn(url)
      const found = Object.entries({ 'all of it': whole, ...others }).find(([, one]) => fits(one, now))
      assert.ok(found, `it stands where no request ends: ${JSON.stringify(now)}`)
      return found?.[0] ?? ''
    },
    fingerprint: async (url) => [await standIn(url), await query(url, 'select kind, name, xmin::text from mirror')],
    // No life of these waits for the controllers: the audit of the account's spec may be left to the last one.
    mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror|append_audit)/,
    looked: /^sql mirror_unknown/,
    clear: async () => {},
  }
}

const ISSUERS = `
select (select count(*)::int from issuers where id <> 'iss-default') as issuers,
  (select coalesce(string_agg(state, ' ' order by seq), '') from issuer_logos) as uploads,
  (select count(*)::int from issuers where logo is not null) as logos`
const TOKENS = `
select count(*)::int as made, count(*) filter (where revoked_at is not null)::int as revoked,
  count(*) filter (where previous_hash is not null)::int as rotated from tokens`

spec('what an account sets, by processes that die at any call', (t) => {
  let namespace: Namespace
  t.before(async () => {
    namespace = await makeDemoNamespace()
  })
  t.after(() => namespace.remove())

  sweep(t, { what: 'one issuer, one logo', callsMin: 8, points: 2 }, () =>
    story(namespace.name, {
      stand: ISSUERS,
      async play({ api }, asking) {
        const made = await byIssuers(api, 'POST /api/invoices/issuers', { key: 'issuer', profile, body: {} })
        const { id } = (made.body as { issuer: Json }).issuer
        const logo = { params: { id }, key: 'logo', profile, form: await plain().png().toBuffer() }
        return byIssuers(api, 'POST /api/invoices/issuers/:id/logo', logo, asking)
      },
      whole: { issuers: 1, uploads: 'taken', logos: 1 },
      others: {
        nothing: { issuers: 0, uploads: '', logos: 0 },
        'the issuer alone': { issuers: 1, uploads: '', logos: 0 },
      },
    }),
  )

  sweep(t, { what: 'one token, the same for whoever asks again, and one end of it', callsMin: 4, points: 2 }, () =>
    story(namespace.name, {
      stand: TOKENS,
      async play({ api }, asking) {
        const minted = await byTokens(api, 'POST /api/auth/tokens', {
          key: 'mint',
          body: { name: 'Shop', preset: 'invoicing' },
        })
        const { token, secret } = minted.body as Json
        const more = { params: { id: token.id }, key: 'rotate', body: { grace_seconds: 60 } }
        const rotated = await byTokens(api, 'POST /api/auth/tokens/:id/rotate', more).catch((error: unknown) => error)
        const revoked = await byTokens(api, 'DELETE /api/auth/tokens/:id', more, asking).catch(
          (error: unknown) => error,
        )
        for (const one of [rotated, revoked]) {
          // a repeat finds it revoked
          assert.ok(!(one instanceof Error) || (one instanceof Problem && one.code === 'NOT_FOUND'), String(one))
        }
        return { token, secret }
      },
      whole: { made: 1, revoked: 1, rotated: 1 },
      others: {
        nothing: { made: 0, revoked: 0, rotated: 0 },
        'minted alone': { made: 1, revoked: 0, rotated: 0 },
        'minted and rotated': { made: 1, revoked: 0, rotated: 1 },
      },
      look: async (_url, { secret }) => assert.match(String(secret), /^btg_/),
    }),
  )
})
