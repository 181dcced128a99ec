import { passwordFits } from '../../../../api/app/publishing/password.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import type { Request } from '../../../support/crash/requests.ts'
import { type AppStand, EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { project } from '../../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'

/** Plans of access that are applied, and cut what visitors had, wherever the processes die: each is applied once, or not at all. */

spec('an app whose publishing is planned and applied, and whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, 'published')
  })
  t.after(async () => {
    await app?.place.end()
    await host?.end()
  })

  type Planned = { what: string; route: string; plan: object; apply: object }

  /** A plan, and its apply on the etag that it was made on. Both under one key each: a repeat finds what its first try made. */
  const applied = ({ what, route, plan, apply }: Planned): Request<AppStand>['ask'] => {
    return async (process, asking) => {
      const { body } = await app.say(route, { key: `${what} planned`, body: plan })(process)
      const { plan_id, etag } = body as { plan_id: string; etag: string }
      const headers = { 'if-match': etag }
      await app.say(route, { key: `${what} applied`, body: { ...apply, plan_id }, headers })(process, asking)
    }
  }
  const [password, other] = ['correct horse', 'battery staple']
  let databaseUrl = ''

  /** Whether the spec names a password that is kept, and it is this one and not that. */
  const opensBy = (right: string, wrong: string) => async (): Promise<void> => {
    await app.serves('502')()
    const version = (await app.place.object())?.spec.passwordVersion ?? 0
    const rows = await query(databaseUrl, 'select salt, hash from app_passwords where version = $1', [version])
    const [kept] = rows as { salt: Buffer; hash: Buffer }[]
    const fits = await Promise.all([right, wrong].map(async (one) => kept !== undefined && passwordFits(one, kept)))
    assert.equal(fits, [true, false], `password ${version} opens`)
  }

  sweep(
    t,
    { what: 'it is private once, and its password changes once', callsMin: 6, points: 1, effects: EFFECTS },
    () =>
      app.story(
        project('first'),
        [
          {
            what: 'access',
            ask: applied({
              what: 'access',
              route: 'PATCH /api/apps/:id/publication-policy',
              plan: { access: 'private', password },
              apply: { apply: true, password },
            }),
            leaves: () => ({ access: 'private', plans: 'access 1' }),
            // the spec says so, and nobody came back to note it with the plan
            halfway: () => ({ access: 'private', plans: 'access' }),
            look: opensBy(password, other),
          },
          {
            what: 'another password, which ends the sessions of the one before',
            ask: applied({
              what: 'another password',
              route: 'PATCH /api/apps/:id/publication-policy',
              plan: { access: 'private', password: other },
              apply: { apply: true, password: other },
            }),
            leaves: () => ({ plans: 'access 2' }),
            // where only the plan does not say so yet, it stands as before the request
            look: async ({ plans }) => (plans === 'access 2' ? opensBy(other, password)() : undefined),
          },
          {
            what: 'open again',
            ask: applied({
              what: 'open again',
              route: 'PATCH /api/apps/:id/publication-policy',
              plan: { access: 'public' },
              apply: { apply: true },
            }),
            leaves: () => ({ access: 'public', plans: 'access 3' }),
            halfway: () => ({ access: 'public', plans: 'access 2' }),
            look: app.serves('first'),
          },
        ],
        (url) => {
          databaseUrl = url
        },
      ),
  )
})
