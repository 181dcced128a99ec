import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppStage, bodyOf, project, startAppStage } from '../../support/stage/apps.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'

/** What comes between: cut connections, a control plane that dies, requests to stop. The truth is told in the end. */

const timeoutMs = 180_000
/** Files of its own, so that something is built. */
const RECIPE = 'FROM scratch\nCOPY busybox /bin/busybox\nCOPY marker /\nWORKDIR /tmp\n'
const STEPS = ['check', 'upload', 'images', 'start', 'switch'] as const

spec('a deploy that is disturbed', (t) => {
  let stage: AppStage
  let app: Json
  let count = 0

  const operation = async (id: string): Promise<Json> =>
    (await stage.api('GET', `/api/apps/operations/${id}`)).json.operation
  const ended = (id: string): Promise<Json> =>
    eventually(
      'the operation to end',
      async () => {
        const seen = await operation(id).catch(() => null)
        return seen?.ended_at ? seen : null
      },
      120_000,
    )
  const begin = async (command?: string, recipe = RECIPE): Promise<string> => {
    count += 1
    const sent = project(`v${count}`, command === undefined ? {} : { command })
    sent.files.marker = Buffer.from(`${count}`).toString('base64')
    sent.files.Dockerfile = Buffer.from(recipe).toString('base64')
    const reply = await stage.api('POST', `/api/apps/${app.id}/deploy`, bodyOf(sent), { prefer: 'respond-async' })
    assert.is(reply.status, 202, reply.text)
    assert.is(reply.headers.get('location'), `/api/apps/operations/${reply.json.operation_id}`)
    return reply.json.operation_id
  }
  const reaches = (id: string, step: string) =>
    eventually(`step ${step}`, async () => {
      const seen = await operation(id)
      return seen.ended_at || seen.steps.some((one: Json) => one.name === step && one.state !== 'pending')
    })
  const serves = async (version: number) =>
    assert.is((await stage.visit('shaken')).text.trim(), `v${version}`, `v${version} serves`)
  const countOf = async (table: string, where: string) =>
    (await query(stage.platform.database.url, `select count(*)::int as count from ${table} where ${where}`))[0]?.count

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('shaken', { watch_seconds: 0 })
    assert.is((await ended(await begin())).state, 'succeeded')
  })
  t.after(() => stage.end())

  for (const step of STEPS) {
    t(
      `goes on when the connection is cut at ${step}`,
      async () => {
        const id = await begin()
        await reaches(id, step)
        await stage.host.cutSsh()
        const { state, result } = await ended(id)
        assert.is(state, 'succeeded', JSON.stringify(result))
        await serves(count)
        assert.is(await countOf('app_releases', `operation = '${id}'`), 1)
      },
      { timeoutMs },
    )
  }

  for (const step of ['upload', 'images', 'start'] as const) {
    t(
      `ends in the true state when the controllers are killed at ${step}, and nothing is done twice`,
      async () => {
        const id = await begin()
        await reaches(id, step)
        await stage.platform.controllers.kill()
        await sleep(500)
        await stage.platform.controllers.start()
        const { state, result, steps } = await ended(id)
        assert.is(state, 'succeeded', JSON.stringify(result))
        assert.ok(
          steps.every((one: Json) => one.state === 'succeeded'),
          JSON.stringify(steps),
        )
        await serves(count)
        assert.is(await countOf('app_releases', `operation = '${id}'`), 1)
        assert.is(await countOf('outbox', `purpose = 'event:operation:${id}'`), 1)
      },
      { timeoutMs },
    )
  }

  t(
    'is cancelled while it waits for health, and the old one serves',
    async () => {
      const before = count
      const id = await begin('/bin/busybox sleep 600')
      await reaches(id, 'start')
      const reply = await stage.api('POST', `/api/apps/operations/${id}/cancel`)
      assert.ok(reply.status === 200 || reply.status === 202, reply.text)
      assert.is((await ended(id)).state, 'cancelled')
      await serves(before)
      const late = await stage.api('POST', `/api/apps/operations/${id}/cancel`)
      assert.is(late.status, 200, late.text)
    },
    { timeoutMs },
  )

  t(
    'is cancelled while an image is built: no step of the build goes on, and the old one serves',
    async () => {
      const { text: before } = await stage.visit('shaken')
      const isBuilding = () => /sleep 4322/.test(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))
      const id = await begin(undefined, `${RECIPE}COPY busybox /bin/sh\nRUN /bin/busybox sleep 4322\n`)
      await eventually('the build to run', async () => isBuilding(), 60_000)
      const reply = await stage.api('POST', `/api/apps/operations/${id}/cancel`)
      assert.ok(reply.status === 200 || reply.status === 202, reply.text)
      assert.is((await ended(id)).state, 'cancelled')
      await eventually('the build to be gone', async () => !isBuilding(), 10_000)
      assert.is((await stage.visit('shaken')).text, before)
    },
    { timeoutMs },
  )

  t(
    'cannot be cancelled after the switch',
    async () => {
      const id = await begin()
      assert.is((await ended(id)).state, 'succeeded')
      const reply = await stage.api('POST', `/api/apps/operations/${id}/cancel`)
      assert.is(reply.status, 409)
      assert.is(reply.json.code, 'TOO_LATE')
    },
    { timeoutMs },
  )

  t(
    'several wait for their turn, in the order of asking',
    async () => {
      const ids = [await begin(), await begin(), await begin()]
      const cancelled = await stage.api('POST', `/api/apps/operations/${ids[1]}/cancel`)
      assert.ok(cancelled.status < 300, cancelled.text)
      const all = [await ended(ids[0] as string), await ended(ids[1] as string), await ended(ids[2] as string)]
      assert.equal(
        all.map(({ state }) => state),
        ['succeeded', 'cancelled', 'succeeded'],
      )
      await serves(count)
    },
    { timeoutMs },
  )

  t(
    'what is over leaves the host: one project of the app runs',
    async () => {
      await eventually(
        'what is over to go',
        async () => (await countOf('app_releases', `retired_at is null and state in ('failed', 'superseded')`)) === 0,
        90_000,
      )
      assert.is(await countOf('app_releases', `state = 'live'`), 1)
    },
    { timeoutMs },
  )
})
