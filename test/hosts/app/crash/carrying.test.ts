import { execFileSync } from 'node:child_process'
import type { Request } from '../../../support/crash/requests.ts'
import {
  type AppStand,
  EFFECTS,
  LIVE,
  type LiveApp,
  openLiveApp,
  placeOf,
  standIn,
} from '../../../support/crash/stories/livestory.ts'
import { cuts, sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Project, project } from '../../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'
import { visitor } from '../../../support/stage/publishing.ts'

/**
 * An app that keeps something and goes to another host, wherever the processes die or the line to a host breaks: it has one beginning on each host in what it keeps, and
 * is with that on the host where it lives, and nowhere else.
 */

const OTHER = 'green'
const KEEPER = 'keeper'
const SERVE =
  'echo "$VERSION" >> /data/starts; /bin/busybox mkdir -p /tmp/www; echo "$VERSION" > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www'

const keeping = (version: string): Project => {
  const plain = project(version, { command: SERVE })
  return { ...plain, compose: `${plain.compose}    volumes: ["data:/data"]\nvolumes: { data: }\n` }
}

spec('an app that keeps something and moves, whose processes die at any call', (t) => {
  let host: AppHost
  let green: AppHost
  let app: LiveApp

  t.before(
    async () => {
      host = await startAppHost()
      const other = await startAppHost({ docker: 'own' })
      green = { ...other, spec: { ...other.spec, baseDomain: host.baseDomain } }
      app = await openLiveApp(host, KEEPER, { [OTHER]: green })
    },
    { timeoutMs: 300_000 },
  )
  t.after(async () => {
    await app?.place.end()
    await green?.end()
    await host?.end()
  })

  const on = (at: AppHost, ...args: string[]): string =>
    execFileSync('docker', args, {
      encoding: 'utf8',
      env: { ...process.env, DOCKER_HOST: `unix://${at.dockerSocket}` },
    })
  const named = (at: AppHost, what: string): string[] =>
    on(at, 'volume', 'ls', '-q', '--filter', what).split('\n').filter(Boolean)
  const startsAt = (at: AppHost): string[] => {
    const [id = ''] = app.place.containers(at)
    return on(at, 'exec', id, '/bin/busybox', 'cat', '/data/starts').split('\n').filter(Boolean)
  }
  const seenAt = async (at: AppHost): Promise<string> => {
    const page = await visitor(at)(`${KEEPER}.${host.baseDomain}`).catch(() => null)
    return page?.status === 200 ? page.text.trim() : 'nothing'
  }
  const livesAt = (at: AppHost, left: AppHost) => async () => {
    const all = named(at, `name=^${KEEPER}-base_`)
    assert.equal([await seenAt(at), app.place.containers(at).length, all], ['first', 1, [`${KEEPER}-base_data`]])
    assert.ok(startsAt(at).every((line) => line === 'first') && startsAt(at).length >= 2, startsAt(at).join())
    assert.equal([app.place.containers(left), named(left, `name=^${KEEPER}-base_`)], [[], []], 'what is left of it')
    for (const one of [at, left]) assert.equal(named(one, `label=dev.bottega.copy=${KEEPER}`), [], 'copies')
  }
  const moveTo = (name: string) =>
    app.say('POST /api/apps/:id/move', {
      ...{ key: `to ${name}`, body: { host_id: name, forward_seconds: 0 } },
      query: { confirm_downtime: '1' },
    })

  const requests = (): Request<AppStand>[] => [
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
  ]
  /** It is stopped, packed, brought over and started, and then what it left goes. */
  const restMs = 300_000
  const what = 'it lives on the other host with what it keeps, and nowhere else'
  const sent = keeping('first')
  sweep(t, { what, callsMin: 30, points: 1, effects: EFFECTS }, () => ({ restMs, ...app.story(sent, requests()) }))
  cuts(t, what, (cutAt) => ({ restMs, ...app.storyOf({ sent, begun: LIVE, standIn, requests: requests(), cutAt }) }))
})
