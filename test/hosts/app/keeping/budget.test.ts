import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppCaller, type AppStage, project, SERVE, settled, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { call, eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** What an app may use: given to what runs at once, and summed up against the host. */

const timeoutMs = 400_000
const MIB = 1_048_576

spec('the budget of an app', (t) => {
  let stage: AppStage
  let other: AppCaller
  let app: Json
  const succeeded = (reply: Reply) => assert.is(reply.json.operation?.state, 'succeeded', reply.text)
  const container = () => docker('ps', '-q', '--filter', 'label=dev.bottega.app=frugal')
  const limits = () =>
    docker(
      'inspect',
      '-f',
      '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.NanoCpus}} {{.State.StartedAt}}',
      container(),
    )
  const patch = async (budget: object) => settled(stage, await stage.api('PATCH', `/api/apps/${app.id}`, { budget }))
  /** Nothing until it was measured for the first time. */
  const metered = () =>
    docker('exec', 'bottega-meter', '/bin/sh', '-c', 'if [ -f /run/apps/frugal ]; then cat /run/apps/frugal; fi')
  const overcommit = (value: object | null) =>
    stage.platform.kubectl([
      'patch',
      'bhost',
      'local',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { overcommit: value } }),
    ])
  const room = async () => (await stage.api('GET', '/api/apps/hosts/local')).json.room

  t.before(
    async () => {
      stage = await startAppStage({ env: { BOTTEGA_ADMIN_EMAIL: 'root@demo.test' } })
      other = await stage.as('other')
      app = await stage.app('frugal', { application_policy: 'none' })
      // Not the last command of the shell, which would become it and hold nothing.
      const takes = `x=$(/bin/busybox dd if=/dev/zero bs=1M count=100 2>/dev/null | /bin/busybox tr '\\0' a); ${SERVE.replace('exec ', '')}; :`
      succeeded(await stage.deploy(app.id, project('one', { command: takes })))
    },
    { timeoutMs },
  )
  t.after(() => stage.end())

  t(
    'reaches what runs at once, which is not started anew for it',
    async () => {
      const before = limits().split(' ')
      const reply = await patch({ cpu_millis: 300, memory_mib: 600, disk_gib: 2 })
      assert.is(reply.status, 200, reply.text)
      assert.equal(reply.json.app.applied_budget, { cpu_millis: 300, memory_mib: 600, disk_gib: 2 })
      assert.equal(limits().split(' '), [String(600 * MIB), String(600 * MIB), '300000000', before[3]])
      await eventually('the meter to hold it to its disk', async () => / 2048 within 0$/.test(metered()), 60_000)
      assert.is((await stage.visit('frugal')).text.trim(), 'one')
    },
    { timeoutMs },
  )

  t(
    'is refused below what runs uses, with the figures, and what runs keeps what it has',
    async () => {
      const before = limits()
      const reply = await patch({ cpu_millis: 300, memory_mib: 64, disk_gib: 2 })
      assert.equal([reply.status, reply.json.code], [409, 'BUDGET_REFUSED'], reply.text)
      assert.match(reply.json.detail, /web uses \d{3} MiB of memory, and would have 64/)
      assert.is(limits(), before)
      const { json } = await stage.api('GET', `/api/apps/${app.id}`)
      assert.equal([json.app.budget.memory_mib, json.app.applied_budget.memory_mib], [64, 600])
      assert.is((await patch({ cpu_millis: 300, memory_mib: 600, disk_gib: 2 })).status, 200)
    },
    { timeoutMs },
  )

  t(
    'is summed up against the host: who comes last is refused, over REST and by kubectl, and two at once are not both taken',
    async () => {
      const { used, free, apps } = await room()
      assert.equal([apps, used.memory_mib], [1, 600])
      assert.ok(free.memory_mib > 0)
      // Memory for one more of 1,024 MiB, in hundredths of what the machine has.
      const { capacity } = JSON.parse(await stage.platform.kubectl(['get', 'bhost', 'local', '-o=json'])).status
      await overcommit({ memoryPercent: Math.ceil((1_700 * 100) / capacity.memoryMib) })
      await eventually('the host to be known as smaller', async () => (await room()).free.memory_mib < 2_000)
      const made = await Promise.all(
        ['left', 'right'].map(async (slug) =>
          settled(other, await other.api('POST', '/api/apps', { slug, host_id: 'local' })),
        ),
      )
      assert.equal(made.map(({ status }) => status).sort(), [201, 409])
      const refused = made.find(({ status }) => status === 409) as Reply
      assert.is(refused.json.code, 'HOST_FULL')
      assert.match(refused.json.detail, /1024 MiB of memory are asked for, \d+ of \d+ are left/)
      const larger = await patch({ cpu_millis: 300, memory_mib: 1_024, disk_gib: 2 })
      assert.equal([larger.status, larger.json.code], [409, 'HOST_FULL'])
      const spec = { account: 'demo', slug: 'third', hostId: 'local' }
      const metadata = { name: 'app-third', namespace: stage.platform.namespace.name }
      await stage.platform.kubectl(['apply', '-f', '-'], {
        apiVersion: 'bottega.dev/v1alpha1',
        kind: 'App',
        metadata,
        spec,
      })
      const reason = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].message}'
      await eventually('the refusal', async () =>
        /HOST_FULL: local is full/.test(await stage.platform.kubectl(['get', 'bapp', 'app-third', reason])),
      )
      await overcommit(null)
      await eventually(
        'it to have its room',
        async () =>
          /waits for its first deploy/.test(await stage.platform.kubectl(['get', 'bapp', 'app-third', reason])),
        60_000,
      )
      await stage.platform.kubectl(['delete', 'bapp', 'app-third'])
      await eventually('its room to be free', async () => (await room()).apps === 2)
    },
    { timeoutMs },
  )

  t(
    'of a host whose approval is withdrawn serves on, and nothing new runs there',
    async () => {
      const { baseUrl } = stage.platform
      const mine = await stage.api('POST', '/api/apps/hosts/local/withdraw', {})
      assert.is(mine.status, 403, 'who runs apps on it does not decide about it')
      const admin = await stage.platform.token('admin')
      const withdrawn = await eventually('the role', async () => {
        const reply = await call(baseUrl, admin, 'POST', '/api/apps/hosts/local/withdraw', {})
        return reply.status === 200 && reply
      })
      assert.is(withdrawn.json.host.approved, false)
      await eventually('the app to say so', async () => {
        const { json } = await stage.api('GET', `/api/apps/${app.id}`)
        return json.app.stalled?.code === 'HOST_NOT_APPROVED'
      })
      assert.is((await stage.visit('frugal')).text.trim(), 'one')
      const refused = await stage.deploy(app.id, project('two'))
      assert.equal([refused.status, refused.json.code], [409, 'HOST_NOT_APPROVED'])
      assert.is((await call(baseUrl, admin, 'POST', '/api/apps/hosts/local/withdraw', {})).status, 200, 'twice is once')
    },
    { timeoutMs },
  )
})
