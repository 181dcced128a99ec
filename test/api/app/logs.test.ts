import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Logs and figures of apps over REST, as rows have them: what a host gives is tried in test/hosts/logs. */

const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`

spec('logs of apps over REST', (t) => {
  let platform: Platform
  let other: string
  let app: Json
  let operation: string
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const run = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const keep = (n: number, step: string, lines: string[]) =>
    run(
      'insert into app_kept_lines (app, release, n, count, step, content, at) values ($1, 1, $2, $3, $4, $5, now())',
      [app.id, n, lines.length, step, lines.join('\n')],
    )

  t.before(async () => {
    platform = await startPlatform()
    other = await platform.token('other')
    for (const account of ['demo', 'other']) {
      await platform.kubectl([
        'patch',
        'acct',
        account,
        '--type=merge',
        '-p',
        '{"spec":{"capabilities":["app.deploy"]}}',
      ])
    }
    const spec = {
      address: '127.0.0.1',
      port: 9,
      user: 'deploy',
      hostKey: HOST_KEY,
      baseDomain: 'local.test',
      approved: true,
      class: 'shared',
    }
    const host = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Host', metadata: { name: 'local' }, spec }
    await platform.kubectl(['apply', '-f', '-'], host)
    app = await eventually('an app', async () => {
      const { status, json } = await api('POST', '/api/apps', { slug: 'said', host_id: 'local' })
      return status === 201 && json.app
    })
    const patched = await api('PATCH', `/api/apps/${app.id}/env`, { env: { A: 'one' } })
    operation = patched.json.operation_id
    await run(
      `insert into app_releases (app, number, id, operation, state, source, created_at)
       values ($1, 1, 'rel-said', $2, 'failed', $3, now())`,
      [app.id, operation, 'a'.repeat(64)],
    )
    await run('update app_operations set release = 1 where id = $1', [operation])
    await keep(1, 'build', ['web: the build begins', 'web 1/2 FROM scratch'])
    await keep(7, 'start', ['web | one', 'db | two'])
  })
  t.after(() => platform.end())

  t('give the lines behind the one that is known, and say which were not kept', async () => {
    const path = `/api/apps/${app.id}/operations/${operation}/logs`
    const all = [
      'web: the build begins',
      'web 1/2 FROM scratch',
      '… lines 3 to 6 were not kept',
      'web | one',
      'db | two',
    ]
    assert.equal((await api('GET', path)).text.trimEnd().split('\n'), all)
    assert.equal((await api('GET', `${path}?after=7`)).text, 'db | two\n')
    assert.is((await api('GET', `${path}?after=8`)).text, '')
    const followed = await api('GET', `${path}?follow=1&after=1`)
    assert.is(followed.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.is(
      followed.text,
      `id: 2\nevent: build\ndata: web 1/2 FROM scratch\n\nid: 6\nevent: start\ndata: … lines 3 to 6 were not kept\n\nid: 7\nevent: start\ndata: web | one\n\nid: 8\nevent: start\ndata: db | two\n\nid: 8\nevent: end\ndata: succeeded\n\n`,
    )
    const again = await api('GET', `${path}?follow=1`, undefined, { 'last-event-id': '7' })
    assert.is(again.text, 'id: 8\nevent: start\ndata: db | two\n\nid: 8\nevent: end\ndata: succeeded\n\n')
  })

  t('are kept of a release that failed, by step and by service', async () => {
    const of = async (query: string) => (await api('GET', `/api/apps/${app.id}/logs?release=1&${query}`)).text
    assert.is(await of('step=start'), '… lines 3 to 6 were not kept\nweb | one\ndb | two\n')
    assert.is(await of('step=start&service=db'), 'db | two\n')
    assert.is(await of('tail=1'), 'db | two\n')
  })

  t('are not there for another account, nor under another app', async () => {
    for (const rest of [`operations/${operation}/logs`, 'logs?release=1', 'metrics', 'health']) {
      const { status, json } = await call(platform.baseUrl, other, 'GET', `/api/apps/${app.id}/${rest}`)
      assert.equal([rest, status, json.code], [rest, 404, 'NOT_FOUND'])
    }
    const second = (await api('POST', '/api/apps', { slug: 'second', host_id: 'local' })).json.app
    const strange = await api('GET', `/api/apps/${second.id}/operations/${operation}/logs`)
    assert.equal([strange.status, strange.json.code], [404, 'NOT_FOUND'])
  })

  const refused: [string, string][] = [
    ['a line that is no number', 'after=x'],
    ['an unknown step', 'step=deploy'],
    ['an instant that is none', 'since=yesterday'],
    ['a service with a blank', 'service=a%20b'],
  ]
  for (const [what, asked] of refused) {
    t(`refuse ${what}`, async () => {
      const path = asked.startsWith('after') ? `operations/${operation}/logs` : 'logs'
      const { status, json } = await api('GET', `/api/apps/${app.id}/${path}?${asked}`)
      assert.is(status, 400, json.code)
    })
  }

  t('are beside the times in which it was not as it is to be, the newest first', async () => {
    await run(
      `insert into app_episodes (app, n, release, code, service, exit_code, detail, log, began_at, attempts, ended_at) values
       ($1, 1, 1, 'SERVICE_STOPPED', 'web', 137, 'web is exited, exit code 137', 'the end', now() - interval '2 hours', 1, now() - interval '1 hour'),
       ($1, 2, 1, 'ROUTE_LOST', null, null, 'the proxy did not have its route', null, now(), 0, null)`,
      [app.id],
    )
    const { json } = await api('GET', `/api/apps/${app.id}/health`)
    assert.equal(
      json.episodes.map((one: Json) => [one.number, one.code, one.service, one.exit_code, one.log_tail]),
      [
        [2, 'ROUTE_LOST', null, null, null],
        [1, 'SERVICE_STOPPED', 'web', 137, 'the end'],
      ],
    )
    assert.equal([json.total, json.episodes[0].ended_at, json.health.state], [2, null, 'unknown'])
    assert.ok(Date.parse(json.episodes[1].ended_at) > Date.parse(json.episodes[1].began_at))
    const second = (await api('GET', `/api/apps/${app.id}/health?limit=1&offset=1`)).json
    assert.equal([second.total, second.episodes.length, second.episodes[0].number], [2, 1, 1])
  })

  t('are beside figures by the minute, within the last seven days', async () => {
    const minute = `insert into app_minutes (app, at, requests, errors, took, cpu_ms, looked, memory_mib, disk_mib, restarts)
values ($1, date_trunc('minute', now()) - $2::interval, 60, 6, '{60,0,0,0,0,0,0,0,0,0,0,0}', 6000, 60, 20, 5, 1)`
    for (const ago of ['2 minutes', '3 hours', '8 days']) await run(minute, [app.id, ago])
    const { metrics } = (await api('GET', `/api/apps/${app.id}/metrics`)).json
    assert.equal([metrics.total.requests, metrics.total.errors_5xx, metrics.points.length], [120, 12, 2])
    assert.equal([metrics.points[0].cpu_millis, metrics.points[0].p95_ms, metrics.points[0].memory_mib], [100, 5, 20])
    const from = new Date(Date.now() - 3_600_000).toISOString()
    assert.is((await api('GET', `/api/apps/${app.id}/metrics?from=${from}`)).json.metrics.total.requests, 60)
    const old = new Date(Date.now() - 30 * 86_400_000).toISOString()
    const all = (await api('GET', `/api/apps/${app.id}/metrics?from=${old}`)).json.metrics
    assert.equal([all.total.requests, all.step_seconds], [120, 900])
    assert.is((await api('GET', `/api/apps/${app.id}/metrics?from=2030-01-01&to=2029-01-01`)).status, 400)
  })
})
