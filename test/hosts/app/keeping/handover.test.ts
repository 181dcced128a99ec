import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, bodyOf, type Project, project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** A service that keeps something runs once: what a release of it costs its visitors, good ones and bad ones. */

const timeoutMs = 300_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** Without an answer for visitors, over a hand-over and over one that is taken back; the plain run shares its machine. */
const [HANDED_MS, BACK_MS] = isFull ? [5_000, 10_000] : [30_000, 60_000]
const RATE_PER_SECOND = 40

/** Notes each start in its volume, and serves its version and how often it was started. */
const serving = (before: string) =>
  `${before}echo "$VERSION" >> /data/starts; /bin/busybox mkdir -p /tmp/www; echo "$VERSION" > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www`
const NEVER = 'echo "$VERSION" >> /data/starts; while :; do /bin/busybox sleep 1; done'

const keeping = (version: string, command = serving('')): Project => {
  const plain = project(version, { command })
  return { ...plain, compose: `${plain.compose}    volumes: ["data:/data"]\nvolumes: { data: }\n` }
}

type Seen = { sent: number; failed: string[]; longestMs: number }

spec('a service that keeps something', (t) => {
  let stage: AppStage
  let app: Json
  const deploy = (sent: Project, query = '?confirm_downtime=1'): Promise<Reply> => stage.deploy(app.id, sent, query)
  const says = async () => (await stage.visit('keeper')).text.trim()
  const starts = () =>
    docker('run', '--rm', '-v', 'keeper-base_data:/data', image(), '/bin/busybox', 'cat', '/data/starts')
  const image = () => docker('inspect', '-f', '{{.Image}}', container())
  const container = () => docker('ps', '-q', '--filter', 'label=dev.bottega.app=keeper')
  const left = () => [
    docker('volume', 'ls', '-q', '--filter', 'label=dev.bottega.copy'),
    docker('ps', '-aq', '--filter', 'label=dev.bottega.copier'),
    docker('ps', '-a', '--format', '{{.Names}}')
      .split('\n')
      .filter((name) => name.includes('-try'))
      .join(),
    docker('ps', '-q', '--filter', 'status=paused'),
  ]
  /** It may take as long as a release is waited for. */
  const ended = ({ json }: Reply): Promise<Json> =>
    eventually(
      'the end of the operation',
      async () => {
        const { operation } = (await stage.api('GET', `/api/apps/operations/${json.operation.id}`)).json
        return operation.ended_at !== null && operation
      },
      400_000,
    )
  const succeeded = (reply: Reply) => assert.is(reply.json.operation?.state, 'succeeded', reply.text)

  /** What visitors see meanwhile, 40 a second, and how long it took from the first failure to the last. */
  const watched = async (work: () => Promise<unknown>): Promise<Seen> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    const failed: { at: number; what: string }[] = []
    let [sent, open] = [0, 0]
    const visit = async () => {
      const at = performance.now()
      sent += 1
      open += 1
      const page = await stage.visit('keeper', '/', { agent }).catch((error) => ({ status: 0, text: String(error) }))
      open -= 1
      if (page.status !== 200) failed.push({ at, what: `${page.status} ${page.text.slice(0, 80)}` })
    }
    const timer = setInterval(() => void visit(), 1_000 / RATE_PER_SECOND)
    try {
      await work()
    } finally {
      clearInterval(timer)
      while (open > 0) await sleep(50)
      agent.destroy()
    }
    const times = failed.map(({ at }) => at)
    const longestMs = times.length === 0 ? 0 : Math.round(Math.max(...times) - Math.min(...times))
    console.log(`  ${sent} requests, ${failed.length} failed, over ${longestMs} ms`)
    return { sent, failed: failed.map(({ what }) => what), longestMs }
  }

  t.before(
    async () => {
      stage = await startAppStage()
      app = await stage.app('keeper', { application_policy: 'none' })
      succeeded(await deploy(keeping('one'), ''))
      // What a plan compares with is the live release as the app shows it, a moment after its operation has ended.
      await eventually('the release to be shown', async () => {
        const { json } = await stage.api('GET', `/api/apps/${app.id}`)
        return json.app.release?.number === 1
      })
    },
    { timeoutMs },
  )
  t.after(() => stage.end())

  t(
    'is not stopped before that is confirmed, and the plan says for how long',
    async () => {
      const dry = await deploy(keeping('two'), '?dry_run=1')
      assert.equal([dry.json.plan.downtime_seconds, dry.json.plan.trial], [6, 'copy'], dry.text)
      const refused = await deploy(keeping('two'), '')
      assert.equal([refused.status, refused.json.code], [409, 'DOWNTIME_NOT_CONFIRMED'], refused.text)
      assert.match(refused.json.detail, /web for up to 6 s/)
      const env = await stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { A: 'b' } })
      assert.equal([env.status, env.json.code], [409, 'DOWNTIME_NOT_CONFIRMED'], env.text)
      assert.is((await stage.api('GET', `/api/apps/${app.id}/env`)).json.env.stored_version, null, 'nothing is stored')
      assert.is(await says(), 'one')
    },
    { timeoutMs },
  )

  t(
    'costs its visitors nothing by a release that never answers, and its volume never sees that one',
    async () => {
      let operation: Json | undefined
      const { failed } = await watched(async () => {
        const asked = await stage.api(
          'POST',
          `/api/apps/${app.id}/deploy?confirm_downtime=1`,
          bodyOf(keeping('bad', NEVER)),
        )
        operation = await ended(asked)
      })
      assert.equal([operation?.state, operation?.result.code], ['failed', 'RELEASE_FAILED'])
      assert.equal(failed, [])
      assert.is(await says(), 'one')
      assert.is(starts(), 'one')
      await eventually('nothing of the trial to be left', async () => left().every((one) => one === ''), 60_000)
    },
    { timeoutMs: 600_000 },
  )

  t(
    'is tried on a copy that holds what it holds, and is handed over within seconds',
    async () => {
      // It is started again later, where its volume holds more.
      const exit = serving('[ "$(/bin/busybox head -n 1 /data/starts)" = one ] || exit 3; ')
      let reply: Reply | undefined
      const { longestMs } = await watched(async () => {
        reply = await deploy(keeping('two', exit))
      })
      succeeded(reply as Reply)
      const start = reply?.json.operation.steps.find(({ name }: Json) => name === 'start')
      assert.match(start.message, /; tried beside the old one in \d+ s$/, start.message)
      assert.is(await says(), 'two')
      assert.is(starts(), 'one\ntwo', 'what the trial wrote went with it')
      assert.ok(longestMs < HANDED_MS, `visitors saw failures for ${longestMs} ms`)
      assert.equal(left(), ['', '', '', ''])
    },
    { timeoutMs },
  )

  t(
    'is back within ten seconds when the new one was not tried and does not answer',
    async () => {
      const hand_over = { trial: 'none', seconds: 5 }
      assert.is((await stage.api('PATCH', `/api/apps/${app.id}`, { hand_over })).status, 200)
      let reply: Reply | undefined
      const { longestMs } = await watched(async () => {
        reply = await deploy(keeping('three', NEVER))
        await eventually('the old one to serve', async () => (await says()) === 'two', 30_000)
      })
      assert.is(reply?.json.operation.state, 'failed', reply?.text)
      assert.match(reply?.json.operation.result.detail, /does not answer, after 5 s/)
      // Visitors wait at the proxy while nobody serves, so it may be that none of them failed: the volume tells that it was stopped.
      assert.match(starts(), /^one\ntwo\nthree\ntwo/)
      assert.ok(longestMs <= BACK_MS, `visitors saw failures for ${longestMs} ms`)
      await sleep(3_000)
      assert.is(await says(), 'two')
    },
    { timeoutMs },
  )

  t(
    'serves on when a trial is cancelled, and nothing of it is left',
    async () => {
      const hand_over = { trial: 'copy', downtime: 'allow' }
      assert.is((await stage.api('PATCH', `/api/apps/${app.id}`, { hand_over })).status, 200)
      const asked = await stage.api('POST', `/api/apps/${app.id}/deploy`, bodyOf(keeping('four', NEVER)), {
        prefer: 'respond-async',
      })
      const { id } = asked.json.operation
      await eventually('the trial to run', async () => left()[2] !== '', 90_000)
      const { failed } = await watched(async () => {
        await stage.operate('POST', `/api/apps/operations/${id}/cancel`, {})
        await eventually('nothing of the trial to be left', async () => left().every((one) => one === ''), 60_000)
      })
      assert.equal(failed, [])
      assert.is(await says(), 'two')
    },
    { timeoutMs },
  )

  t(
    'may be stopped once for all, as its owner says with kubectl',
    async () => {
      succeeded(await stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { A: 'b' } }))
      await stage.platform.kubectl([
        'patch',
        'bapp',
        app.id,
        '--type=merge',
        '-p',
        '{"spec":{"handOver":{"downtime":"confirm"}}}',
      ])
      const asksThat = { spec: { source: null, restore: { release: 1, env: 'release' } } }
      await stage.platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', JSON.stringify(asksThat)])
      const reason = '-o=jsonpath={.status.conditions[?(@.type=="ReleaseFailed")].message}'
      await eventually('the refusal', async () =>
        /stops web for up to 6 s/.test(await stage.platform.kubectl(['get', 'bapp', app.id, reason])),
      )
      assert.is(await says(), 'two')
    },
    { timeoutMs },
  )
})
