import { query } from '../../../../hack/platform/postgres.ts'
import { canaryValue } from '../../../support/canaries/answers.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, SERVE, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** One-off commands in an app that is live, over real SSH and Docker. */

const timeoutMs = 480_000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]
const SECRET = canaryValue('given to a run')

/** `web` serves; `db` keeps what is written to /data. */
const shop = (version: string): Project => ({
  compose: `services:
  web:
    build: .
    command: ${JSON.stringify(sh(SERVE).map((word) => word.replaceAll('$', '$$$$')))}
    environment: {VERSION: ${version}}
    expose: ["8080"]
    stop_grace_period: 1s
    depends_on: {db: {condition: service_started}}
  db:
    build: .
    command: ["/bin/busybox", "httpd", "-f", "-p", "9000", "-h", "/data"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

spec('a command that is run in an app', (t) => {
  let stage: AppStage
  let app: Json
  const running = () =>
    docker(
      'ps',
      '-a',
      '--filter',
      'label=dev.bottega.run',
      '--filter',
      'label=dev.bottega.app=ran',
      '--format',
      '{{.Names}}',
    )
      .split('\n')
      .filter(Boolean)
  const run = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
    stage.api('POST', `/api/apps/${app.id}/run`, body, headers)
  const operation = async (id: string): Promise<Json> =>
    (await stage.api('GET', `/api/apps/operations/${id}`)).json.operation
  const ended = (id: string): Promise<Json> =>
    eventually(
      `the end of ${id}`,
      async () => {
        const found = await operation(id)
        return found.ended_at !== null && found
      },
      90_000,
    )
  const output = (id: string, more = '') => stage.api('GET', `/api/apps/${app.id}/operations/${id}/output${more}`)
  const gone = () => eventually('its container to go', async () => running().length === 0, 30_000)

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('ran', { watch_seconds: 0 })
    assert.is((await run({ service: 'web', command: ['true'] })).json.code, 'NOT_RELEASED')
    const deployed = await stage.deploy(app.id, shop('one'))
    assert.is(deployed.json.operation.state, 'succeeded', deployed.text)
  })
  t.after(() => stage.end())

  t(
    'has the image, env and networks of its service, and what it was given; its values are nowhere to be read',
    async () => {
      const command = sh(
        'echo $VERSION $TOKEN; busybox wget -q -O - http://db:9000/none; exit 3'.replace('busybox', '/bin/busybox'),
      )
      const reply = await run({ service: 'web', command, env: { TOKEN: SECRET } })
      assert.is(reply.status, 200, reply.text)
      const { operation: done } = reply.json
      assert.is(done.kind, 'run')
      assert.is(done.state, 'failed')
      assert.is(done.result.exit_code, 3)
      assert.is(done.result.code, 'COMMAND_FAILED')
      assert.equal(done.run.env_keys, ['TOKEN'])
      const { text, headers } = await output(done.id)
      // two streams: a busy engine may hand on what went to the other one first
      assert.match(text, /^one \[redacted\]$/m)
      assert.match(text, /404 Not Found/, 'the database answered')
      assert.match(done.result.detail, /ended with exit code 3: .*404/)
      assert.is(headers.get('output-next'), String(Buffer.byteLength(text)))
      assert.not.match(reply.text + text, new RegExp(SECRET))
      await gone()
    },
    { timeoutMs },
  )

  t(
    'writes to the volume of a service that keeps something, and is the same under one Idempotency-Key',
    async () => {
      const headers = { 'idempotency-key': 'write-once' }
      const body = { service: 'db', command: sh('echo x >> /data/count; /bin/busybox wc -l < /data/count') }
      const first = await run(body, headers)
      const second = await run(body, headers)
      assert.is(second.json.operation_id, first.json.operation_id)
      assert.is((await output(first.json.operation_id)).text.trim(), '1')
    },
    { timeoutMs },
  )

  t(
    'is followed while it goes, from the byte that was read last, to its end',
    async () => {
      const command = sh('for n in 1 2 3 4 5 6; do echo line $n; /bin/busybox sleep 1; done')
      const asked = await run({ service: 'web', command }, { prefer: 'respond-async' })
      assert.is(asked.status, 202, asked.text)
      const id = asked.json.operation_id
      const follow = async (from: string, stopAt: RegExp) => {
        const leave = new AbortController()
        const response = await fetch(`${stage.platform.baseUrl}/api/apps/${app.id}/operations/${id}/output?follow=1`, {
          headers: { authorization: `Bearer ${stage.platform.owner}`, 'last-event-id': from },
          signal: leave.signal,
        })
        let text = ''
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          if (stopAt.test(text)) break
        }
        leave.abort()
        return text
      }
      const before = await follow('0', /line 2\n\n/)
      const last = [...before.matchAll(/^id: (\d+)\ndata: line 2$/gm)].at(-1)?.[1] ?? ''
      assert.is(last, '14')
      const after = await follow(last, /event: end/)
      assert.equal(
        [...after.matchAll(/^data: (line \d)$/gm)].map(([, line]) => line),
        ['line 3', 'line 4', 'line 5', 'line 6'],
      )
      assert.match(after, /event: end\ndata: \{"state":"succeeded","exit_code":0,"code":null\}/)
    },
    { timeoutMs },
  )

  t(
    'is ended when somebody asks, and when its time is up',
    async () => {
      const asked = await run(
        { service: 'web', command: sh('echo begun; /bin/busybox sleep 300') },
        { prefer: 'respond-async' },
      )
      const id = asked.json.operation_id
      await eventually('its first line', async () => (await output(id)).text === 'begun\n', 30_000)
      const cancelled = await stage.api('POST', `/api/apps/operations/${id}/cancel`, {})
      assert.is((await ended(id)).state, 'cancelled', cancelled.text)
      const late = await run({
        service: 'web',
        command: sh('trap "" TERM; /bin/busybox sleep 300'),
        timeout_seconds: 2,
      })
      const done = await ended(late.json.operation_id)
      assert.is(done.state, 'failed')
      assert.is(done.result.code, 'COMMAND_TIMEOUT')
      assert.is(done.result.exit_code, null)
      assert.is((await stage.api('POST', `/api/apps/operations/${id}/cancel`, {})).json.code, 'TOO_LATE')
      await gone()
    },
    { timeoutMs },
  )

  t(
    'goes on in its release while the next one is made, which waits for nobody; then the old one goes',
    async () => {
      const wait = sh(
        'until [ -e /tmp/go ]; do /bin/busybox sleep 0.2; done; echo in $VERSION; /bin/busybox wget -q -O - http://web:8080/',
      )
      const asked = await run({ service: 'web', command: wait }, { prefer: 'respond-async' })
      await eventually('it to run', async () => running().length === 1, 30_000)
      const deployed = await stage.deploy(app.id, shop('two'), '?confirm_downtime=1')
      assert.is(deployed.json.operation.state, 'succeeded', deployed.text)
      const during = await operation(asked.json.operation_id)
      assert.is(during.state, 'running', 'the release was live before the command had ended')
      docker('exec', running()[0] ?? '', '/bin/busybox', 'touch', '/tmp/go')
      const done = await ended(asked.json.operation_id)
      assert.is(done.state, 'succeeded', JSON.stringify(done))
      assert.match((await output(done.id)).text, /in one\none/)
      const old = async () =>
        docker('ps', '-a', '--filter', 'label=dev.bottega.release=1', '--filter', 'label=dev.bottega.app=ran', '-q') ===
        ''
      await eventually('the old release to go', old, 60_000)
    },
    { timeoutMs },
  )

  t(
    'keeps the last of what it prints, and says how much is gone',
    async () => {
      const command = sh('n=0; while [ $n -lt 60000 ]; do n=$((n+1)); echo "line number $n"; done; echo the end')
      const reply = await run({ service: 'web', command, timeout_seconds: 60 })
      const done = await ended(reply.json.operation_id)
      assert.is(done.state, 'succeeded', JSON.stringify(done))
      const { text, headers } = await output(done.id)
      assert.match(text, /line number 60000\nthe end\n$/)
      assert.ok(text.length <= 400_000 && text.length >= 200_000, String(text.length))
      const dropped = Number(headers.get('output-dropped'))
      assert.is(dropped + text.length, done.run.output.next + 0)
      assert.is(Number(headers.get('output-first')), done.run.output.first)
    },
    { timeoutMs },
  )

  t(
    'says what is wrong with it before it begins, and what could not be begun',
    async () => {
      const none = await run({ service: 'wep', command: ['true'] })
      assert.is(none.status, 400)
      assert.is(none.json.errors[0].pointer, '/service')
      assert.match(none.json.errors[0].detail, /db, web/)
      assert.is((await run({ service: 'web', command: [] })).status, 400)
      assert.is((await run({ service: 'web', command: ['true'], env: { '1A': 'x' } })).json.code, 'BAD_ENV')
      const reply = await run({ service: 'web', command: ['/bin/nothing'] })
      const done = await ended(reply.json.operation_id)
      assert.is(done.result.code, 'COMMAND_FAILED')
      assert.match(done.result.detail, /ended with exit code 127: .*no such file/i)
      await gone()
    },
    { timeoutMs },
  )

  t(
    'runs three at once, and queues no more than ten',
    async () => {
      const ids: string[] = []
      const ask = () => run({ service: 'web', command: sh('/bin/busybox sleep 300') }, { prefer: 'respond-async' })
      for (let n = 0; n < 10; n += 1) ids.push((await ask()).json.operation_id)
      const full = await ask()
      assert.is(full.json.code, 'QUEUE_FULL', full.text)
      await eventually('three to run', async () => running().length === 3, 60_000)
      for (const id of ids.toReversed())
        await stage.api('POST', `/api/apps/operations/${id}/cancel`, {}, { prefer: 'respond-async' })
      for (const id of ids) assert.is((await ended(id)).state, 'cancelled')
      await gone()
      const open = 'select 1 from app_runs where dropped_at is null or sealed is not null'
      // Each row follows its container.
      const isLeft = async () => (await query(stage.platform.database.url, open)).length > 0
      await eventually('nothing to be left of them', async () => !(await isLeft()), 30_000)
    },
    { timeoutMs },
  )

  t(
    'is not to be read by another account, and leaves with its app',
    async () => {
      const asked = await run(
        { service: 'web', command: sh('echo mine; /bin/busybox sleep 300') },
        { prefer: 'respond-async' },
      )
      const id = asked.json.operation_id
      await eventually('it to run', async () => running().length === 1, 30_000)
      const other = await stage.as('other')
      assert.is((await other.api('GET', `/api/apps/operations/${id}`)).status, 404)
      assert.is((await other.api('GET', `/api/apps/${app.id}/operations/${id}/output`)).status, 404)
      assert.is((await other.api('POST', `/api/apps/operations/${id}/cancel`, {})).status, 404)
      assert.is((await other.api('POST', `/api/apps/${app.id}/run`, { service: 'web', command: ['true'] })).status, 404)
      const deleted = await stage.api('DELETE', `/api/apps/${app.id}?volumes=delete`)
      assert.ok(deleted.status === 204 || deleted.status === 202, deleted.text)
      await gone()
      const rows = () => query(stage.platform.database.url, 'select 1 from app_runs')
      await eventually('its rows to go', async () => (await rows()).length === 0, 60_000)
    },
    { timeoutMs },
  )
})
