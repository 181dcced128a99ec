import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { call, eventually, type Json } from '../../../support/stage/invoicing.ts'

/** Commands at times of day, by a clock that is moved, over real SSH and Docker. */

const timeoutMs = 480_000
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]
const HOURLY = { name: 'hourly', service: 'web', schedule: '0 * * * *', command: sh('echo the hour; echo done') }

spec('the schedules of an app', (t) => {
  let stage: AppStage
  let app: Json
  let admin: string
  const clock = async (method: string, body?: object): Promise<Json> => {
    const reply = await call(stage.platform.baseUrl, admin, method, '/api/dev/clock', body)
    assert.is(reply.status, 200, reply.text)
    return reply.json
  }
  const now = async () => Date.parse((await clock('GET')).now)
  /** To so many seconds behind the next full hour. */
  const nextHour = async (seconds: number) => {
    const at = await now()
    const next = (Math.floor(at / 3_600_000) + 1) * 3_600_000 + seconds * 1_000
    await clock('POST', { advance: `PT${Math.ceil((next - at) / 1_000)}S` })
    return new Date(next - seconds * 1_000).toISOString()
  }
  const set = async (...schedules: object[]) => {
    const reply = await stage.api('PATCH', `/api/apps/${app.id}`, { schedules })
    assert.is(reply.status, 200, reply.text)
    const marked = () => query(stage.platform.database.url, 'select name from app_schedules')
    await eventually('them to be taken up', async () => (await marked()).length === schedules.length)
  }
  const schedules = async (): Promise<Json[]> =>
    (await stage.api('GET', `/api/apps/${app.id}/schedules`)).json.schedules
  const runsOf = async (name: string): Promise<Json[]> =>
    (await schedules()).find((schedule) => schedule.name === name)?.runs ?? []
  const ended = (name: string, dueAt: string): Promise<Json> =>
    eventually(
      `the end of ${name} of ${dueAt}`,
      async () => {
        const found = (await runsOf(name)).find(({ due_at }) => due_at === dueAt)
        return found?.ended_at && found
      },
      60_000,
    )

  t.before(async () => {
    stage = await startAppStage({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
    await stage.platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'boss' },
      spec: { email: 'boss@demo.test', role: 'admin' },
    })
    admin = await stage.platform.token('boss')
    const isAdmin = async () => (await call(stage.platform.baseUrl, admin, 'GET', '/api/dev/clock')).status === 200
    await eventually('the admin', isAdmin)
    app = await stage.app('timed')
    const deployed = await stage.deploy(app.id, project('one'))
    assert.is(deployed.json.operation.state, 'succeeded', deployed.text)
  })
  t.after(() => stage.end())

  t(
    'run when they are due, once, and what became of them is told',
    async () => {
      await set(HOURLY)
      const [shown] = await schedules()
      assert.is(shown?.time_zone, 'UTC')
      assert.is(shown?.overlap, 'skip')
      assert.is(Date.parse(shown?.next_at) % 3_600_000, 0)
      assert.equal(shown?.runs, [], 'the hour that had passed before it was there is not run')
      const due = await nextHour(2)
      const done = await ended('hourly', due)
      assert.is(done.state, 'succeeded', JSON.stringify(done))
      assert.is(done.exit_code, 0)
      assert.is(done.log_tail, 'the hour\ndone\n')
      assert.ok(done.duration_ms >= 0)
      const output = await stage.api('GET', `/api/apps/${app.id}/operations/${done.operation_id}/output`)
      assert.is(output.text, 'the hour\ndone\n')
      assert.is((await runsOf('hourly')).length, 1)
      const left = async () =>
        docker('ps', '-aq', '--filter', 'label=dev.bottega.run', '--filter', 'label=dev.bottega.app=timed') === ''
      await eventually('its container to go', left, 30_000)
    },
    { timeoutMs },
  )

  t(
    'that fail are told: an event to partners, one to people with kubectl, a counter',
    async () => {
      await set({ ...HOURLY, name: 'broken', command: sh('echo no disk left; exit 5') })
      const due = await nextHour(2)
      const done = await ended('broken', due)
      assert.is(done.state, 'failed')
      assert.is(done.code, 'COMMAND_FAILED')
      assert.match(done.detail, /exit code 5: no disk left/)
      const told = async () =>
        (await stage.api('GET', '/api/events?limit=200')).json.events.filter(
          ({ type }: Json) => type === 'app.schedule_failed',
        )
      const events = await eventually('the event', async () => {
        const found = await told()
        return found.length > 0 && found
      })
      assert.is(events.length, 1)
      assert.equal([events[0].data.app.schedule, events[0].data.app.due_at], ['broken', due])
      const notes = () => stage.platform.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])
      await eventually('the note', async () => /ScheduleFailed/.test(await notes()))
      assert.equal(
        (await schedules()).map(({ name }) => name),
        ['broken'],
        'what is gone is not shown',
      )
    },
    { timeoutMs },
  )

  t(
    'that still run are left out, or begin beside themselves where that is allowed',
    async () => {
      const long = { ...HOURLY, command: sh('/bin/busybox sleep 40') }
      await set({ ...long, name: 'alone' }, { ...long, name: 'beside', overlap: 'allow' })
      const first = await nextHour(2)
      const begun = () => query(stage.platform.database.url, "select 1 from app_runs where state = 'running'")
      await eventually('both to run', async () => (await begun()).length === 2, 30_000)
      const second = await nextHour(2)
      const skipped = await ended('alone', second)
      assert.equal([skipped.state, skipped.code], ['skipped', 'OVERLAP'])
      await eventually('the third', async () => (await begun()).length === 3, 30_000)
      await Promise.all([ended('alone', first), ended('beside', first), ended('beside', second)])
    },
    { timeoutMs },
  )

  t(
    'what was missed runs once more, unless it is later than its deadline',
    async () => {
      const day = { ...HOURLY, schedule: '*/10 * * * *' }
      await set(
        { ...day, name: 'strict', startingDeadlineSeconds: undefined, starting_deadline_seconds: 60 },
        { ...day, name: 'patient', starting_deadline_seconds: 3_600 },
      )
      const { kubectl } = stage.platform
      await kubectl(['annotate', 'bapp', app.id, 'bottega.dev/paused=true'])
      const paused = async () => /Paused/.test(await kubectl(['get', 'bapp', app.id, '-o', 'json']))
      await eventually('the pause', paused)
      const hour = await nextHour(8 * 60)
      assert.equal([await runsOf('strict'), await runsOf('patient')], [[], []])
      await kubectl(['annotate', 'bapp', app.id, 'bottega.dev/paused-'])
      const caught = await ended('patient', hour)
      assert.is(caught.state, 'succeeded', JSON.stringify(caught))
      const missed = await ended('strict', hour)
      assert.equal([missed.state, missed.code], ['skipped', 'MISSED'])
      assert.is((await runsOf('patient')).length, 1)
    },
    { timeoutMs },
  )

  t(
    'are set by kubectl by the same rules',
    async () => {
      const { kubectl } = stage.platform
      const patch = (list: object[]) =>
        kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', JSON.stringify({ spec: { schedules: list } })])
      await patch([{ ...HOURLY, schedule: '0 25 * * *' }])
      const message = ['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions[?(@.type=="Stalled")].message}']
      await eventually('the refusal', async () =>
        /INVALID_FIELD: \/schedules\/0\/schedule the hour "25"/.test(await kubectl(message)),
      )
      const bad = await stage.api('PATCH', `/api/apps/${app.id}`, {
        schedules: [{ ...HOURLY, time_zone: 'Mars/Base' }],
      })
      assert.equal([bad.status, bad.json.errors[0].pointer], [400, '/schedules/0/time_zone'], bad.text)
      const twice = await stage.api('PATCH', `/api/apps/${app.id}`, { schedules: [HOURLY, HOURLY] })
      assert.is(twice.status, 400, twice.text)
      await patch([{ ...HOURLY, timeZone: 'Asia/Kolkata', schedule: '30 * * * *' }])
      const due = await nextHour(2)
      assert.is((await ended('hourly', due)).state, 'succeeded')
    },
    { timeoutMs },
  )
})
