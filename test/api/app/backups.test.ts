import { createHash } from 'node:crypto'
import { makeBackupLedger, makeBackupStore, sweepAppBackups } from '../../../controllers/store/app/backups.ts'
import { makeAppOutcomes } from '../../../controllers/store/app/outcomes.ts'
import { makeBlobs } from '../../../controllers/store/blobs.ts'
import { LEASE } from '../../../controllers/store/pg/fence.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { begun } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Backups over REST, of an app on a host that nobody reaches: what is asked, refused, shown, downloaded, purged and forgotten. */

const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`
const DAY = '2026-11-22T10:00:00.000Z'
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

spec('backups of apps over REST', (t) => {
  let platform: Platform
  let app: Json
  let pg: ReturnType<typeof makePg>
  let held = 0
  const epoch = () => held
  const api = (method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, platform.owner, method, `/api/apps/${app.id}${path}`, body)
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const apply = (kind: string, name: string, given: object) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind,
      metadata: { name },
      spec: given,
    })
  /** One that is kept, in pieces. */
  const enter = async (id: string, pieces: readonly Buffer[], change: Record<string, string | null> = {}) => {
    const whole = Buffer.concat(pieces)
    const packed = JSON.stringify({ bytes: whole.length, sha256: hashOf(whole), how: 'still' })
    const row: Record<string, string | null> = {
      ...{ id, app: app.id, account: 'demo', volume: 'data', consistency: 'moment', state: 'succeeded', packed },
      ...{ taken: String(whole.length), created_at: DAY, started_at: DAY, ended_at: DAY, dropped_at: DAY },
      ...{ expires_at: '2026-12-22T10:00:00.000Z', ...change },
    }
    const names = Object.keys(row)
    await sql(
      `insert into app_backups (${names.join()}) values (${names.map((_, n) => `$${n + 1}`).join()})`,
      Object.values(row),
    )
    const blobs = makeBlobs({ pg })
    for (const [n, piece] of pieces.entries()) {
      const sha256 = await blobs.put(piece)
      await sql('insert into app_backup_parts (backup, n, sha256, bytes) values ($1, $2, $3, $4)', [
        ...[id, n, Buffer.from(sha256, 'hex'), piece.length],
      ])
    }
    return whole
  }
  const pieces = (text: string) => [Buffer.from(`${text} one`), Buffer.from(`${text} two`)]
  const isStored = async (text: string): Promise<boolean> =>
    (await sql('select 1 from blobs where sha256 = $1', [Buffer.from(hashOf(Buffer.from(text)), 'hex')])).length > 0

  t.before(async () => {
    platform = await startPlatform()
    pg = makePg({ url: platform.database.url, max: 2 })
    const capable = '{"spec":{"capabilities":["app.deploy"]}}'
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', capable])
    const at = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey: HOST_KEY, baseDomain: 'away.test' }
    await apply('Host', 'local', { ...at, approved: true, class: 'shared' })
    const [lease] = await sql('select epoch from epochs where lease = $1', [LEASE])
    held = Number(lease?.epoch)
    app = await eventually('the app', async () => {
      const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/apps', { slug: 'shop' })
      return made.status === 201 && made.json.app
    })
  })
  t.after(async () => {
    await pg.close()
    await platform.end()
  })

  t('are of volumes of what is live, and of nothing else', async () => {
    assert.is((await api('POST', '/volumes/data/backups', {})).json.code, 'NOT_RELEASED')
    assert.is((await api('POST', '/volumes/data/backups', { consistency: 'perhaps' })).status, 400)
    assert.equal((await api('GET', '/backups')).json, { backups: [], total: 0, limit: 50, offset: 0 })
    assert.equal(app.disk, null)
    assert.equal(app.backups_ended, [])
  })

  t('come down as they were packed, under their digest, and are counted for their account', async () => {
    const whole = await enter('bak-whole', pieces('whole'))
    const { backup } = (await api('GET', '/backups/bak-whole')).json
    assert.equal([backup.bytes, backup.sha256, backup.taken], [whole.length, hashOf(whole), 'still'])
    assert.equal([backup.downloadable, backup.expires_at, backup.progress], [true, null, null])
    const response = await fetch(`${platform.baseUrl}/api/apps/${app.id}/backups/bak-whole/content`, {
      headers: { authorization: `Bearer ${platform.owner}` },
    })
    assert.is(await response.text(), whole.toString())
    assert.is(response.headers.get('content-length'), String(whole.length))
    assert.is(response.headers.get('etag'), `"${hashOf(whole)}"`)
    assert.match(response.headers.get('content-disposition') ?? '', /"shop-data-2026-11-22\.tar\.gz"/)
    const { operation } = (await call(platform.baseUrl, platform.owner, 'GET', '/api/apps/operations/bak-whole')).json
    assert.equal([operation.kind, operation.state, operation.backup.id], ['backup', 'succeeded', 'bak-whole'])
    const { quotas } = (await call(platform.baseUrl, platform.owner, 'GET', '/api/account')).json.account
    assert.is(quotas.app_storage_mib.used, 1, 'a piece of a MiB')
  })

  t('are not shown to who may only look, and not there for anybody else', async () => {
    const only = await platform.token('other')
    // it has not the capability that a download asks for either
    for (const [path, status] of [
      ['', 404],
      ['/content', 403],
    ] as const) {
      const reply = await call(platform.baseUrl, only, 'GET', `/api/apps/${app.id}/backups/bak-whole${path}`)
      assert.is(reply.status, status, path)
    }
    await sql(
      "insert into app_backups (id, app, account, volume, consistency, state, created_at) values ('bak-strange', 'app-strange', 'other', 'data', 'moment', 'queued', now())",
    )
    assert.is((await api('GET', '/backups/bak-strange')).status, 404)
    assert.is((await api('DELETE', '/backups/bak-strange')).status, 404)
  })

  t('that are not whole are neither downloaded nor restored', async () => {
    await enter('bak-bad', [], { state: 'failed', packed: null, code: 'BACKUP_FAILED', expires_at: null })
    assert.is((await api('GET', '/backups/bak-bad/content')).json.code, 'BACKUP_NOT_READY')
    assert.is((await api('POST', '/backups/bak-bad/restore?dry_run=1')).json.code, 'BACKUP_NOT_READY')
    assert.is((await api('POST', '/backups/bak-whole/restore?dry_run=1')).json.code, 'NOT_RELEASED')
  })

  t('go with the bytes that nothing else names, but not while they are restored', async () => {
    const store = makeBackupStore({ pg, blobs: makeBlobs({ pg }) })
    await enter('bak-twin', pieces('shared'))
    await enter('bak-other', [...pieces('shared'), Buffer.from('own')])
    const restore = { id: 'bak-back', app: app.id, account: 'demo', volume: 'data', consistency: 'moment' } as const
    const asked = await store.ask({ ...restore, restores: 'bak-other' }, DAY)
    assert.is(asked.outcome, 'asked')
    assert.is(asked.backup?.given?.bytes, Buffer.concat([...pieces('shared'), Buffer.from('own')]).length)
    assert.is((await store.ask({ ...restore, id: 'bak-none', restores: 'bak-gone' }, DAY)).outcome, 'gone')
    assert.is((await api('DELETE', '/backups/bak-other')).json.code, 'BACKUP_IN_USE')
    const cancelled = await call(
      platform.baseUrl,
      platform.owner,
      'POST',
      '/api/apps/operations/bak-back/cancel',
      undefined,
      { prefer: 'respond-async' },
    )
    assert.ok(cancelled.status === 200 || cancelled.status === 202, cancelled.text)
    const ended = async () => (await api('GET', '/backups/bak-back')).json.backup.state === 'cancelled'
    await eventually('it to be cancelled, though its host is away', ended)
    assert.is((await api('DELETE', '/backups/bak-other')).status, 204)
    assert.equal([await isStored('own'), await isStored('shared one')], [false, true])
    assert.is((await api('DELETE', '/backups/bak-twin')).status, 204)
    assert.is(await isStored('shared one'), false)
  })

  t('are moved by whoever knows how they stand, once, and not beside an operation that runs', async () => {
    const ledger = makeBackupLedger({ pg, epoch, blobs: makeBlobs({ pg }) })
    await enter('bak-source', pieces('source'))
    await sql(
      `insert into app_backups (id, app, account, volume, consistency, restores, given, state, created_at)
       values ('bak-moved', 'app-idle', 'demo', 'data', 'moment', 'bak-source', '{"bytes": 3, "sha256": "x"}', 'queued', now())`,
    )
    await sql(
      `insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at)
       values ('op-idle', 'app-idle', 'demo', 1, 'env', '{}', false, 'running', now())`,
    )
    const [queued] = await ledger.observe('app-idle')
    if (!queued) throw new Error('it is not among those of its app')
    const wanted = begun(queued, 1, DAY)
    assert.is(await ledger.move({ backup: wanted, at: DAY }), null, 'an operation runs')
    await sql("update app_operations set state = 'failed', ended_at = now() where id = 'op-idle'")
    const moved = await ledger.move({ backup: wanted, at: DAY })
    assert.equal([moved?.state, moved?.rev], ['running', queued.rev + 1])
    assert.is(await ledger.move({ backup: wanted, at: DAY }), null, 'decided on what is no more')
    const outcomes = makeAppOutcomes({ pg, epoch })
    await sql("update app_operations set state = 'queued', ended_at = null where id = 'op-idle'")
    const beginning = { on: 'begun', source: 'a'.repeat(64), envVersion: null, restoredFrom: null } as const
    const operation = { id: 'op-idle', app: 'app-idle' }
    const decision = await outcomes.change({ operation, event: beginning, at: DAY })
    assert.is(decision.state, 'refused', 'and no operation begins beside it')
    const lost = makeBackupLedger({ pg, epoch: () => epoch() - 1, blobs: makeBlobs({ pg }) })
    const late = await lost.move({ backup: wanted, at: DAY }).catch((error) => error)
    assert.match(String(late), /epoch/i)
    assert.is((await ledger.pieceAt('bak-source', 0))?.toString(), 'source one')
    assert.is((await ledger.pieceAt('bak-source', 10))?.toString(), 'source two')
    assert.is(await ledger.pieceAt('bak-source', 5), null)
  })

  t('are swept by count and by day, the newest of a volume never', async () => {
    const at = (day: number) => new Date(Date.UTC(2026, 8, day)).toISOString()
    const old = '2026-10-20T00:00:00.000Z'
    for (let day = 1; day <= 13; day += 1)
      await enter(`bak-day-${day}`, [Buffer.from(`day ${day}`)], {
        ...{ volume: 'aged', created_at: at(day), ended_at: at(day), expires_at: day < 10 ? old : null },
      })
    // three beyond ten, and six of ten whose day is over
    await sweepAppBackups({ pg, epoch, now: () => new Date('2026-11-01T00:00:00.000Z') })
    const left = (await api('GET', '/backups?volume=aged&limit=200')).json.backups.map(({ id }: Json) => id)
    assert.equal(left, ['bak-day-13', 'bak-day-12', 'bak-day-11', 'bak-day-10'])
    assert.equal([await isStored('day 1'), await isStored('day 13')], [false, true])
  })
})
