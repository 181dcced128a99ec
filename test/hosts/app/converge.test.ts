import { readFileSync } from 'node:fs'
import { createApp } from '../../../api/app/create.ts'
import { deployApp } from '../../../api/app/deploy.ts'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { keyNamed } from '../../support/crash/process.ts'
import { type AppPlace, openAppPlace } from '../../support/crash/stories/appstory.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { bodyOf, project } from '../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * A first deploy, killed at every API call, statement, command and admin call: one release, one set of containers, one
 * route, one event, and nothing left to do.
 */

const KEY = 'cd'.repeat(16)
const name = keyNamed('app', 'demo', KEY)
const sent = project('swept')
let place: AppPlace
let host: AppHost
let catcher: { port: number; stop(): Promise<void> }

const isReady = (found: AppResource | undefined) =>
  found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const requestOf = (more: Partial<ApiRequest>) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team', role: 'member', capabilities: ['app.deploy'] } },
    headers: { 'content-type': 'application/json' },
    query: {},
    idempotencyKey: KEY,
    requestId: 'one',
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/apps',
    ...more,
  }) as unknown as ApiRequest

const operations = (url: string) => query(url, 'select state, release from app_operations')
const releases = (url: string) => query(url, 'select number, state, address from app_releases')

const story = (): Story<Answer> => ({
  options: { namespace: place.namespace.name, mailPort: catcher.port },
  prepare: (url) => place.fresh(url),
  async play({ api, mirror }) {
    const inspected = async () => (await mirror.get(HOST, 'local'))?.view.inspection?.ok
    await eventually('the host', inspected, 60_000)
    await createApp(api, requestOf({ body: { slug: 'swept', host_id: 'local', application_policy: 'none' } }))
    const form = Buffer.from(JSON.stringify(bodyOf(sent)))
    return deployApp(api, requestOf({ params: { id: name }, form }))
  },
  isSettled: async (url) => (await operations(url))[0]?.state === 'succeeded' && isReady(await place.object()),
  async look(url, answer) {
    assert.is(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(await operations(url), [{ state: 'succeeded', release: 1 }])
    const [release, ...more] = await releases(url)
    assert.equal([release?.number, release?.state, more], [1, 'live', []])
    assert.is(place.containers().length, 1, 'one container')
    const { routes } = JSON.parse(place.proxy()).apps.http.servers.bottega
    const served = routes.filter((route: { '@id'?: string }) => route['@id'] !== 'bottega-nobody')
    assert.is(served.length, 1, 'one route')
    const dialFile = /"dial":"\{file\.([^}]*)\}"/.exec(JSON.stringify(served))?.[1]
    assert.is(readFileSync(dialFile ?? '', 'utf8').trimEnd(), release?.address)
    const told = await query(url, `select payload ->> 'type' as type from outbox where channel = 'event'`)
    assert.equal(told, [{ type: 'app.released' }])
  },
  fingerprint: async (url) => [
    (await place.object())?.metadata.resourceVersion,
    await query(url, 'select max(xmin::text::bigint) as operations from app_operations'),
    place.proxy(),
    place.containers(),
  ],
  // What the host itself says of its disk and its certificates is its own.
  mayDo:
    /^patch .*\/hosts\/local\/status$|^(get|list|ssh (inspect|app-look|app-logs|app-usage|job)|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes?$|host_rooms$|app_names$|app_places$|app_runs$|app_episode|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql observe_app$/,
  clear: () => place.clear(),
  deathsMin: 40,
  every: 100,
})

spec('a process that dies at any call of a deploy', (t) => {
  t.before(async () => {
    host = await startAppHost()
    place = await openAppPlace(host, { name, slug: 'swept' })
    catcher = await startMailCatcher({ dir: scratchFolder('app-converge'), port: 0 })
  })
  t.after(async () => {
    await place.end()
    await catcher.stop()
    await host.end()
  })

  t(
    'without a crash, it is released once',
    async () => {
      const { calls } = await live(story())
      const count = (what: RegExp) => calls.filter((call) => what.test(call)).length
      assert.is(count(/^create .*apps/), 1)
      assert.is(count(/^sql app_operation_switched$/), 1)
      assert.is(count(/^sql app_operation_claimed$/), 1)
    },
    { timeoutMs: 120_000 },
  )

  sweeps(t, 'one release, one container, one route', story)
})
