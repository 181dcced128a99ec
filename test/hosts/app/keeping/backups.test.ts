import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** What a volume holds is kept off its host, downloaded, and put back, over real SSH and Docker. */

const timeoutMs = 240_000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const VOLUME = 'held-base_data'

/** `store` serves its volume, and does not come up with one that has a file `bad`. */
const project: Project = {
  compose: `services:
  store:
    build: .
    command: ["/bin/busybox", "sh", "-c", "[ ! -e /data/bad ] || exit 5; exec /bin/busybox httpd -f -p 9000 -h /data"]
    volumes: ["data:/data"]
    expose: ["9000"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
}

spec('backups of a volume', (t) => {
  let stage: AppStage
  let app: Json
  let image: string
  /** As the root that containers have, beside the service. */
  const inVolume = (command: string): string =>
    docker('run', '--rm', '-v', `${VOLUME}:/v`, image, '/bin/busybox', 'sh', '-c', command)
  /** Each file with its type, mode, owners, time, size and what it leads to; then what is in them. */
  const listing = () =>
    inVolume(
      'cd /v; b=/bin/busybox; $b find . -print0 | $b sort -z | $b xargs -0 $b stat -c "%F %a %u %g %Y %s %h %N"; $b find . -type f -print0 | $b sort -z | $b xargs -0 $b sha256sum',
    )
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    stage.api(method, `/api/apps/${app.id}${path}`, body, headers)
  const operation = async (id: string): Promise<Json> =>
    (await stage.api('GET', `/api/apps/operations/${id}`)).json.operation
  const ended = async (reply: Reply): Promise<Json> => {
    assert.ok(reply.status === 200 || reply.status === 202, reply.text)
    return eventually(
      `the end of ${reply.json.operation_id}`,
      async () => {
        const found = await operation(reply.json.operation_id)
        return found.ended_at !== null && found
      },
      240_000,
    )
  }
  const backUp = async (body: object = {}): Promise<Json> => ended(await api('POST', '/volumes/data/backups', body))
  const restore = (id: string, query = '?confirm=data&confirm_downtime=1', headers?: Record<string, string>) =>
    api('POST', `/backups/${id}/restore${query}`, undefined, headers)
  const download = async (id: string) => {
    const response = await fetch(`${stage.platform.baseUrl}/api/apps/${app.id}/backups/${id}/content`, {
      headers: { authorization: `Bearer ${stage.platform.owner}` },
    })
    return { response, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const says = async () => (await stage.visit('held', '/said')).text.trim()
  const isClean = async () => {
    const left = docker('ps', '-aq', '--filter', 'label=dev.bottega.copier') === ''
    return left && docker('volume', 'ls', '-q', '--filter', 'label=dev.bottega.copy=held') === ''
  }

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('held', { watch_seconds: 0 })
    assert.is((await api('POST', '/volumes/data/backups', {})).json.code, 'NOT_RELEASED')
    const deployed = await stage.deploy(app.id, project)
    assert.is(deployed.json.operation.state, 'succeeded', deployed.text)
    image = deployed.json.release.images[0].id
    inVolume(
      `set -e; export PATH=/bin; b=/bin/busybox; cd /v; echo first > said; $b chmod 644 said; $b mkdir -m 2750 odd; echo x > "odd/a b
c"; $b chown -R 4242:77 odd; echo secret > odd/none; $b chmod 0 odd/none; $b ln -s /etc/shadow out; $b ln -s ../../../../etc up; $b ln said hard; $b mkfifo pipe; echo run > set; $b chmod 4755 set; $b dd if=/dev/urandom of=large bs=1M count=6 2>/dev/null; $b truncate -s 256M sparse; $b chown 0:99 .; $b chmod 1777 .; $b touch -d 2001-02-03 said`,
    )
  })
  t.after(() => stage.end())

  t(
    'is whole, with owners, modes and links, and what is downloaded is what its digest says',
    async () => {
      const before = listing()
      const headers = { 'idempotency-key': 'once' }
      const done = await ended(await api('POST', '/volumes/data/backups', {}, headers))
      assert.equal([done.kind, done.state], ['backup', 'succeeded'], JSON.stringify(done))
      assert.is((await api('POST', '/volumes/data/backups', {}, headers)).json.operation_id, done.id)
      const { backup } = done
      assert.equal([backup.taken, backup.release, backup.cause], ['still', 1, 'asked'])
      assert.ok(backup.bytes > 6 * 1024 * 1024 && backup.bytes < 9 * 1024 * 1024, String(backup.bytes))
      const { response, bytes } = await download(done.id)
      assert.is(response.headers.get('content-type'), 'application/gzip')
      assert.is(bytes.length, backup.bytes)
      // Whose something is is said as its services see it: numbers of one host mean somebody else on another one.
      const listed = execFileSync('tar', ['--numeric-owner', '-tvzf', '-'], { input: bytes, encoding: 'utf8' })
      assert.match(listed, /^drwxrwxrwt 0\/99 .* \.\/$/m)
      assert.match(listed, /^drwxr-s--- 4242\/77 .* \.\/odd\/$/m)
      const sum = createHash('sha256').update(bytes).digest()
      assert.is(sum.toString('hex'), backup.sha256)
      assert.is(response.headers.get('repr-digest'), `sha-256=:${sum.toString('base64')}:`)
      await eventually('nothing to be left on its host', isClean, 30_000)
      assert.is(listing(), before, 'the volume is as it was')
      // damaged, and put back
      inVolume('cd /v; export PATH=/bin; b=/bin/busybox; $b rm -rf odd large out; echo second > said; echo new > more')
      assert.is(await says(), 'second')
      const plan = (await restore(done.id, '?dry_run=1')).json.plan
      assert.equal(
        plan.services.map(({ name }: Json) => name),
        ['store'],
      )
      assert.ok(plan.downtime_seconds > 0)
      assert.is((await restore(done.id, '?confirm_downtime=1')).json.code, 'RESTORE_NOT_CONFIRMED')
      assert.is((await restore(done.id, '?confirm=data')).json.code, 'DOWNTIME_NOT_CONFIRMED')
      const restored = await ended(await restore(done.id))
      assert.equal([restored.kind, restored.state], ['restore', 'succeeded'], JSON.stringify(restored))
      assert.is(listing(), before)
      await eventually('the store to serve it', async () => (await says()) === 'first', 30_000)
      // what was there before is a backup as well
      const undone = await ended(await restore(restored.id))
      assert.is(undone.state, 'succeeded', JSON.stringify(undone))
      await eventually('the store to serve what was there', async () => (await says()) === 'second', 30_000)
      const again = await ended(await restore(done.id))
      assert.is(again.state, 'succeeded', JSON.stringify(again))
      const { backups, total } = (await api('GET', '/backups?volume=data')).json
      assert.equal([total, backups[0].cause, backups.at(-1).cause], [4, 'restore', 'asked'])
      await eventually('nothing to be left on its host', isClean, 30_000)
    },
    { timeoutMs },
  )

  t(
    'does not take an app down that cannot live with it: what was there is put back',
    async () => {
      inVolume('echo x > /v/bad')
      const bad = await backUp({ consistency: 'live' })
      assert.equal([bad.state, bad.backup.taken], ['succeeded', 'live'], JSON.stringify(bad))
      inVolume('cd /v; export PATH=/bin; /bin/busybox rm bad; echo good > said')
      const before = listing()
      const failed = await ended(await restore(bad.id))
      assert.equal([failed.state, failed.result.code], ['failed', 'RESTORE_FAILED'], JSON.stringify(failed))
      assert.match(failed.result.detail, /store (is|was) .*; what it held before is back/)
      assert.is(listing(), before)
      await eventually('the store to serve', async () => (await says()) === 'good', 30_000)
      const app2 = (await api('GET', '')).json.app
      assert.is(app2.health.state === 'unhealthy', false, JSON.stringify(app2.health))
      const told = async () =>
        (await stage.api('GET', '/api/events?after=0&limit=200')).json.events?.some(
          ({ type }: Json) => type === 'app.restore_failed',
        )
      await eventually('it to be told', told, 30_000)
    },
    { timeoutMs },
  )

  t(
    'is stopped when somebody asks: a restore gives back what the volume held',
    async () => {
      const { backups } = (await api('GET', '/backups?limit=200')).json
      const source = backups.findLast(({ state }: Json) => state === 'succeeded')
      const before = listing()
      const asked = await restore(source.id, undefined, { prefer: 'respond-async' })
      assert.is(asked.status, 202, asked.text)
      const busy = await api('DELETE', `/backups/${source.id}`)
      assert.is(busy.json.code, 'BACKUP_IN_USE', busy.text)
      const stopped = () =>
        docker('ps', '-q', '--filter', `volume=${VOLUME}`, '--filter', 'label=dev.bottega.app') === ''
      await eventually('its service to stop', async () => stopped(), 60_000)
      await stage.api('POST', `/api/apps/operations/${asked.json.operation_id}/cancel`, {})
      const done = await ended(asked)
      assert.is(done.state, 'cancelled', JSON.stringify(done))
      assert.match(done.result.detail, /what it held before is back|the volume was not touched/)
      assert.is(listing(), before)
      await eventually('the store to serve', async () => (await stage.visit('held', '/said')).status === 200, 30_000)
      assert.is((await stage.api('POST', `/api/apps/operations/${done.id}/cancel`, {})).json.code, 'TOO_LATE')
      await eventually('nothing to be left on its host', isClean, 30_000)
    },
    { timeoutMs },
  )

  t(
    'is nobody else’s, goes when it is deleted, and leaves with its app',
    async () => {
      const { backups } = (await api('GET', '/backups?limit=200')).json
      const one = backups.find(({ state }: Json) => state === 'succeeded')
      const other = await stage.as('other')
      const at = `/api/apps/${app.id}/backups/${one.id}`
      for (const [method, path] of [
        ['GET', at],
        ['GET', `${at}/content`],
        ['DELETE', at],
        ['POST', `${at}/restore?confirm=data&confirm_downtime=1`],
        ['POST', `/api/apps/${app.id}/volumes/data/backups`],
        ['GET', `/api/apps/operations/${one.id}`],
        ['POST', `/api/apps/operations/${one.id}/cancel`],
      ] as const)
        assert.is((await other.api(method, path, method === 'POST' ? {} : undefined)).status, 404, `${method} ${path}`)
      assert.is((await api('POST', '/volumes/nothing/backups', {})).json.code, 'NOT_FOUND')
      assert.is((await api('DELETE', `/backups/${one.id}`)).status, 204)
      assert.is((await api('GET', `/backups/${one.id}`)).status, 404)
      const parts = (id: string) =>
        query(stage.platform.database.url, 'select 1 from app_backup_parts where backup = $1', [id])
      assert.equal(await parts(one.id), [])
      const gone = await stage.api('DELETE', `/api/apps/${app.id}?volumes=delete`)
      assert.ok(gone.status === 204 || gone.status === 202, gone.text)
      const rows = () => query(stage.platform.database.url, 'select 1 from app_backups')
      await eventually('its rows to go', async () => (await rows()).length === 0, 60_000)
      const blobs = 'select 1 from blob_chunks c where not exists (select from blobs b where b.sha256 = c.sha256)'
      assert.equal(await query(stage.platform.database.url, blobs), [])
    },
    { timeoutMs },
  )
})
