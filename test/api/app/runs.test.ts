import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Commands, runs and schedules over REST, on a host that nobody reaches: what is asked, refused, shown and forgotten. */

const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
const MIGRATE = { service: 'web', command: ['npm', 'run', 'migrate'] }
const NIGHTLY = {
  name: 'nightly',
  service: 'web',
  command: ['tidy'],
  schedule: '0 3 * * *',
  time_zone: 'Europe/Berlin',
}

spec('commands of apps over REST', (t) => {
  let platform: Platform
  let app: Json
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const patch = (body: object) => api('PATCH', `/api/apps/${app.id}`, body)
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const apply = (kind: string, name: string, given: object) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind,
      metadata: { name },
      spec: given,
    })
  const enterRun = (id: string, change: Record<string, string | null> = {}) => {
    const row: Record<string, string | null> = {
      ...{ id, app: app.id, account: 'demo', cause: 'asked', service: 'web', command: '["id"]', timeout_seconds: '60' },
      ...{ repeatable: 'false', env_keys: '{}', attempt: '1', state: 'succeeded', created_at: '2026-11-22T10:00:00Z' },
      ...{ started_at: '2026-11-22T10:00:01Z', ended_at: '2026-11-22T10:00:03Z', dropped_at: '2026-11-22T10:00:04Z' },
      ...change,
    }
    const names = Object.keys(row)
    return sql(
      `insert into app_runs (${names.join()}) values (${names.map((_, n) => `$${n + 1}`).join()})`,
      Object.values(row),
    )
  }

  t.before(async () => {
    platform = await startPlatform()
    const capable = '{"spec":{"capabilities":["app.deploy"]}}'
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', capable])
    const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey: HOST_KEY, baseDomain: 'away.test' }
    await apply('Host', 'local', { ...at, approved: true, class: 'shared' })
    app = await eventually('the app', async () => {
      const made = await api('POST', '/api/apps', { slug: 'shop', commands: { pre_release: MIGRATE } })
      return made.status === 201 && made.json.app
    })
  })
  t.after(() => platform.end())

  t('are declared with the app, shown whole, and replaced whole', async () => {
    const whole = { timeout_seconds: 600, repeatable: false }
    assert.equal(app.commands, { pre_release: { ...MIGRATE, ...whole }, post_release: null })
    const more = { ...MIGRATE, timeout_seconds: 30, repeatable: true }
    assert.equal((await patch({ commands: { pre_release: more } })).json.app.commands.pre_release, more)
    const { json } = await patch({
      commands: { pre_release: MIGRATE, post_release: { service: 'web', command: ['warm'] } },
    })
    assert.equal(json.app.commands.pre_release, { ...MIGRATE, ...whole }, 'nothing of before is left')
    assert.equal(json.app.commands.post_release.command, ['warm'])
    assert.equal((await patch({ commands: null })).json.app.commands, { pre_release: null, post_release: null })
  })

  const wrong: [pointer: string, body: object][] = [
    ['/commands/pre_release/command', { commands: { pre_release: { service: 'web', command: [] } } }],
    ['/commands/pre_release', { commands: { pre_release: { service: 'web' } } }],
    ['/commands/post_release/command/0', { commands: { post_release: { service: 'web', command: [''] } } }],
    ['/commands/pre_release/timeout_seconds', { commands: { pre_release: { ...MIGRATE, timeout_seconds: 3_601 } } }],
    ['/commands/pre_relase', { commands: { pre_relase: MIGRATE } }],
    ['/schedules/0/schedule', { schedules: [{ ...NIGHTLY, schedule: '0 25 * * *' }] }],
    ['/schedules/0/schedule', { schedules: [{ ...NIGHTLY, schedule: '0 0 31 2 *' }] }],
    ['/schedules/0/time_zone', { schedules: [{ ...NIGHTLY, time_zone: 'Mars/Base' }] }],
    ['/schedules/1/name', { schedules: [NIGHTLY, NIGHTLY] }],
    ['/schedules/0/overlap', { schedules: [{ ...NIGHTLY, overlap: 'maybe' }] }],
    ['/schedules', { schedules: Array.from({ length: 21 }, (_, n) => ({ ...NIGHTLY, name: `n-${n}` })) }],
  ]
  for (const [pointer, body] of wrong)
    t(
      `with a fault at ${pointer} are refused there, and nothing is stored: ${JSON.stringify(body).slice(0, 60)}`,
      async () => {
        const before = (await api('GET', `/api/apps/${app.id}`)).json.app
        const { status, json, text } = await patch(body)
        assert.equal([status, json.errors?.[0].pointer.startsWith(pointer)], [400, true], text)
        const { commands, schedules, version } = (await api('GET', `/api/apps/${app.id}`)).json.app
        assert.equal([commands, schedules, version], [before.commands, before.schedules, before.version])
      },
    )

  t('a schedule is shown with when it is due next, and with its last runs', async () => {
    const set = await patch({ schedules: [NIGHTLY, { ...NIGHTLY, name: 'resting', suspended: true }] })
    assert.is(set.status, 200, set.text)
    for (let n = 0; n < 25; n += 1) {
      const due_at = new Date(Date.UTC(2026, 9, 1 + n, 2)).toISOString()
      await enterRun(`op-due-${n}`, { cause: 'schedule', schedule: 'nightly', due_at, exit_code: '0' })
    }
    const { json } = await api('GET', `/api/apps/${app.id}/schedules`)
    const [nightly, resting] = json.schedules
    assert.equal(
      [nightly.time_zone, nightly.starting_deadline_seconds, nightly.overlap],
      ['Europe/Berlin', 300, 'skip'],
    )
    assert.match(nightly.next_at, /T0[12]:00:00\.000Z$/)
    assert.equal(
      [nightly.runs.length, nightly.runs[0].operation_id, nightly.runs[0].duration_ms],
      [20, 'op-due-24', 2_000],
    )
    assert.equal([resting.next_at, resting.runs], [null, []])
    const woken = () => sql("select due_at from schedule where resource = $1 and purpose = 'app-schedules'", [app.id])
    const rows = await eventually('the app to be woken for it', async () => {
      const found = await woken()
      return found.length > 0 && found
    })
    assert.is(new Date(rows[0]?.due_at as string).toISOString(), nightly.next_at)
    await patch({ schedules: null })
    await eventually('nobody to be woken', async () => (await woken()).length === 0)
    assert.equal((await api('GET', `/api/apps/${app.id}/schedules`)).json.schedules, [])
  })

  t('by kubectl the same rules hold, in the schema or with the same code', async () => {
    const write = (given: object) =>
      platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', JSON.stringify({ spec: given })])
    const { time_zone: timeZone, ...nightly } = NIGHTLY
    const twice = await write({ schedules: [nightly, nightly] }).catch(String)
    assert.match(twice, /Duplicate value/)
    await write({ schedules: [{ ...nightly, timeZone, schedule: 'now and then' }] })
    const stalled = ['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions[?(@.type=="Stalled")].message}']
    await eventually('the refusal', async () =>
      /INVALID_FIELD: \/schedules\/0\/schedule has 3 fields/.test(await platform.kubectl(stalled)),
    )
    await write({ schedules: [{ ...nightly, timeZone }] })
    await eventually(
      'the schedule',
      async () => (await api('GET', `/api/apps/${app.id}`)).json.app.schedules.length === 1,
    )
  })

  t('a run needs something that is live, and a good body; what is refused is not stored', async () => {
    const path = `/api/apps/${app.id}/run`
    assert.is((await api('POST', path, MIGRATE)).json.code, 'NOT_RELEASED')
    for (const body of [{}, { service: 'web' }, { ...MIGRATE, command: 'ls' }, { ...MIGRATE, timeout_seconds: 86_401 }])
      assert.is((await api('POST', path, body)).status, 400, JSON.stringify(body))
    const { json } = await api('POST', path, { ...MIGRATE, stdin: 'x' })
    assert.equal([json.code, json.errors[0].pointer], ['UNKNOWN_FIELD', '/stdin'])
    assert.equal(await sql("select 1 from app_runs where cause = 'asked'"), [])
    assert.is((await api('POST', '/api/apps/app-none/run', MIGRATE)).status, 404)
  })

  t('what is live is read from the rows, not from a view that is a pass behind them', async () => {
    await sql(
      `insert into app_releases (app, number, id, operation, state, source, record, created_at, live_at)
       values ($1, 1, 'rel-live', 'op-live', 'live', 'sha256:x', '{"services": ["store"]}', now(), now())`,
      [app.id],
    )
    try {
      const { json } = await api('POST', `/api/apps/${app.id}/run`, MIGRATE)
      assert.equal([json.code, json.errors[0].pointer], ['INVALID_FIELD', '/service'], JSON.stringify(json))
      assert.match(json.errors[0].detail, /Release 1 has the services store\./)
    } finally {
      await sql('delete from app_releases where app = $1', [app.id])
    }
  })

  t('a run is read as an operation, and what it printed from any byte on', async () => {
    await enterRun('op-read', { exit_code: '0', output_first: '6', output_next: '18', message: 'it ended well' })
    await sql(
      "insert into app_run_output (run, start, content) values ('op-read', 6, E'line 2\\n'), ('op-read', 13, E'end\\u00e9')",
    )
    await sql("update app_runs set output_next = 18 where id = 'op-read'")
    const { operation } = (await api('GET', '/api/apps/operations/op-read')).json
    assert.equal([operation.kind, operation.state, operation.result.exit_code], ['run', 'succeeded', 0])
    assert.equal(operation.run.output, { first: 6, next: 18, dropped: 6 })
    const read = (more: string) => api('GET', `/api/apps/${app.id}/operations/op-read/output${more}`)
    const whole = await read('')
    assert.equal(
      [
        whole.text,
        whole.headers.get('output-first'),
        whole.headers.get('output-next'),
        whole.headers.get('output-state'),
      ],
      ['line 2\nendé', '6', '18', 'succeeded'],
    )
    assert.is((await read('?offset=13')).text, 'endé')
    assert.is((await read('?offset=18')).text, '')
    const followed = await read('?follow=1')
    assert.is(
      followed.text,
      'event: gap\ndata: {"from":0,"to":6}\n\nid: 13\ndata: line 2\n\nid: 18\ndata: endé\n\nevent: end\ndata: {"state":"succeeded","exit_code":0,"code":null}\n\n',
    )
    assert.is((await api('POST', '/api/apps/operations/op-read/cancel', {})).json.code, 'TOO_LATE')
    assert.is((await api('GET', `/api/apps/${app.id}/operations/op-none/output`)).status, 404)
  })
})
