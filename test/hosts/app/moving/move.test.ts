import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, bodyOf, project, registerHost, startAppStage, visitHost } from '../../../support/stage/apps.ts'
import { addAccount } from '../../../support/stage/callers.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'
import { call, eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/**
 * An app on two hosts of their own, each with its sshd, Docker, Caddy and CA, that have one base domain: the name of the app leads to
 * either, as the DNS of a visitor does while a record changes.
 */

const timeoutMs = 240_000
const EVERY_MS = 50
const FORWARD_SECONDS = 3_600

spec('an app that moves', (t) => {
  let stage: AppStage
  let green: AppHost
  let app: Json
  let admin: string
  const path = () => `/api/apps/${app.id}`
  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation?.state, 'succeeded', text)
  const shown = async () => (await stage.api('GET', path())).json.app
  const move = (host: string, more: object = {}, query = '') =>
    stage.operate('POST', `${path()}/move${query}`, { host_id: host, ...more })
  const atLocal = async () => stage.visit('wander')
  const there = () => ({ ...green, baseDomain: stage.host.baseDomain })
  const atGreen = async () => visitHost(there(), 'wander', '/', {})
  const containers = (host: AppHost): string[] =>
    execFileSync('docker', ['ps', '-q', '--filter', 'label=dev.bottega.app=wander'], {
      encoding: 'utf8',
      env: { ...process.env, DOCKER_HOST: `unix://${host.dockerSocket}` },
    })
      .split('\n')
      .filter((line) => line !== '')
  const stop = (host: AppHost) =>
    execFileSync('docker', ['stop', ...containers(host)], {
      env: { ...process.env, DOCKER_HOST: `unix://${host.dockerSocket}` },
    })
  /** The time that the DNS has is over. */
  const timeIsUp = () => query(stage.platform.database.url, "update app_slugs set until = now() where place = 'left'")
  /** Nobody is answered there under the name, with or without its certificate. */
  const isNobody = async () => (await atLocal().catch(() => ({ status: 404 }))).status === 404
  const hasLeft = async () => (await shown()).left_hosts.length === 0
  const byAdmin = async (rest: string, body: object = {}) => {
    return call(stage.platform.baseUrl, admin, 'POST', `/api/apps/hosts/${rest}`, body)
  }

  t.before(
    async () => {
      stage = await startAppStage()
      green = await startAppHost({ docker: 'own' })
      await green.prepareBuilds()
      await registerHost(stage.platform, green, 'green', { baseDomain: stage.host.baseDomain })
      admin = await addAccount(stage.platform, 'chief', { role: 'admin' })
      app = await stage.app('wander', { watch_seconds: 0, drain_seconds: 1 })
      succeeded(await stage.deploy(app.id, project('v1')))
    },
    { timeoutMs: 600_000 },
  )
  t.after(async () => {
    await stage?.end()
    await green?.end()
  })

  t('is told before anything is done what would change', async () => {
    const { plan } = (await move('green', { forward_seconds: 60 }, '?dry_run=1')).json
    assert.is(plan.from.host_id, 'local')
    assert.is(plan.to.host_id, 'green')
    assert.is(plan.downtime_seconds, 0)
    assert.is(plan.is_forwarded, true)
    assert.ok(plan.room.wanted.memory_mib > 0 && plan.room.free.memory_mib > plan.room.wanted.memory_mib)
    const hostname = `wander.${stage.host.baseDomain}`
    assert.equal(plan.domains, [{ hostname, managed: true, becomes: hostname, records: [] }])
    assert.equal(containers(green), [])
    const refused: [string, string][] = [
      ['local', 'SAME_HOST'],
      ['nowhere', 'HOST_MISSING'],
    ]
    for (const [host, code] of refused) assert.is((await move(host)).json.code, code)
  })

  t(
    'serves every request at the address of before, and at the other one from the switch on',
    async () => {
      const failures: string[] = []
      let asked = 0
      let isOver = false
      const visits: Promise<void>[] = []
      const visit = async () => {
        asked += 1
        // A connection that is cut while it is opened, as by a proxy that is configured, is opened again: by browsers too.
        const page = await atLocal()
          .catch(atLocal)
          .catch((error: Error) => ({ status: 0, text: error.message }))
        if (page.status !== 200 || page.text.trim() !== 'v1') failures.push(`${page.status} ${page.text.slice(0, 80)}`)
      }
      const load = (async () => {
        while (!isOver) {
          visits.push(visit())
          await sleep(EVERY_MS)
        }
      })()
      const reply = await move('green', { forward_seconds: FORWARD_SECONDS })
      succeeded(reply)
      await sleep(2_000)
      isOver = true
      await load
      await Promise.all(visits)
      assert.equal(failures, [], `of ${asked}`)
      assert.ok(asked > 40, `${asked}`)
      const view = await shown()
      assert.is(view.host_id, 'green')
      assert.equal(
        view.left_hosts.map(({ host_id }: Json) => host_id),
        ['local'],
      )
      assert.is((await atGreen()).text.trim(), 'v1')
      assert.is(containers(green).length, 1)
      // Whoever still comes to the old address is answered by the new host, and by nobody else.
      stop(stage.host)
      assert.is((await atLocal()).text.trim(), 'v1')
      const column = await stage.platform.kubectl(['get', 'bapp', app.id, '--no-headers', '-o', 'wide'])
      assert.match(column, / green /)
    },
    { timeoutMs },
  )

  t(
    'is gone from the host that it left when the DNS has had its time',
    async () => {
      assert.is((await move('local')).json.code, 'HOST_LEFT')
      await timeIsUp()
      await eventually('the old host to be left', hasLeft, 90_000)
      assert.ok(await isNobody())
      assert.equal(containers(stage.host), [])
      assert.is((await atGreen()).status, 200)
      const places = await query(stage.platform.database.url, 'select host, place from app_slugs')
      assert.equal(places, [{ host: 'green', place: 'home' }])
      assert.is((await query(stage.platform.database.url, 'select host from app_rooms')).length, 1)
      const ready = async () =>
        (await stage.platform.kubectl(['get', 'bapp', app.id, '--no-headers', '-o', 'wide'])).includes('True')
      await eventually('it to be ready', ready, 60_000)
    },
    { timeoutMs },
  )

  t(
    'stays where it is when the other host cannot make it, or somebody stops it',
    async () => {
      const broken = { spec: { builder: 'bottega.local/nothing:1' } }
      const { builder } = stage.host.spec
      const patch = (body: object) =>
        stage.platform.kubectl(['patch', 'bhost', 'local', '--type=merge', '-p', JSON.stringify(body)])
      await patch(broken)
      const { json } = await move('local')
      assert.is(json.operation?.state, 'failed', JSON.stringify(json))
      assert.is((await atGreen()).text.trim(), 'v1')
      assert.is((await shown()).host_id, 'green')
      await eventually('what was begun to go', hasLeft, 60_000)
      await patch({ spec: { builder } })
      const asked = await stage.api('POST', `${path()}/move`, { host_id: 'local' }, { prefer: 'respond-async' })
      assert.is(asked.status, 202, asked.text)
      const stopped = await stage.operate('POST', `/api/apps/operations/${asked.json.operation.id}/cancel`, {})
      assert.is(stopped.json.operation.state, 'cancelled', stopped.text)
      assert.is((await atGreen()).text.trim(), 'v1')
      await eventually('what was begun to go', hasLeft, 60_000)
      // It is deployed where it lives, whatever its spec wishes.
      succeeded(await stage.operate('POST', `${path()}/deploy`, bodyOf(project('v2'))))
      assert.is((await atGreen()).text.trim(), 'v2')
    },
    { timeoutMs },
  )

  t(
    'is moved by a drain, and away from a host that may not be touched any more',
    async () => {
      const drained = await byAdmin('green/drain')
      assert.is(drained.status, 200, drained.text)
      assert.equal([drained.json.cordoned, drained.json.apps[0].state], [true, 'moving'], drained.text)
      assert.is(drained.json.apps[0].to, 'local')
      await eventually('the move', async () => (await shown()).host_id === 'local', 120_000)
      assert.is((await atLocal()).text.trim(), 'v2')
      assert.is((await move('green')).json.code, 'HOST_CORDONED')
      await stage.platform.kubectl(['patch', 'bhost', 'green', '--type=merge', '-p', '{"spec":{"cordoned":false}}'])
      await timeIsUp()
      await eventually('the old host to be left', hasLeft, 90_000)

      const withdrawn = await byAdmin('local/withdraw', { reason: 'it is to be repaired' })
      assert.is(withdrawn.json.host.withdrawn, 'it is to be repaired', withdrawn.text)
      const conditions = [
        'get',
        'bhost',
        'local',
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Withdrawn")].message}',
      ]
      assert.is(await stage.platform.kubectl(conditions), 'it is to be repaired')
      const { plan } = (await move('green', {}, '?dry_run=1')).json
      assert.is(plan.is_forwarded, false)
      succeeded(await move('green'))
      assert.is((await atGreen()).text.trim(), 'v2')
      assert.is((await atLocal()).text.trim(), 'v2', 'what serves there goes on')
      assert.is(containers(stage.host).length, 1)
    },
    { timeoutMs },
  )
})
