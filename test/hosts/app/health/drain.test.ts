import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../../hack/platform/postgres.ts'
import {
  openEvents,
  openUpload,
  openWebSocket,
  received,
  type Stream,
  streaming,
} from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** What began on a release ends on it, whatever goes live meanwhile: over real connections, through the real proxy. */

const timeoutMs = 240_000
const DRAIN_SECONDS = 30
const DRAIN_MAX_MS = DRAIN_SECONDS * 1_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** How long each connection stands. */
const HELD_MS = isFull ? 25_000 : 12_000
/** After the switch, so that a machine which is slow to switch shows a cut all the same. */
const HELD_AFTER_MS = isFull ? 15_000 : 8_000

spec('a release that others follow', (t) => {
  let stage: AppStage
  let app: Json
  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation.state, 'succeeded', text)
  const greets = async () => (await stage.visit('slow')).text.trim()
  const releases = () =>
    query(stage.platform.database.url, 'select number, state, address, retired_at from app_releases order by number')
  const liveOne = async () => (await releases()).find(({ state }) => state === 'live') as Json
  const admin = (...args: string[]): string =>
    execFileSync('curl', ['-sS', '--fail', '--unix-socket', stage.host.admin, ...args], { encoding: 'utf8' })
  const inFlight = async (address: string): Promise<number> => {
    const all = JSON.parse(admin('http://localhost:2019/reverse_proxy/upstreams'))
    return all.find((one: Json) => one.address === address)?.num_requests ?? 0
  }
  const openAll = async (): Promise<Stream[]> => {
    const { address } = await liveOne()
    const streams = [
      await openWebSocket(stage.host, 'slow'),
      await openEvents(stage.host, 'slow'),
      openUpload(stage.host, 'slow'),
    ]
    await eventually('all three to be counted', async () => (await inFlight(address)) === streams.length)
    return streams
  }
  const cutIn = (streams: readonly Stream[]) => streams.map(({ what, cut }) => [what, cut()])
  const whole = (streams: readonly Stream[]) => streams.map(({ what }) => [what, null])
  const isRetired = (number: number) => async () =>
    (await releases()).some((one) => one.number === number && one.retired_at !== null)

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('slow', { drain_seconds: DRAIN_SECONDS, watch_seconds: 0 })
    succeeded(await stage.deploy(app.id, streaming('v1')))
  })
  t.after(() => stage.end())

  const changes: [string, string, () => Promise<Reply>, string][] = [
    ['a deploy', 'v1', () => stage.deploy(app.id, streaming('v2')), 'v2'],
    ['a rollback', 'v2', () => stage.operate('POST', `/api/apps/${app.id}/rollback`, { release: 1 }), 'v1'],
    [
      'a change of the env',
      'v1',
      () => stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { GREETING: 'hello' } }),
      'v1 hello',
    ],
  ]
  for (const [what, version, change, next] of changes) {
    t(
      `keeps its WebSocket, its events and its upload over ${what}, then leaves`,
      async () => {
        const before = await liveOne()
        const openedMs = performance.now()
        const streams = await openAll()
        succeeded(await change())
        const endMs = Math.max(openedMs + HELD_MS, performance.now() + HELD_AFTER_MS)
        assert.is(await greets(), next)
        while (performance.now() < endMs) {
          assert.equal(cutIn(streams), whole(streams))
          await sleep(250)
        }
        const [, , upload] = await Promise.all(streams.map((stream) => stream.finish()))
        assert.is(upload, received(version), 'whole, and by the release that it began on')
        await eventually('the old release to leave', isRetired(before.number), 90_000)
        const after = (await releases()).find(({ number }) => number === before.number)
        assert.is(after?.address, before.address, 'its address is still its own')
      },
      { timeoutMs },
    )
  }

  t(
    'does not wait for ever, and a change of another route ends nothing of the one that serves',
    async () => {
      const before = await liveOne()
      const old = await openWebSocket(stage.host, 'slow')
      succeeded(await stage.deploy(app.id, streaming('v3')))
      const serving = await openWebSocket(stage.host, 'slow')
      const other = { listen: ['127.0.0.1:0'], routes: [] }
      const json = ['-H', 'content-type: application/json', '-d', JSON.stringify(other)]
      admin('-X', 'PUT', ...json, 'http://localhost:2019/config/apps/http/servers/other')
      const endMs = performance.now() + DRAIN_MAX_MS + 3_000
      await eventually('the old release to leave', isRetired(before.number), 120_000)
      await eventually('its WebSocket to end', async () => old.cut() !== null)
      const [{ waited } = { waited: 0 }] = await query(
        stage.platform.database.url,
        `select extract(epoch from retired_at - superseded_at) * 1000 as waited from app_releases where number = ${before.number}`,
      )
      assert.ok(Number(waited) >= DRAIN_MAX_MS, `${waited} ms`)
      while (performance.now() < endMs) await sleep(250)
      assert.is(serving.cut(), null)
      await serving.finish()
    },
    { timeoutMs },
  )
})
