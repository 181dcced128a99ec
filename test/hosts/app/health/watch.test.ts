import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, type Project, project, SERVE, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** Releases that are good at their switch, and bad a moment later: visitors go back, and what happened is kept. */

const timeoutMs = 240_000
const RATE_PER_SECOND = 20
/** An answer that was on its way at the very moment when its process was ended: nobody can begin it anew. */
const CUT = /^0 Error: aborted/
const SERVING = 'echo "$VERSION" > /tmp/index.html; /bin/busybox httpd -p 8080 -h /tmp'
/** Until the test says so: a machine that is slow to switch is no reason to turn bad before. */
const TOLD = 'until [ -f /tmp/turn ]; do /bin/busybox sleep 1; done'
const turn = (release: number): void => {
  const filters = ['label=dev.bottega.app=watched', `label=dev.bottega.release=${release}`].flatMap((one) => [
    '--filter',
    one,
  ])
  docker('exec', docker('ps', '-q', ...filters), '/bin/busybox', 'touch', '/tmp/turn')
}

/** `cutMax`: of what the kernel ends at any moment, with its container or for its memory, an answer may be on its way. */
const BAD: { what: string; sent(): Project; reason: RegExp; log: RegExp; cutMax?: number }[] = [
  {
    what: 'ends',
    sent: () => project('bad', { command: `${SERVING}; ${TOLD}; echo no more disk for me; exit 3` }),
    reason: /web ended by itself and was restarted|web was restarted \d+ times|web is exited, exit code 3/,
    log: /no more disk for me/,
    cutMax: 1,
  },
  {
    what: 'ends, and is not started again',
    sent: () =>
      project('bad', {
        command: `${SERVING}; ${TOLD}; echo that was it; exit 4`,
        more: '    restart: "no"\n',
      }),
    reason: /web is exited, exit code 4/,
    log: /that was it/,
    cutMax: 1,
  },
  {
    what: 'takes more and more memory',
    sent: () =>
      project('bad', {
        command: `${SERVING}; ${TOLD}; echo growing; exec /bin/busybox awk 'BEGIN { x = "0123456789abcdef"; while (1) x = x x }'`,
        more: '    mem_limit: 64m\n',
      }),
    reason: /web ended by itself and was restarted|web was restarted \d+ times|out of memory/,
    log: /growing/,
    cutMax: 1,
  },
  {
    what: 'says that it is unhealthy',
    sent: () =>
      project('bad', {
        command: `/bin/busybox touch /tmp/ok; (${TOLD}; echo ill; /bin/busybox rm /tmp/ok) & ${SERVE}`,
        more: '    healthcheck: {test: ["CMD", "/bin/busybox", "test", "-f", "/tmp/ok"], interval: 1s, timeout: 30s, retries: 2}\n',
      }),
    reason: /web is unhealthy/,
    log: /ill/,
  },
  {
    what: 'does not answer any more',
    sent: () =>
      project('bad', {
        command: `echo "$VERSION" > /tmp/index.html; /bin/busybox httpd -f -p 8080 -h /tmp & server=$!; (${TOLD}; echo deaf; kill $server) & /bin/busybox sleep 600`,
      }),
    reason: /the routed port answers nothing/,
    log: /deaf/,
  },
]

spec('a release that turns out to be bad after its switch', (t) => {
  let stage: AppStage
  let app: Json
  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation?.state, 'succeeded', text)
  const seen = async (): Promise<Json> => (await stage.api('GET', `/api/apps/${app.id}`)).json.app
  const condition = async (type: string): Promise<string> => {
    const path = `{.status.conditions[?(@.type=="${type}")]['status','reason','message']}`
    return stage.platform.kubectl(['get', 'bapp', app.id, '-o', `jsonpath=${path}`])
  }
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await stage.api('GET', `/api/apps/operations/${id}`).catch(() => null))?.json.operation?.state
  const liveNow = async () => (await seen()).release?.number
  const projects = (): string =>
    docker('ps', '-a', '--filter', 'label=dev.bottega.app=watched', '--format', '{{.Label "dev.bottega.release"}}')

  t.before(
    async () => {
      stage = await startAppStage()
      app = await stage.app('watched', { watch_seconds: 90 })
      succeeded(await stage.deploy(app.id, project('good')))
    },
    { timeoutMs: 600_000 },
  )
  t.after(() => stage.end())

  /** Visits until it is told to stop. */
  const visiting = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    const failures: string[] = []
    let [sent, open] = [0, 0]
    const visit = async () => {
      sent += 1
      open += 1
      const page = await stage.visit('watched', '/', { agent }).catch((error) => ({ status: 0, text: String(error) }))
      open -= 1
      if (page.status !== 200) failures.push(`${page.status} ${page.text.slice(0, 80)}`)
    }
    const timer = setInterval(() => void visit(), 1_000 / RATE_PER_SECOND)
    return async () => {
      clearInterval(timer)
      while (open > 0) await sleep(50)
      agent.destroy()
      return { sent, failures }
    }
  }

  for (const { what, sent, reason, log, cutMax = 0 } of BAD) {
    t(
      `is left for the one before when it ${what}, and why is kept`,
      async () => {
        const before = await liveNow()
        const stop = visiting()
        const { json, text } = await stage.deploy(app.id, sent())
        assert.is(json.operation.state, 'succeeded', text)
        const bad = json.operation.result.release
        turn(bad)
        await eventually('it to be left', async () => (await stateOf(json.operation.id)) === 'failed', 120_000)
        await eventually('visitors to be back', async () => (await liveNow()) === before)
        assert.is((await stage.visit('watched')).text.trim(), 'good')
        await sleep(2_000)
        const visits = await stop()
        console.log(`  ${what}: ${visits.failures.length} of ${visits.sent} requests failed`)
        const { operation } = (await stage.api('GET', `/api/apps/operations/${json.operation.id}`)).json
        assert.equal([operation.state, operation.result.code], ['failed', 'RELEASE_FAILED'])
        assert.match(operation.result.detail, reason, operation.result.detail)
        const { releases } = (await stage.api('GET', `/api/apps/${app.id}/releases`)).json
        const kept = releases.find((one: Json) => one.number === bad)
        assert.is(kept.state, 'failed')
        assert.match(kept.reason, reason, kept.reason)
        assert.match(kept.log_tail, log)
        await eventually('kubectl to say so', async () => /^True Live/.test(await condition('Ready')), 30_000)
        assert.match(
          await condition('ReleaseFailed'),
          /^True ReleaseFailed RELEASE_FAILED: release \d+ was bad after the switch/,
        )
        const { events } = (await stage.api('GET', '/api/events?after=0&limit=200')).json
        const told = events.filter(({ data }: Json) => data.app?.operation_id === operation.id)
        assert.equal(
          told.map(({ type }: Json) => type),
          ['app.released', 'app.release_failed'],
        )
        await eventually('what was bad to go', async () => projects() === String(before), 90_000)
        const cut = visits.failures.filter((one) => CUT.test(one))
        assert.equal(
          visits.failures.filter((one) => !CUT.test(one)),
          [],
        )
        assert.ok(cut.length <= cutMax, cut.join(', '))
      },
      { timeoutMs },
    )
  }

  t(
    'is left also when the controllers die before they have seen it, and once',
    async () => {
      const before = await liveNow()
      const command = `${SERVING}; ${TOLD}; exit 5`
      const { json } = await stage.deploy(app.id, project('bad', { command, more: '    restart: "no"\n' }))
      assert.is(json.operation.state, 'succeeded')
      await stage.platform.controllers.kill()
      turn(json.operation.result.release)
      await sleep(3_000)
      await stage.platform.controllers.start()
      await eventually('it to be left', async () => (await stateOf(json.operation.id)) === 'failed', 120_000)
      await eventually('visitors to be back', async () => (await liveNow()) === before)
      assert.is((await stage.visit('watched')).text.trim(), 'good')
      const told = await query(
        stage.platform.database.url,
        `select count(*)::int as count from outbox where purpose = 'event:returned:${json.operation.id}'`,
      )
      assert.is(told[0]?.count, 1)
    },
    { timeoutMs },
  )

  t(
    'stays when it is good: the one before leaves once it was watched, and the next success ends what was said',
    async () => {
      const { json, text } = await stage.deploy(app.id, project('better'))
      assert.is(json.operation.state, 'succeeded', text)
      const { release } = await seen()
      assert.ok(release.watched_until > release.live_at)
      assert.is(await condition('ReleaseFailed'), '')
      const number = String(release.number)
      assert.is.not(projects(), number, 'the one before is there still')
      await eventually('the one before to leave', async () => projects() === number, 150_000)
      assert.ok(Date.now() >= Date.parse(release.watched_until))
      assert.is((await stage.visit('watched')).text.trim(), 'better')
    },
    { timeoutMs },
  )
})
