import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import {
  type AppStage,
  busybox,
  type Project,
  registerHost,
  startAppStage,
  visitHost,
} from '../../../support/stage/apps.ts'
import { addAccount } from '../../../support/stage/callers.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'
import { call, eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/**
 * An app that writes a row ten times a second, on two hosts of their own: it moves with all of its rows, and comes back to them where the
 * other host cannot run it. Each row has the number of the one before and one more, so that whoever writes into two copies is seen.
 */

const timeoutMs = 400_000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]

/** What is `strict` knows the volume that it was made in, and starts in no copy of it. */
const WRITE = `b=/bin/busybox; cd /data
if [ -e strict ] && [ "$($b cat strict)" != "$($b stat -c %i strict)" ]; then exit 4; fi
touch() { $b touch "$@"; }; touch rows
$b httpd -p 9000 -h /data
n=$($b wc -l < rows)
while :; do n=$((n + 1)); echo $n >> rows; $b sleep 0.1; done`

const counting = (): Project => ({
  compose: `services:
  counter:
    build: .
    command: ${JSON.stringify(sh(WRITE)).replaceAll('$', '$$$$')}
    volumes: ["data:/data"]
    expose: ["9000"]
    restart: unless-stopped
    stop_grace_period: 1s
volumes:
  data:
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

spec('an app that keeps something and moves', (t) => {
  let stage: AppStage
  let green: AppHost
  let app: Json
  let admin: string
  const path = () => `/api/apps/${app.id}`
  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation?.state, 'succeeded', text)
  const shown = async () => (await stage.api('GET', path())).json.app
  const move = (host: string, rest = '?confirm_downtime=1') =>
    stage.operate('POST', `${path()}/move${rest}`, { host_id: host, forward_seconds: 3_600 })
  const rowsIn = (text: string): number[] => text.split('\n').filter(Boolean).map(Number)
  const rowsAt = async (host: AppHost): Promise<number[]> => {
    const at = { ...host, baseDomain: stage.host.baseDomain }
    const { status, text } = await visitHost(at, 'counter', '/rows', {})
    assert.is(status, 200, text)
    return rowsIn(text)
  }
  const onHost = (host: AppHost, ...args: string[]): string =>
    execFileSync('docker', args, {
      encoding: 'utf8',
      env: { ...process.env, DOCKER_HOST: `unix://${host.dockerSocket}` },
    })
  const containers = (host: AppHost, ...more: string[]): string[] =>
    onHost(host, 'ps', '-q', ...more, '--filter', 'label=dev.bottega.app=counter')
      .split('\n')
      .filter(Boolean)
  const volumes = (host: AppHost): string[] =>
    onHost(host, 'volume', 'ls', '-q', '--filter', 'name=^counter-base_').split('\n').filter(Boolean)
  const leftovers = (host: AppHost): string[] =>
    onHost(host, 'volume', 'ls', '-q', '--filter', 'label=dev.bottega.copy=counter').split('\n').filter(Boolean)
  /** Of a container that does not run. */
  const rowsOfStopped = (host: AppHost): number[] => {
    const [id = ''] = containers(host, '-a')
    return rowsIn(
      execFileSync('sh', ['-c', `docker cp ${id}:/data/rows - | tar -xO`], {
        encoding: 'utf8',
        env: { ...process.env, DOCKER_HOST: `unix://${host.dockerSocket}` },
      }),
    )
  }
  const counted = (rows: readonly number[]) =>
    assert.equal(
      rows,
      rows.map((_, place) => place + 1),
    )
  const inside = async (script: string) => {
    const reply = await stage.operate('POST', `${path()}/run`, { service: 'counter', command: sh(script) })
    assert.is(reply.json.operation?.state, 'succeeded', reply.text)
  }
  const writes = async (host: AppHost) => {
    const before = (await rowsAt(host)).length
    await eventually('more rows', async () => (await rowsAt(host)).length > before, 30_000)
  }
  const timeIsUp = () => query(stage.platform.database.url, "update app_slugs set until = now() where place = 'left'")
  const hasLeft = async () => (await shown()).left_hosts.length === 0

  t.before(
    async () => {
      stage = await startAppStage()
      green = await startAppHost({ docker: 'own' })
      await green.prepareBuilds()
      await registerHost(stage.platform, green, 'green', { baseDomain: stage.host.baseDomain })
      admin = await addAccount(stage.platform, 'chief', { role: 'admin' })
      app = await stage.app('counter', { watch_seconds: 0, drain_seconds: 1 })
      succeeded(await stage.deploy(app.id, counting()))
      await writes(stage.host)
    },
    { timeoutMs: 600_000 },
  )
  t.after(async () => {
    await stage?.end()
    await green?.end()
  })

  t(
    'is told what goes with it and how long it stands still, and is not stopped until that is confirmed',
    async () => {
      const { plan } = (await move('green', '?dry_run=1')).json
      assert.equal(
        plan.volumes.map(({ name }: Json) => name),
        ['data'],
      )
      assert.ok(plan.downtime_seconds > 0 && plan.downtime_seconds_max > plan.downtime_seconds, JSON.stringify(plan))
      const refused = (await move('green', '')).json
      assert.is(refused.code, 'DOWNTIME_NOT_CONFIRMED')
      assert.match(refused.detail, new RegExp(`for about ${plan.downtime_seconds} s: data`))
      const drained = await eventually('the drain', async () => {
        const reply = await call(stage.platform.baseUrl, admin, 'POST', '/api/apps/hosts/local/drain', {})
        return reply.status === 200 && reply
      })
      await stage.platform.kubectl(['patch', 'bhost', 'local', '--type=merge', '-p', '{"spec":{"cordoned":false}}'])
      const [one] = drained.json.apps
      assert.equal([one.state, one.code], ['stays', 'DOWNTIME_NOT_CONFIRMED'], drained.text)
      assert.equal(containers(green, '-a'), [])
      await writes(stage.host)
    },
    { timeoutMs },
  )

  t(
    'has every row there, and nothing is written where it was',
    async () => {
      const reply = await move('green')
      succeeded(reply)
      const step = reply.json.operation.steps.find(({ name }: Json) => name === 'volumes')
      assert.match(step.message, /data \(\d+ MiB packed\); sums agree/)
      assert.is((await shown()).host_id, 'green')
      assert.equal(containers(stage.host), [], 'what runs where it was')
      const left = rowsOfStopped(stage.host)
      await writes(green)
      const rows = await rowsAt(green)
      counted(left)
      counted(rows)
      assert.ok(rows.length > left.length, `${rows.length} of ${left.length}`)
      await sleep(1_000)
      assert.equal(rowsOfStopped(stage.host), left)
      // Whoever still comes to the old address is sent on.
      assert.ok((await rowsAt(stage.host)).length >= rows.length)
      assert.equal([volumes(stage.host), leftovers(stage.host), leftovers(green)], [['counter-base_data'], [], []])
      const [running = ''] = containers(green)
      const policy = onHost(green, 'inspect', '--format', '{{.HostConfig.RestartPolicy.Name}}', running).trim()
      assert.is(policy, 'unless-stopped', 'its engine starts it again')
      const [view] = (await shown()).left_hosts
      assert.equal([view.host_id, view.volumes], ['local', ['data']])
    },
    { timeoutMs },
  )

  t(
    'leaves what it held where it was for as long as visitors are sent on',
    async () => {
      await timeIsUp()
      await eventually('the old host to be left', hasLeft, 90_000)
      assert.equal([containers(stage.host, '-a'), volumes(stage.host)], [[], []])
      counted(await rowsAt(green))
    },
    { timeoutMs },
  )

  t(
    'goes on where it was when the other host cannot run it, with all of its rows',
    async () => {
      await inside('cd /data; : > strict; /bin/busybox stat -c %i strict > strict')
      const [before = ''] = containers(green)
      const reply = await move('local')
      assert.equal(
        [reply.json.operation?.state, reply.json.operation?.result?.code],
        ['failed', 'RELEASE_FAILED'],
        JSON.stringify(reply.json),
      )
      assert.is((await shown()).host_id, 'green')
      assert.equal([containers(stage.host), containers(green)], [[], [before]])
      await writes(green)
      counted(await rowsAt(green))
      const policy = onHost(green, 'inspect', '--format', '{{.HostConfig.RestartPolicy.Name}}', before).trim()
      assert.is(policy, 'unless-stopped')
      await eventually('what was begun to go', hasLeft, 60_000)
      assert.equal([volumes(stage.host), leftovers(stage.host), leftovers(green)], [[], [], []])
      await inside('/bin/busybox rm /data/strict')
    },
    { timeoutMs },
  )

  t(
    'goes on where it was when somebody stops the move while it stands still',
    async () => {
      const asked = await stage.api(
        'POST',
        `${path()}/move?confirm_downtime=1`,
        { host_id: 'local' },
        { prefer: 'respond-async' },
      )
      const { id } = asked.json.operation
      await eventually('it to stand still', async () => containers(green).length === 0, 200_000)
      const stopped = await stage.operate('POST', `/api/apps/operations/${id}/cancel`, {})
      assert.is(stopped.json.operation.state, 'cancelled', stopped.text)
      await writes(green)
      counted(await rowsAt(green))
      assert.equal(containers(stage.host), [])
      await eventually('what was begun to go', hasLeft, 60_000)
    },
    { timeoutMs },
  )

  t(
    'is refused away from a host that may not be touched, with what is to be done',
    async () => {
      const withdrawn = await call(stage.platform.baseUrl, admin, 'POST', '/api/apps/hosts/green/withdraw', {
        reason: 'a test',
      })
      assert.is(withdrawn.status, 200, withdrawn.text)
      const { json } = await move('local')
      assert.is(json.code, 'VOLUMES_AWAY', JSON.stringify(json))
      assert.match(json.detail, /data .* green .*not approved; it has no backup/)
      counted(await rowsAt(green))
    },
    { timeoutMs },
  )
})
