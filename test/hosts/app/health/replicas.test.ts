import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWebSocket, type Stream, streaming } from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, type Page, type Project, project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** Containers of one release side by side, over real SSH, Docker and Caddy. */

const timeoutMs = 240_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** From the kill until it runs again; the plain run shares its machine. */
const HEALED_MS = isFull ? 15_000 : 90_000
const PER_SECOND = 50
const EVERY_MS = 1_000 / PER_SECOND

/** Tells its version and who it is. */
const WHO =
  '/bin/busybox mkdir -p /tmp/www && echo "$VERSION $GREETING $(/bin/busybox hostname)" > /tmp/www/index.html && echo up && exec /bin/busybox httpd -f -p 8080 -h /tmp/www'
const many = (version: string): Project => project(version, { command: WHO, more: '    deploy: {replicas: 3}\n' })

spec('an app with replicas', (t) => {
  let stage: AppStage
  let app: Json
  let slow: Json
  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation?.state, 'succeeded', text)
  const seen = async ({ id }: Json): Promise<Json> => (await stage.api('GET', `/api/apps/${id}`)).json.app
  const serves = async (of: Json, count: number) => {
    let last: Json = null
    const look = async () => {
      last = await seen(of)
      const { replicas, health } = last
      return replicas.ready === count && replicas.live === count && health.state === 'healthy'
    }
    await eventually(`${count} replicas to answer`, look, 90_000).catch((error) => {
      const { replicas, health, operation } = last
      throw new Error(`${error.message}: ${JSON.stringify({ replicas, health, operation })}`)
    })
  }
  const idsOf = (slug: string): string[] =>
    docker('ps', '-q', '--no-trunc', '--filter', `label=dev.bottega.app=${slug}`).split('\n').filter(Boolean)
  const idOf = (slug: string, service: string): string =>
    docker(
      ...['ps', '-aq', '--no-trunc', '--filter', `label=dev.bottega.app=${slug}`],
      ...['--filter', `label=com.docker.compose.service=${service}`],
    ).trim()
  const scale = (of: Json, replicas: unknown) => stage.operate('POST', `/api/apps/${of.id}/scale`, { replicas })

  /** Visits at an even rate, over kept connections. @returns what was no 200 */
  const visiting = (slug: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    const bad: string[] = []
    const who = new Set<string>()
    const open = new Set<Promise<void>>()
    let count = 0
    const note = ({ status, text }: Page) => {
      if (status === 200) who.add(text.trim())
      else bad.push(`${status} ${text.slice(0, 80)}`)
    }
    const visit = () => {
      count += 1
      const one = stage.visit(slug, '/', { agent }).then(note, (error) => void bad.push(String(error)))
      open.add(one)
      void one.finally(() => open.delete(one))
    }
    const timer = setInterval(visit, EVERY_MS)
    return {
      who,
      end: async () => {
        clearInterval(timer)
        await Promise.all(open)
        agent.destroy()
        assert.equal(bad, [], `of ${count} visits`)
        return count
      },
    }
  }

  t.before(
    async () => {
      stage = await startAppStage()
      app = await stage.app('many', { application_policy: 'none', watch_seconds: 0 })
      slow = await stage.app('sockets', { application_policy: 'none', watch_seconds: 0, drain_seconds: 120 })
    },
    { timeoutMs: 600_000 },
  )
  t.after(() => stage.end())

  t(
    'starts as many as its compose file says, each with a port of its own, and all take visitors',
    async () => {
      const plan = await stage.api('POST', `/api/apps/${app.id}/deploy?dry_run=1`, {
        ...{ compose: many('one').compose, files: { Dockerfile: many('one').files.Dockerfile } },
      })
      assert.is(plan.json.plan.replicas, 3, plan.text)
      succeeded(await stage.deploy(app.id, many('one')))
      await serves(app, 3)
      assert.is(idsOf('many').length, 3)
      const who = new Set<string>()
      await eventually('each to have been visited', async () => {
        who.add((await stage.visit('many')).text.trim())
        return who.size === 3
      })
      const shown = await stage.platform.kubectl(['get', 'bapp', app.id])
      assert.match(shown, /REPLICAS[\s\S]* 3\/3 /)
      assert.is(await stage.platform.kubectl(['get', 'bapp', app.id, '-o', 'jsonpath={.spec.replicas}']), '3')
      const { text } = await stage.api('GET', `/api/apps/${app.id}/logs?tail=10`)
      for (const name of ['web', 'web.2', 'web.3']) assert.match(text, ` ${name} | up`)
    },
    { timeoutMs },
  )

  t(
    'loses no visit when one is killed, and has it back',
    async () => {
      const visits = visiting('many')
      await sleep(1_500)
      const id = idOf('many', 'web.2-r1')
      docker('kill', id)
      const killedMs = performance.now()
      const isUp = async () => docker('inspect', '-f', '{{.State.Running}}', id) === 'true'
      await eventually('the killed one to run again', isUp, HEALED_MS)
      const tookMs = performance.now() - killedMs
      await serves(app, 3)
      const count = await visits.end()
      assert.ok(tookMs < HEALED_MS, `${tookMs} ms`)
      assert.ok(count > 50, `${count} visits`)
      const { json } = await stage.api('GET', `/api/apps/${app.id}/health`)
      assert.match(JSON.stringify(json), /SERVICE_STOPPED.*web\.2/)
    },
    { timeoutMs },
  )

  t(
    'is deployed while it is scaled without a failed visit, and keeps its number over env and rollback',
    async () => {
      const visits = visiting('many')
      succeeded(await stage.deploy(app.id, many('two')))
      const env = await stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { GREETING: 'hello' } })
      succeeded(env)
      await eventually('a visit to the new one', async () => [...visits.who].some((one) => one.startsWith('two hello')))
      await visits.end()
      assert.is((await seen(app)).replicas.live, 3)
      succeeded(await stage.operate('POST', `/api/apps/${app.id}/rollback`, { release: 1 }))
      await serves(app, 3)
      const left = () => idsOf('many').length === 3
      await eventually('the releases of before to leave', async () => left(), 120_000)
    },
    { timeoutMs },
  )

  t(
    'is scaled by kubectl beside what runs, which is not touched',
    async () => {
      succeeded(await stage.deploy(slow.id, streaming('v1')))
      await serves(slow, 1)
      const [first] = idsOf('sockets')
      const began = () => docker('inspect', '-f', '{{.State.StartedAt}}', first ?? '')
      const before = began()
      await stage.platform.kubectl(['scale', 'bapp', slow.id, '--replicas=3'])
      await serves(slow, 3)
      assert.is(idsOf('sockets').length, 3)
      assert.is(began(), before)
      const { operation } = await seen(slow)
      assert.equal([operation.kind, operation.state, operation.result.release], ['scale', 'succeeded', 1])
      assert.is((await seen(slow)).release.number, 1)
      assert.is(
        (await stage.platform.kubectl(['get', 'bapp', slow.id, '-o', 'jsonpath={.status.replicas}'])).trim(),
        '3',
      )
    },
    { timeoutMs },
  )

  /** Least connections first: each replica gets one. */
  const onEach = async (): Promise<Stream[]> => {
    const streams: Stream[] = []
    for (let place = 0; place < 3; place++) streams.push(await openWebSocket(stage.host, 'sockets'))
    return streams
  }
  const cut = (streams: readonly Stream[]): number => streams.filter((stream) => stream.cut() !== null).length
  const isAlone = async () => idsOf('sockets').length === 1

  t(
    'drains what leaves: WebSockets there go on until they end, and then it goes',
    async () => {
      const streams = await onEach()
      succeeded(await scale(slow, 1))
      assert.is((await seen(slow)).replicas.live, 1)
      await sleep(5_000)
      assert.equal([cut(streams), idsOf('sockets').length], [0, 3])
      for (const stream of streams) await stream.finish()
      await eventually('what left to be gone', isAlone, 60_000)
    },
    { timeoutMs },
  )

  t(
    'cuts them where that was asked for, by a scale and by a release that is watched, and those that stay go on',
    async () => {
      const patched = await stage.api('PATCH', `/api/apps/${slow.id}`, { websockets: 'cut', watch_seconds: 120 })
      assert.is(patched.json.app?.websockets, 'cut', patched.text)
      succeeded(await scale(slow, 3))
      await serves(slow, 3)
      const streams = await onEach()
      succeeded(await scale(slow, 1))
      await eventually('what left to be gone', isAlone, 60_000)
      await eventually('those on it to be cut', async () => cut(streams) === 2)
      const [stays] = streams.filter((stream) => stream.cut() === null)
      succeeded(await stage.deploy(slow.id, streaming('v2')))
      await eventually('the last one to be cut', async () => stays?.cut() !== null, 60_000)
      const kept = ['--filter', 'label=dev.bottega.app=sockets', '--filter', 'label=dev.bottega.release=1']
      const [before = '', ...more] = docker('ps', '-aq', ...kept).split('\n')
      assert.equal(more, [], 'of the release before one container is kept')
      // It was started anew, and stands there to go back to.
      const says = async () => docker('exec', before, '/bin/busybox', 'wget', '-q', '-O', '-', 'http://127.0.0.1:8080/')
      await eventually('it to answer', async () => (await says().catch(() => '')).startsWith('v1'), 30_000)
    },
    { timeoutMs },
  )

  t(
    'refuses a number that is none, or that its host has no room for, with figures',
    async () => {
      const { capacity } = JSON.parse(await stage.platform.kubectl(['get', 'bhost', 'local', '-o=json'])).status
      const percent = Math.ceil((7_000 * 100) / capacity.memoryMib)
      const patch = JSON.stringify({ spec: { overcommit: { memoryPercent: percent } } })
      await stage.platform.kubectl(['patch', 'bhost', 'local', '--type=merge', '-p', patch])
      const free = async () => (await stage.api('GET', '/api/apps/hosts/local')).json.room.free.memory_mib
      await eventually('the host to be known as smaller', async () => (await free()) < 7_000)
      const full = await scale(app, 8)
      assert.equal([full.status, full.json.code], [409, 'HOST_FULL'], full.text)
      assert.match(full.json.detail, /8192 MiB of memory are asked for, \d+ of \d+ are left/)
      for (const replicas of [0, -1, 9, 1.5, '3', 1e12, null]) {
        const { status, json } = await stage.api('POST', `/api/apps/${app.id}/scale`, { replicas })
        assert.equal([status, json.errors?.[0]?.pointer], [400, '/replicas'], JSON.stringify(json))
      }
    },
    { timeoutMs },
  )
})
