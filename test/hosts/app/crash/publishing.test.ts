import type { Request } from '../../../support/crash/requests.ts'
import { type AppStand, EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { spec } from '../../../support/runner/spec.ts'
import { project } from '../../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'

/** Plans of domains and of access that are applied, wherever the processes die: each is applied once, or not at all. */

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
  const password = 'correct horse'

  sweep(t, { what: 'it is private once, its domains are set once', callsMin: 6, points: 1, effects: EFFECTS }, () =>
    app.story(project('first'), [
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
        look: app.serves('502'),
      },
      {
        what: 'domains',
        ask: applied({
          what: 'domains',
          route: 'PUT /api/apps/:id/domain-config',
          plan: { step: 'plan', hostnames: [] },
          apply: { step: 'apply' },
        }),
        leaves: () => ({ plans: 'domains access 2' }),
        halfway: () => ({ plans: 'domains access 1' }),
        look: app.serves('502'),
      },
    ]),
  )
})
