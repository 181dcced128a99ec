import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StaleEpoch } from '../../../../controllers/base/errors.ts'
import { makeAppLedger } from '../../../../controllers/store/app/operations.ts'
import { type Ask, makeAppOutcomes } from '../../../../controllers/store/app/outcomes.ts'
import { takeEpoch } from '../../../../controllers/store/pg/fence.ts'
import { migrate } from '../../../../controllers/store/pg/migrate.ts'
import { type AroundQuery, makePg, type Pg } from '../../../../controllers/store/pg/pg.ts'
import type { OperationDecision, OperationEvent } from '../../../../crds/app/lifecycle/events.ts'
import { QUEUE_MAX } from '../../../../crds/app/lifecycle/transitions.ts'
import { OPERATION_STATES, type Operation, type Release } from '../../../../crds/app/world.ts'
import type { NewEvent } from '../../../../crds/kernel/event.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../../../support/stage/stage.ts'

const AT = '2026-11-22T10:00:00.123Z'
const APP = 'app-1'
const RACERS = 24
const isStale = (error: unknown) => error instanceof StaleEpoch
const TOLD: NewEvent = { kind: 'App', account: 'demo', type: 'app.released', data: { app: { id: APP } } }
const WAY: readonly OperationEvent[] = [
  { on: 'begun', source: 'a'.repeat(64), envVersion: 3, restoredFrom: null },
  { on: 'passed', step: 'check', known: { record: { project: 'shop-r1' }, digest: 'd' }, message: null },
  { on: 'passed', step: 'upload', known: {}, message: 'no file is needed on the host' },
  { on: 'passed', step: 'images', known: { record: { arch: 'amd64' }, state: 'starting' }, message: null },
  { on: 'passed', step: 'start', known: { address: '127.0.0.1:40001' }, message: null },
  { on: 'claimed' },
  { on: 'switched' },
]
const failed = (message = 'the build failed', log = 'boom'): OperationEvent => ({
  on: 'failed',
  code: 'BUILD_FAILED',
  message,
  log,
})

spec('operations of an app in PostgreSQL', (t) => {
  let database: Database
  let pg: Pg
  let epoch: number
  /** Runs before the next statement of this name, once. */
  let before: { name: string; run(): Promise<unknown> } | null = null
  const around: AroundQuery = async ({ name }, run) => {
    if (before?.name === name) {
      const { run: first } = before
      before = null
      await first()
    }
    return run()
  }

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: RACERS, around })
    epoch = await takeEpoch(pg, 'a test')
  })
  t.before.each(async () => {
    before = null
    await query(
      database.url,
      'truncate app_operations, app_steps, app_releases, app_revisions, app_routes, outbox cascade',
    )
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  const controllers = () => makeAppLedger({ pg, epoch: () => epoch })
  const api = () => makeAppOutcomes({ pg, epoch: null })
  const askOf = (id: string, change: Partial<Ask> = {}): Ask => ({
    id,
    app: APP,
    account: 'demo',
    intent: { kind: 'deploy', digest: id, envVersion: null, volumes: [] },
    at: AT,
    ...change,
  })
  const entered = async (id: string, change: Partial<Ask> = {}): Promise<Operation> => {
    const decision = await api().ask(askOf(id, change))
    assert.ok(decision.state === 'accepted', JSON.stringify(decision))
    return decision.operation
  }
  const happen = (id: string, event: OperationEvent, more: { sealed?: Buffer; told?: NewEvent } = {}) =>
    controllers().change({ operation: { id, app: APP }, event, at: AT, ...more })
  const goes = async (id: string, events: readonly OperationEvent[]) => {
    for (const event of events) assert.is((await happen(id, event)).state, 'accepted', event.on)
  }
  const seen = () => controllers().observe({ app: APP, host: 'local', slug: 'shop', now: AT })
  const toldOf = (decision: OperationDecision) =>
    decision.state === 'refused' ? `${decision.refusal.code}: ${decision.refusal.detail}` : decision.state
  const codeOf = (decision: OperationDecision) =>
    decision.state === 'refused' ? decision.refusal.code : decision.state

  t('what was decided is read as it was decided, at each step of the way', async () => {
    await entered('op-0')
    await goes('op-0', WAY)
    await entered('op-1', { at: '2026-11-22T10:00:07.000Z' })
    for (const event of WAY) {
      const decision = await happen('op-1', event)
      assert.ok(decision.state === 'accepted', event.on)
      const { operations, releases } = await seen()
      assert.equal(operations[1], decision.operation, event.on)
      // whether its upload is still there is looked up, not decided
      for (const one of decision.releases) {
        const read = releases.find(({ number }) => number === one.number)
        assert.equal(read, { ...one, sourceKept: false }, event.on)
      }
    }
    const states = (await seen()).releases.map(({ number, state }) => [number, state])
    assert.equal(states, [
      [2, 'live'],
      [1, 'superseded'],
    ])
    assert.is((await happen('op-0', { on: 'retired' })).state, 'accepted')
    assert.is((await seen()).releases[1]?.retiredAt, AT)
  })

  t('the sealed whole of a release stays when a later step brings none', async () => {
    await entered('op-1')
    await happen('op-1', WAY[0] as OperationEvent)
    await happen('op-1', WAY[1] as OperationEvent, { sealed: Buffer.from('sealed') })
    await goes('op-1', WAY.slice(2))
    assert.equal(await query(database.url, "select convert_from(sealed, 'UTF8') as sealed from app_releases"), [
      { sealed: 'sealed' },
    ])
  })

  t('what is told of it is told once, by who was first', async () => {
    await entered('op-1')
    await goes('op-1', WAY.slice(0, 6))
    const first = () => happen('op-1', { on: 'switched' }, { told: TOLD })
    before = { name: 'app_operation_switched', run: async () => assert.is((await first()).state, 'accepted') }
    const second = await happen('op-1', { on: 'switched' }, { told: { ...TOLD, type: 'app.release_failed' } })
    assert.is(toldOf(second), 'WRONG_STATE: switched is not for an operation that is succeeded.')
    const { kind, account, ...payload } = TOLD
    assert.equal(await query(database.url, 'select kind, account, resource, purpose, payload from outbox'), [
      { kind, account, resource: APP, purpose: 'event:operation:op-1', payload },
    ])
  })

  t(
    'a release that is left is failed, the one before is live again, and that is told once, beside what was told before',
    async () => {
      await entered('op-1')
      await goes('op-1', WAY)
      await entered('op-2', { intent: { kind: 'deploy', digest: 'b'.repeat(64), envVersion: null, volumes: [] } })
      await goes('op-2', WAY.slice(0, 6))
      await happen('op-2', { on: 'switched', watchMs: 60_000 }, { told: TOLD })
      const { releases } = await seen()
      const until = new Date(Date.parse(AT) + 60_000).toISOString()
      assert.equal(releases.find(({ number }) => number === 2)?.record?.watch, { until, before: 1 })
      const before = releases.find(({ number }) => number === 1) as Release
      const event = {
        on: 'returned',
        before,
        code: 'RELEASE_FAILED',
        message: 'it was bad',
        log: 'last lines',
      } as const
      const told: NewEvent = { ...TOLD, type: 'app.release_failed' }
      assert.is(toldOf(await happen('op-2', event, { told })), 'accepted')
      assert.is(
        toldOf(await happen('op-2', event, { told })),
        'WRONG_STATE: returned is not for an operation that is failed.',
      )
      const after = (await seen()).releases.map(({ number, state, logTail }) => [number, state, logTail])
      assert.equal(after, [
        [2, 'failed', 'last lines'],
        [1, 'live', null],
      ])
      assert.equal(await query(database.url, "select purpose, payload ->> 'type' as type from outbox order by id"), [
        { purpose: 'event:operation:op-2', type: 'app.released' },
        { purpose: 'event:returned:op-2', type: 'app.release_failed' },
      ])
    },
  )

  t('callers that ask at once are numbered without a gap, and the queue takes no more than it may', async () => {
    const asks = Array.from({ length: RACERS }, (_one, index) => api().ask(askOf(`op-${index}`)))
    const decisions = await Promise.all(asks)
    const numbers = decisions.flatMap((decision) => (decision.state === 'accepted' ? [decision.operation.n] : []))
    assert.equal(
      numbers.sort((a, b) => a - b),
      Array.from({ length: QUEUE_MAX }, (_one, index) => index + 1),
    )
    assert.is(decisions.filter((decision) => codeOf(decision) === 'QUEUE_FULL').length, RACERS - QUEUE_MAX)
  })

  t('who asks twice at once under one id has asked once', async () => {
    const decisions = await Promise.all([1, 2, 3, 4].map(() => api().ask(askOf('op-1'))))
    assert.equal(decisions.map(codeOf).sort(), ['accepted', 'unchanged', 'unchanged', 'unchanged'])
    const strange = await api().ask(askOf('op-1', { app: 'app-2' }))
    assert.is(toldOf(strange), 'IDEMPOTENCY_MISMATCH: The key was used for an operation of another app.')
    assert.is((await seen()).operations.length, 1)
  })

  t('an id that another app was asked under in between is a mismatch, and that app keeps its operation', async () => {
    before = { name: 'app_operation_asked', run: () => api().ask(askOf('op-1', { app: 'app-2' })) }
    assert.is(codeOf(await api().ask(askOf('op-1'))), 'IDEMPOTENCY_MISMATCH')
    const rows = await query(database.url, 'select app, n from app_operations')
    assert.equal(rows, [{ app: 'app-2', n: 1 }])
  })

  t('who decided on rows that are no more decides again: a cancel in between stops the switch', async () => {
    const operation = await entered('op-1')
    await goes('op-1', WAY.slice(0, 5))
    const cancel = () => api().change({ operation, event: { on: 'cancel' }, at: AT })
    before = { name: 'app_operation_claimed', run: cancel }
    assert.is(toldOf(await happen('op-1', { on: 'claimed' })), `WRONG_STATE: op-1 was asked to stop at ${AT}.`)
    const [row] = (await seen()).operations
    assert.equal([row?.cancelAt, row?.switchAt, row?.state], [AT, null, 'running'])
  })

  t('and a switch in between makes the cancel too late', async () => {
    const operation = await entered('op-1')
    await goes('op-1', WAY.slice(0, 5))
    before = { name: 'app_operation_cancel', run: () => happen('op-1', { on: 'claimed' }) }
    const decision = await api().change({ operation, event: { on: 'cancel' }, at: AT })
    assert.is(toldOf(decision), 'TOO_LATE: Visitors are on release 1 already.')
    const [row] = (await seen()).operations
    assert.equal([row?.cancelAt, row?.switchAt], [null, AT])
  })

  t('of a cancel and a switch at once one wins, whichever', async () => {
    for (let round = 0; round < 8; round++) {
      const operation = await entered(`op-${round}`)
      await goes(operation.id, WAY.slice(0, 5))
      const both = [
        api().change({ operation, event: { on: 'cancel' }, at: AT }),
        happen(operation.id, { on: 'claimed' }),
      ]
      const decisions = await Promise.all(both)
      assert.is(decisions.filter(({ state }) => state === 'accepted').length, 1)
      await happen(operation.id, failed())
    }
  })

  t('a route that leads elsewhere in between keeps its address on the release', async () => {
    await entered('op-1')
    await goes('op-1', WAY.slice(0, 6))
    const address = '127.0.0.1:40002'
    const moved = () => controllers().setRoute({ app: APP, release: 1, digest: 'd', address })
    before = { name: 'app_operation_switched', run: moved }
    assert.is((await happen('op-1', { on: 'switched' })).state, 'accepted')
    assert.equal((await seen()).releases[0]?.address, address)
  })

  t('a leader that was replaced changes nothing, also between its look and its decision', async () => {
    await entered('op-1')
    const old = makeAppOutcomes({ pg, epoch: () => epoch - 1 })
    const change = { operation: { id: 'op-1', app: APP }, event: WAY[0] as OperationEvent, at: AT }
    await assert.rejects(() => old.change(change), isStale)
    await assert.rejects(() => old.ask(askOf('op-2')), isStale)
    const leader = epoch
    const replaced = makeAppOutcomes({ pg, epoch: () => leader })
    before = {
      name: 'app_operation_begun',
      run: async () => {
        epoch = await takeEpoch(pg, 'another')
      },
    }
    await assert.rejects(() => replaced.change(change), isStale)
    const { operations, releases } = await seen()
    assert.equal([operations.map(({ id, state }) => [id, state]), releases], [[['op-1', 'queued']], []])
  })

  t('the api, which has no epoch, enters operations and asks them to stop, and moves none', async () => {
    const operation = await entered('op-1')
    for (const event of [WAY[0] as OperationEvent, failed()]) {
      await assert.rejects(() => api().change({ operation, event, at: AT }), /needs an epoch/)
    }
    await goes('op-1', WAY.slice(0, 5))
    await assert.rejects(() => api().change({ operation, event: { on: 'claimed' }, at: AT }), /needs an epoch/)
    assert.is((await api().change({ operation, event: { on: 'cancel' }, at: AT })).state, 'accepted')
    const [row] = (await seen()).operations
    assert.equal([row?.state, row?.switchAt, row?.cancelAt], ['running', null, AT])
  })

  t('what no text of PostgreSQL can hold is left out of a log, and the log is kept', async () => {
    await entered('op-1')
    await happen('op-1', WAY[0] as OperationEvent)
    const half = '🙂'.slice(1)
    assert.is((await happen('op-1', failed('a\0b', `${half}boom\0`))).state, 'accepted')
    const { operations, releases } = await seen()
    assert.equal([operations[0]?.message, releases[0]?.logTail], ['ab', '\ufffdboom'])
  })

  t('the schema takes each state that the table knows, and one that runs for each app', async () => {
    const enter = (id: string, n: number, state: string) =>
      query(
        database.url,
        `insert into app_operations (id, app, account, n, kind, intent, by_controller, state, created_at, ended_at)
         values ($1, $2, 'demo', $3, 'env', '{}', false, $4, now(), $5)`,
        [id, APP, n, state, state === 'queued' || state === 'running' ? null : AT],
      )
    for (const [index, state] of OPERATION_STATES.entries()) await enter(`op-${state}`, index + 1, state)
    await assert.rejects(() => enter('op-second', 100, 'running'), /app_operations_one_at_a_time/)
    await assert.rejects(() => enter('op-strange', 101, 'paused'), /app_operations_state_check/)
  })

  t('an operation that is not there is a fault, and not a refusal', async () => {
    await entered('op-1', { app: 'app-2' })
    await assert.rejects(() => happen('op-1', failed()), /app-1 has no operation op-1/)
  })
})

const SQL = fileURLToPath(new URL('../../../../controllers/store/sql/', import.meta.url))
const NEWER = '016_app_revisions.sql'

spec('operations that were there before revisions were', (t) => {
  let database: Database
  let pg: Pg
  const folder = scratchFolder('sql')

  t.before(async () => {
    database = await makeDatabase()
    await query(database.url, 'drop schema public cascade')
    await query(database.url, 'create schema public')
    mkdirSync(`${folder}/functions`, { recursive: true })
    const isOlder = (path: string) => !path.endsWith('.sql') || basename(path) < NEWER
    cpSync(`${SQL}schema`, `${folder}/schema`, { recursive: true, filter: isOlder })
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) })
    pg = makePg({ url: database.url, max: 2 })
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
    rmSync(folder, { recursive: true })
  })

  t('are read, go on where they were, and are followed by the next number', async () => {
    await query(
      database.url,
      `insert into app_operations
         (id, app, account, n, kind, intent, by_controller, state, release, created_at, started_at, ended_at, switch_at)
       values
         ('op-1', 'app-1', 'demo', 1, 'deploy', '{"kind": "deploy", "digest": "a"}', false, 'succeeded', 1, $1, $1, $1, $1),
         ('op-2', 'app-1', 'demo', 2, 'deploy', '{"kind": "deploy", "digest": "b"}', false, 'running', 2, $1, $1, null, $1)`,
      [AT],
    )
    await query(
      database.url,
      `insert into app_steps (operation, place, name, state, started_at)
       select 'op-2', place, name, case when place < 5 then 'succeeded' else 'running' end, $1
       from unnest(array['check', 'upload', 'images', 'start', 'switch']) with ordinality as s(name, place)`,
      [AT],
    )
    await query(
      database.url,
      `insert into app_releases (app, number, id, operation, state, source, address, created_at, live_at)
       values ('app-1', 1, 'rel-1', 'op-1', 'live', 'a', '127.0.0.1:1', $1, $1),
         ('app-1', 2, 'rel-2', 'op-2', 'starting', 'b', '127.0.0.1:2', $1, null)`,
      [AT],
    )
    await query(database.url, 'create function claim_app_switch(in_id text) returns boolean return true')
    await migrate(database.url)
    const left = await query(database.url, "select proname from pg_proc where proname = 'claim_app_switch'")
    assert.equal(left, [], 'nobody writes past the revision')
    const epoch = await takeEpoch(pg, 'a test')
    const ledger = makeAppLedger({ pg, epoch: () => epoch })
    const switching = { operation: { id: 'op-2', app: 'app-1' }, event: { on: 'switched' } as const, at: AT }
    assert.is((await ledger.change(switching)).state, 'accepted')
    const intent = { kind: 'env', envVersion: 1 } as const
    const asked = await ledger.ask({ id: 'op-3', app: 'app-1', account: 'demo', intent, at: AT })
    assert.ok(asked.state === 'accepted')
    assert.equal([asked.operation.n, asked.operation.byController], [3, true])
    const { operations, releases } = await ledger.observe({ app: 'app-1', host: 'local', slug: 'shop', now: AT })
    assert.equal(operations[2], asked.operation)
    assert.equal(
      operations.map(({ n, state }) => [n, state]),
      [
        [1, 'succeeded'],
        [2, 'succeeded'],
        [3, 'queued'],
      ],
    )
    assert.equal(
      releases.map(({ number, state }) => [number, state]),
      [
        [2, 'live'],
        [1, 'superseded'],
      ],
    )
  })
})
