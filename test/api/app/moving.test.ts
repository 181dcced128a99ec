import { query } from '../../../hack/platform/postgres.ts'
import { addAwayHost } from '../../support/builders/app/awayhost.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Moves and drains over REST, on hosts that are approved and cannot be reached: what is refused, to whom, and with which figures. */

const COMPOSE = 'services:\n  web:\n    image: docker.io/library/nginx:1.29\n    expose: ["80"]\n'
const MACHINE = { arch: 'amd64', capacity: { cpuMillis: 4_000, memoryMib: 8_192, diskGib: 100 } }

spec('moves over REST', (t) => {
  let platform: Platform
  let other: string
  let admin: string
  let app: Json
  let digest: string
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const by = (token: string, method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, token, method, path, body)
  const sql = (text: string) => query(platform.database.url, text)
  const host = (name: string, spec: object = {}) => addAwayHost(platform, { name, machine: MACHINE, spec })
  const move = (wanted: string, more: object = {}, rest = '') =>
    api('POST', `/api/apps/${app.id}/move${rest}`, { host_id: wanted, ...more })
  const codeOf = async (wanted: string): Promise<string> => (await move(wanted)).json.code
  const record = (more: object = {}) =>
    sql(
      `update app_releases set record = '${JSON.stringify({ host: 'local', arch: 'amd64', ...more })}' where number = 1`,
    )
  /** As if a host had started it. */
  const plantLive = async () => {
    await sql(`insert into app_operations (id, app, account, n, kind, intent, by_controller, state, release, created_at, ended_at, switch_at)
values ('op-planted', '${app.id}', 'demo', 1, 'deploy', '{"kind": "deploy", "digest": "${digest}", "envVersion": null, "volumes": []}', true, 'succeeded', 1, now(), now(), now())`)
    await sql(`insert into app_releases (app, number, id, operation, state, source, record, created_at, live_at)
values ('${app.id}', 1, 'rel-planted', 'op-planted', 'live', '${digest}', '{}', now(), now())`)
    await record()
  }

  t.before(async () => {
    platform = await startPlatform()
    other = await platform.token('other')
    admin = await addAccount(platform, 'chief', { role: 'admin', capabilities: ['app.deploy'] })
    for (const account of ['demo', 'other']) {
      const capability = '{"spec":{"capabilities":["app.deploy"]}}'
      await platform.kubectl(['patch', 'acct', account, '--type=merge', '-p', capability])
    }
    await host('local', { approved: true, class: 'shared' })
    await host('green', { approved: true, class: 'shared' })
    const made = await eventually('the app', async () => {
      const reply = await api('POST', '/api/apps', { slug: 'shop', host_id: 'local' })
      return reply.status === 201 && reply.json.app
    })
    app = made
    const sent = await api('POST', `/api/apps/${app.id}/sources`, { compose: COMPOSE })
    assert.ok(sent.status < 300, sent.text)
    digest = sent.json.source.digest
  })
  t.after(() => platform.end())

  t('need something that runs, another host, and an app of one’s own', async () => {
    assert.is(await codeOf('local'), 'SAME_HOST')
    assert.is(await codeOf('green'), 'NOT_RELEASED')
    assert.is(await codeOf('nowhere'), 'HOST_MISSING')
    const theirs = await by(other, 'POST', `/api/apps/${app.id}/move`, { host_id: 'green' })
    assert.equal([theirs.status, theirs.json.code], [404, 'NOT_FOUND'])
    const bad: [object, string][] = [
      [{}, '/host_id'],
      [{ host_id: 'green', forward_seconds: -1 }, '/forward_seconds'],
      [{ host_id: 'green', forward_seconds: 604_801 }, '/forward_seconds'],
      [{ host_id: 'Green!' }, '/host_id'],
    ]
    for (const [body, pointer] of bad) {
      const { status, json } = await api('POST', `/api/apps/${app.id}/move`, body)
      assert.equal([status, json.errors?.[0]?.pointer], [400, pointer], JSON.stringify(body))
    }
    const patched = await api('PATCH', `/api/apps/${app.id}`, { host_id: 'green' })
    assert.equal([patched.status, patched.json.code], [400, 'UNKNOWN_FIELD'])
  })

  t("lead to no host of another account's, whatever its class, by no way", async () => {
    await plantLive()
    await host('theirs', { approved: true, account: 'other', class: 'isolated' })
    await host('owned', { approved: true, account: 'other', class: 'owned' })
    await host('nobodys', { approved: true, class: 'isolated' })
    for (const name of ['theirs', 'owned', 'nobodys']) {
      assert.is(await codeOf(name), 'HOST_MISSING', name)
      assert.is((await move(name, {}, '?dry_run=1')).json.code, 'HOST_MISSING', name)
    }
    // Nor by kubectl: the operation that is taken up fails with the same code, and the app stays.
    const wish = JSON.stringify({ spec: { hostId: 'theirs' } })
    await platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', wish])
    const failed = await eventually('the wish to be refused', async () => {
      const rows = await sql("select state, code from app_operations where kind = 'move'")
      return rows[0]?.state === 'failed' && rows[0]
    })
    assert.is(failed.code, 'HOST_MISSING')
    assert.is((await api('GET', `/api/apps/${app.id}`)).json.app.host_id, 'local')
    assert.equal(await sql('select host from app_slugs where app is not null'), [{ host: 'local' }])
    await platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', '{"spec":{"hostId":"local"}}'])
  })

  t('are planned with what changes, and with figures', async () => {
    await platform.kubectl(['patch', 'bhost', 'green', '--type=merge', '-p', '{"spec":{"publicAddress":"192.0.2.7"}}'])
    const reply = await move('green', { forward_seconds: 3_600 }, '?dry_run=1')
    assert.is(reply.status, 200, reply.text)
    const { plan } = reply.json
    assert.equal([plan.from.host_id, plan.to.host_id, plan.release, plan.source_digest], ['local', 'green', 1, digest])
    assert.equal(plan.room, {
      wanted: { cpu_millis: 1_000, memory_mib: 1_024, disk_gib: 10 },
      free: { cpu_millis: 64_000, memory_mib: 16_384, disk_gib: 200 },
    })
    assert.equal(plan.domains, [
      { hostname: 'shop.local.test', managed: true, becomes: 'shop.green.test', records: [] },
    ])
    assert.equal([plan.downtime_seconds, plan.forward_seconds, plan.is_forwarded], [0, 3_600, true])
    const same = '{"spec":{"baseDomain":"local.test"}}'
    await platform.kubectl(['patch', 'bhost', 'green', '--type=merge', '-p', same])
    const { json } = await move('green', {}, '?dry_run=1')
    const records = [{ type: 'A', name: 'shop.local.test', value: '192.0.2.7' }]
    assert.equal(json.plan.domains, [
      { hostname: 'shop.local.test', managed: true, becomes: 'shop.local.test', records },
    ])
  })

  t('are refused with the code of what stands against them', async () => {
    await record({ volumes: ['data'], stateful: ['web'] })
    const kept = await move('green')
    assert.equal([kept.status, kept.json.code], [409, 'DOWNTIME_NOT_CONFIRMED'])
    assert.match(kept.json.detail, /stops it for about \d+ s: data go with it/)
    const { plan } = (await move('green', {}, '?dry_run=1')).json
    assert.equal(plan.volumes, [{ name: 'data', bytes: null }])
    assert.ok(plan.downtime_seconds > 0 && plan.downtime_seconds_max > plan.downtime_seconds)
    await record({ stateful: ['web'] })
    const unnamed = await move('green', {}, '?confirm_downtime=1')
    assert.equal([unnamed.status, unnamed.json.code], [409, 'VOLUMES_STAY'])
    assert.match(unnamed.json.detail, /what web holds outside of a named volume stays on local/)
    await record()
    const changes: [string, object, string][] = [
      ['cordoned', { cordoned: true }, 'HOST_CORDONED'],
      ['full', { overcommit: { memoryPercent: 1 } }, 'HOST_FULL'],
    ]
    const put = (spec: object) =>
      platform.kubectl(['patch', 'bhost', 'green', '--type=merge', '-p', JSON.stringify({ spec })])
    for (const [what, change, code] of changes) {
      await put(change)
      const { json } = await move('green')
      assert.is(json.code, code, what)
      if (code === 'HOST_FULL') assert.match(json.detail, /1024 MiB of memory are asked for, 81 of 81 are left/)
      await put({ cordoned: false, overcommit: null })
    }
    await host('waiting', { class: 'shared' })
    assert.is(await codeOf('waiting'), 'HOST_NOT_APPROVED')
    await sql(`insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at)
values ('op-waits', '${app.id}', 'demo', 99, 'env', '{"kind": "env", "envVersion": 1}', false, 'queued', now())`)
    assert.is(await codeOf('green'), 'OPERATION_RUNNING')
    await sql("delete from app_operations where id = 'op-waits'")
    await sql(`update app_releases set source = '${'0'.repeat(64)}' where number = 1`)
    assert.is(await codeOf('green'), 'UNKNOWN_SOURCE')
    await sql(`update app_releases set source = '${digest}' where number = 1`)
  })

  t('of all apps of a host are asked for by who runs it, who is told which stay and why', async () => {
    const stranger = await api('POST', '/api/apps/hosts/local/drain', {})
    assert.equal([stranger.status, stranger.json.code], [404, 'NOT_FOUND'])
    const theirs = await api('POST', '/api/apps/hosts/theirs/drain', {})
    assert.equal([theirs.status, theirs.json.code], [404, 'NOT_FOUND'])
    const own = await by(other, 'POST', '/api/apps/hosts/theirs/drain', {})
    assert.equal([own.status, own.json], [200, { host_id: 'theirs', cordoned: true, apps: [], sites: [] }])
    const drained = await by(admin, 'POST', '/api/apps/hosts/local/drain', {})
    assert.is(drained.status, 200, drained.text)
    const [one] = drained.json.apps
    // No other host answers, so none is chosen.
    assert.equal([one.app, one.account, one.state, one.code], [app.id, 'demo', 'stays', 'NO_HOST'])
    const seen = await by(admin, 'GET', '/api/apps/hosts/local')
    assert.equal([seen.json.host.cordoned, seen.json.lives.apps.map(({ id }: Json) => id)], [true, [app.id]])
    assert.is((await api('GET', '/api/apps/hosts/local')).json.lives, null, 'what others have there is not told')
    const refused = await api('POST', '/api/apps', { slug: 'late', host_id: 'local' })
    assert.equal([refused.status, refused.json.code], [409, 'HOST_CORDONED'])
    const condition = ['get', 'bhost', 'local', '-o', 'jsonpath={.status.conditions[?(@.type=="Cordoned")].status}']
    assert.is(await platform.kubectl(condition), 'True')
    assert.is(
      (await by(admin, 'POST', '/api/apps/hosts/local/drain', {})).json.apps.length,
      1,
      'asked again it tells what is left',
    )
  })

  t('away from a host whose approval was withdrawn are taken; nothing else is done there', async () => {
    const mine = await api('POST', '/api/apps/hosts/local/withdraw', { reason: 'a test' })
    assert.is(mine.status, 403)
    const { json } = await by(admin, 'POST', '/api/apps/hosts/local/withdraw', { reason: 'its disk fails' })
    assert.equal([json.host.approved, json.host.withdrawn], [false, 'its disk fails'])
    const condition = ['get', 'bhost', 'local', '-o', 'jsonpath={.status.conditions[?(@.type=="Withdrawn")].message}']
    assert.is(await platform.kubectl(condition), 'its disk fails')
    const deploy = await api('POST', `/api/apps/${app.id}/deploy`, { source: digest })
    assert.is(deploy.json.code, 'HOST_NOT_APPROVED')
    await record({ volumes: ['data'] })
    const unread = await move('green', {}, '?confirm_downtime=1')
    assert.equal([unread.status, unread.json.code], [409, 'VOLUMES_AWAY'])
    assert.match(unread.json.detail, /what data holds on local cannot be read: local is not approved; it has no backup/)
    await record()
    const { json: planned } = await move('green', {}, '?dry_run=1')
    assert.is(planned.plan?.is_forwarded, false, JSON.stringify(planned))
    // Whoever wrote the field by hand would undo what is said over REST; his own wish is taken up.
    assert.is(await codeOf('green'), 'FIELD_IN_MANIFEST')
    await platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', '{"spec":{"hostId":"green"}}'])
    // The other host answers nobody: until it does, whoever asked may stop it.
    const { id } = await eventually('the move to begin', async () => {
      const rows = await sql("select id from app_operations where kind = 'move' and state = 'running'")
      return rows[0] as Json | undefined
    })
    const rooms = () => sql(`select host from app_rooms where app = '${app.id}' order by host`)
    assert.equal(await rooms(), [{ host: 'green' }, { host: 'local' }])
    const stopped = await api('POST', `/api/apps/operations/${id}/cancel`, {})
    assert.ok(stopped.status === 200 || stopped.status === 202, stopped.text)
  })
})
