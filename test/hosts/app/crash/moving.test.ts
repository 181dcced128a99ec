import { EFFECTS, type LiveApp, openLiveApp, placeOf } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { project } from '../../../support/stage/apps.ts'
import { type AppHost, HOST_NAME, startAppHost } from '../../../support/stage/host.ts'
import { visitor } from '../../../support/stage/publishing.ts'

/** An app that goes to another host and comes back, wherever the processes die: it is on one of them, and nothing of it on the other. */

const SLUG = 'nomad'
const OTHER = 'green'

spec('an app that moves, whose processes die at any call', (t) => {
  let host: AppHost
  let green: AppHost
  let app: LiveApp

  t.before(
    async () => {
      host = await startAppHost()
      const other = await startAppHost({ docker: 'own' })
      green = { ...other, spec: { ...other.spec, baseDomain: host.baseDomain } }
      app = await openLiveApp(host, SLUG, { [OTHER]: green })
    },
    { timeoutMs: 300_000 },
  )
  t.after(async () => {
    await app?.place.end()
    await green?.end()
    await host?.end()
  })

  const seenAt = async (at: AppHost): Promise<string> => {
    const page = await visitor(at)(`${SLUG}.${host.baseDomain}`).catch(() => null)
    return page?.status === 200 ? page.text.trim() : 'nothing'
  }
  const routesAt = (at: AppHost): number => {
    const { routes } = JSON.parse(app.place.proxy(at)).apps.http.servers.bottega
    return routes.filter((route: { '@id'?: string }) => route['@id']?.startsWith('app-')).length
  }
  const livesAt = (at: AppHost, left: AppHost) => async () => {
    assert.equal([await seenAt(at), app.place.containers(at).length, routesAt(at)], ['first', 1, 1], 'where it lives')
    assert.equal([app.place.containers(left).length, routesAt(left)], [0, 0], 'where it does not live any more')
  }
  const moveTo = (name: string) =>
    app.say('POST /api/apps/:id/move', { key: `to ${name}`, body: { host_id: name, forward_seconds: 0 } })

  sweep(t, { what: 'it lives on the other host, and then here again', callsMin: 40, points: 1, effects: EFFECTS }, () =>
    app.story(project('first'), [
      {
        what: 'the move there',
        ask: moveTo(OTHER),
        leaves: ({ operations, told }) => ({
          release: '2',
          operations: `${operations}, move succeeded`,
          releases: '1 superseded, 2 live',
          places: placeOf(OTHER),
          told: `${told} app.released`,
        }),
        look: () => livesAt(green, host)(),
      },
      {
        what: 'the move back',
        ask: moveTo(HOST_NAME),
        leaves: ({ operations, told }) => ({
          release: '3',
          operations: `${operations}, move succeeded`,
          releases: '1 superseded, 2 superseded, 3 live',
          places: placeOf(HOST_NAME),
          told: `${told} app.released`,
        }),
        look: () => livesAt(host, green)(),
      },
    ]),
  )
})
