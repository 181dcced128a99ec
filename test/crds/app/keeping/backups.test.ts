import { findingsOf } from '../../../../crds/app/lifecycle/health/findings.ts'
import {
  type AppBackup,
  BACKUP_KEPT_DAYS,
  backJobOf,
  ended,
  keepJobOf,
} from '../../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { backupEnding, packedIn } from '../../../../crds/app/lifecycle/keeping/backups/ending.ts'
import { withoutPause } from '../../../../crds/app/lifecycle/keeping/backups/pausing.ts'
import { planRestore } from '../../../../crds/app/lifecycle/keeping/backups/restoring.ts'
import type { BackupStep } from '../../../../crds/app/lifecycle/keeping/backups/steps.ts'
import { viewBackup, viewBackupOperation } from '../../../../crds/app/lifecycle/keeping/backups/view.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import type { AppStep } from '../../../../crds/app/steps.ts'
import { viewApp } from '../../../../crds/app/view.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { aLook, anApp, anOperation, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import {
  aBackup,
  aRestore,
  type BackupFate,
  backupStepped,
  exited,
  packedWell,
  SUM,
} from '../../../support/builders/app/backups.ts'
import { aRun } from '../../../support/builders/app/runs.ts'
import { GOOD, stepped } from '../../../support/builders/app/stepped.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type App = ReturnType<typeof anApp>

const isOfBackup = (step: AppStep): step is BackupStep => /Backup$|^notePacked$|^putBack$/.test(step.do)

/** Plans and steps until nothing is to be done. */
const run = (object: App, from: AppWorld, fate?: BackupFate) => {
  let world = from
  const done: string[] = []
  for (let round = 0; round < 40; round++) {
    const plan = planApp(object, world, NOW)
    if (plan.steps.length === 0) return { world, done, plan }
    for (const step of plan.steps) {
      done.push(step.do)
      world = isOfBackup(step) ? backupStepped(world, step, fate) : stepped(world, step, GOOD)
    }
  }
  throw new Error(`no end: ${done.join(' ')}`)
}

const live = (change: Partial<AppWorld> = {}): AppWorld =>
  aWorld({
    operations: [
      anOperation({ state: 'succeeded', release: 1, endedAt: NOW.toISOString(), switchAt: NOW.toISOString() }),
    ],
    releases: [aRelease(1)],
    route: null,
    ...change,
  })
const withBackups = (...backups: AppBackup[]): AppWorld => live({ backups })
const ofBackups = (done: readonly string[]) => done.filter((what) => /Backup$|^notePacked$|^putBack$/.test(what))
const first = ({ backups: [backup] }: AppWorld) => backup as AppBackup
const cancelAt = NOW.toISOString()
const RUNNING = { state: 'running', startedAt: cancelAt, release: 1 } as const
const deploying = anOperation({ n: 2, state: 'running', release: 2 })

spec('a backup of a volume', (t) => {
  t('begins, is packed, taken into the store, ends, and leaves its host', () => {
    const { world, done } = run(anApp(), withBackups(aBackup()))
    assert.equal(ofBackups(done), [
      ...['beginBackup', 'startBackup', 'notePacked', 'takeBackup', 'endBackup', 'dropBackup'],
    ])
    const { state, packed, droppedAt, release } = first(world)
    assert.equal([state, packed?.how, packed?.bytes, release], ['succeeded', 'paused', 7, 1])
    assert.ok(droppedAt !== null)
  })

  t('waits for an operation that runs, and no operation waits for it', () => {
    const world = live({ backups: [aBackup()], operations: [deploying], job: { state: 'running' } })
    assert.equal(ofBackups(planApp(anApp(), world, NOW).steps.map((step) => step.do)), [])
    const queued = live({
      backups: [aBackup(RUNNING)],
      backupJobs: { 'bak-1': { keep: { state: 'running' } } },
      operations: [anOperation({ n: 2 })],
    })
    const steps = planApp(anApp({ asked: 2 }), queued, NOW).steps.map((step) => step.do)
    assert.ok(steps.includes('begin'), steps.join())
  })

  t('is one at a time, in the order of asking', () => {
    const second = aBackup({ id: 'bak-2' })
    const { done, world } = run(anApp(), withBackups(aBackup(), second))
    assert.equal(ofBackups(done).indexOf('beginBackup'), 0)
    assert.ok(ofBackups(done).lastIndexOf('beginBackup') > ofBackups(done).indexOf('endBackup'))
    assert.equal(
      world.backups.map(({ state }) => state),
      ['succeeded', 'succeeded'],
    )
  })

  t('fails with its reason, and nothing of it is said to be kept', () => {
    const fate = () => ({ keep: exited(EXIT.notCopied, 'bottega: reason its volumes hold 9000 MiB\n') })
    const { world } = run(anApp(), withBackups(aBackup()), fate)
    const { state, code, message, expiresAt } = first(world)
    assert.equal([state, code, expiresAt], ['failed', 'BACKUP_FAILED', null])
    assert.match(message ?? '', /hold 9000 MiB; ask for consistency live/)
    assert.is(viewBackup(first(world)).downloadable, false)
  })

  t('is said to have failed where its host ended it, and not where somebody asked', () => {
    const backup = aBackup(RUNNING)
    const job = { state: 'exited', code: 137, log: '', cancelled: false } as const
    assert.equal(backupEnding(backup, job).state, 'failed')
    assert.equal(backupEnding(backup, { ...job, cancelled: true }).state, 'cancelled')
    assert.equal(backupEnding(aBackup({ cancelAt }), job).state, 'cancelled')
    assert.is(backupEnding(backup, { ...job, code: EXIT.tooLarge }).code, 'BACKUP_TOO_LARGE')
  })

  t('is stopped before it begins, while it is packed, and while it is taken', () => {
    assert.equal(ofBackups(run(anApp(), withBackups(aBackup({ cancelAt }))).done), ['endBackup'])
    const packing = live({
      backups: [aBackup({ ...RUNNING, cancelAt })],
      backupJobs: { 'bak-1': { keep: { state: 'running' } } },
    })
    const stopped = run(anApp(), packing)
    assert.equal(ofBackups(stopped.done), ['cancelBackup', 'endBackup', 'dropBackup'])
    const packed = { bytes: 7, sha256: SUM, how: 'still' } as const
    const taking = run(anApp(), withBackups(aBackup({ ...RUNNING, cancelAt, packed, taken: 4 })))
    assert.equal(ofBackups(taking.done), ['endBackup', 'dropBackup'])
    for (const { world } of [stopped, taking]) assert.is(first(world).state, 'cancelled')
  })

  t('does nothing while its host is away, and goes on where it was', () => {
    const away = live({ backups: [aBackup(RUNNING), aBackup({ id: 'bak-2' })], unreachable: 'no route' })
    assert.equal(ofBackups(planApp(anApp(), away, NOW).steps.map((step) => step.do)), [])
    const back = live({
      backups: [aBackup(RUNNING)],
      backupJobs: { 'bak-1': { keep: packedWell('still') } },
    })
    assert.equal(ofBackups(run(anApp(), back).done), ['notePacked', 'takeBackup', 'endBackup', 'dropBackup'])
  })

  t('pauses its services without anybody taking them for stopped, and nobody else may', () => {
    const seen = {
      ...{ project: 'shop-base', name: 'db', service: 'db', state: 'paused', health: 'none', code: 0, policy: 'no' },
      ...{ restarts: 0, restartedAt: [], isOutOfMemory: false, limits: null, networks: [] },
    }
    const look = aLook({ containers: [seen], stopped: [{ service: 'db', code: 0 }] })
    const codes = (of: typeof look | null) => findingsOf(aRelease(1), of ?? look).map(({ code }) => code)
    assert.equal(codes(withoutPause(look, [aBackup(RUNNING)])), [])
    assert.equal(withoutPause(look, [aBackup(RUNNING)])?.stopped, [])
    for (const others of [[], [aBackup()], [aBackup({ ...RUNNING, consistency: 'live' as const })]])
      assert.equal(codes(withoutPause(look, others)), ['SERVICE_STOPPED'])
  })

  t('ends with the reason for which nothing is done for its app', () => {
    const { world } = run(anApp(), { ...withBackups(aBackup()), account: { name: 'demo', capabilities: [] } })
    assert.equal([first(world).state, first(world).code], ['failed', 'CAPABILITY_REQUIRED'])
  })

  t('is believed by the last lines of its job alone', () => {
    const line = `bottega: packed 7 ${SUM} paused\n`
    assert.equal(packedIn(line), { bytes: 7, sha256: SUM, how: 'paused' })
    assert.is(packedIn(`${line}what an app printed\n`), null)
    for (const wrong of ['packed 7 short paused', `packed x ${SUM} paused`, `packed 7 ${SUM} perhaps`])
      assert.is(packedIn(`bottega: ${wrong}\n`), null, wrong)
  })

  t('is kept for its days, and is shown in the shape of an operation', () => {
    const done = ended(aBackup(RUNNING), { state: 'succeeded', code: null, message: 'kept' }, cancelAt)
    assert.is(Date.parse(done.expiresAt ?? '') - NOW.getTime(), BACKUP_KEPT_DAYS * 86_400_000)
    const { kind, state, result, run: none } = viewBackupOperation(done)
    assert.equal([kind, state, result?.detail, none], ['backup', 'succeeded', 'kept', null])
    const object = anApp()
    const world = withBackups(done, aBackup({ id: 'bak-2' }))
    assert.equal(viewApp(object, world, planApp(object, world, NOW)).backups_ended, ['bak-1'])
  })

  t('has jobs of its own, whose names a host takes', () => {
    const backup = aBackup({ id: `bak-${'0'.repeat(32)}` })
    for (const job of [keepJobOf(backup), backJobOf(backup)]) assert.match(job, /^[a-z0-9][a-z0-9-]{0,62}$/)
  })
})

spec('a restore of a volume', (t) => {
  const restoring = (change: Partial<AppBackup> = {}) => aRestore({ ...RUNNING, laid: 9, ...change })

  t('is laid on the host before its job begins, and is itself the backup of what was there', () => {
    const { world, done } = run(anApp(), withBackups(aRestore()), () => ({ keep: packedWell('stopped') }))
    assert.equal(ofBackups(done), [
      ...['beginBackup', 'layBackup', 'startBackup', 'notePacked', 'takeBackup', 'endBackup', 'dropBackup'],
    ])
    const { state, packed, appliedAt, message } = first(world)
    assert.equal([state, packed?.how], ['succeeded', 'stopped'])
    assert.ok(appliedAt !== null)
    assert.match(message ?? '', /^data holds bak-0; what it held before is kept/)
    assert.is(viewBackup(first(world)).downloadable, true)
  })

  t(
    'has the app to itself: nothing is deployed, run, mended or given another budget until its services are well',
    () => {
      const look = aLook({ containers: [], http: null, at: NOW.toISOString(), badSince: '2026-11-22T09:00:00.000Z' })
      const runs = { runs: [aRun()], marks: [], wakesAt: null, jobs: {} }
      const operations = [anOperation({ n: 2 })]
      const jobs = { 'bak-1': { keep: { state: 'running' } as const } }
      const world = live({ backups: [restoring()], backupJobs: jobs, operations, look, runs })
      const steps = (from: AppWorld) => planApp(anApp({ asked: 2 }), from, NOW).steps.map((step) => step.do)
      assert.equal(steps(world), ['setRoute'])
      const after = steps({
        ...world,
        backups: [restoring({ appliedAt: cancelAt, packed: { bytes: 7, sha256: SUM, how: 'stopped' } })],
      })
      for (const what of ['begin', 'noteUnhealthy', 'beginRun']) assert.ok(after.includes(what as 'begin'), what)
    },
  )

  t('waits for an operation and for commands that run', () => {
    const begins = (change: Partial<AppWorld>) =>
      planApp(anApp(), live({ backups: [aRestore()], ...change }), NOW).steps.some((step) => step.do === 'beginBackup')
    assert.ok(begins({}))
    assert.not.ok(begins({ operations: [deploying], job: { state: 'running' } }))
    assert.not.ok(begins({ runs: { runs: [aRun({ state: 'running' })], marks: [], wakesAt: null, jobs: {} } }))
  })

  for (const [outcome, said] of [
    ['back', 'what it held before is back'],
    ['untouched', 'the volume was not touched'],
  ] as const)
    t(`that does not come up ends with what its volume holds: ${outcome}`, () => {
      const keep = exited(EXIT.notRestored, 'bottega: reason db is unhealthy\n')
      const back = exited(0, `bottega: outcome ${outcome}\n`)
      const { world, done } = run(anApp(), withBackups(aRestore()), () => ({ keep, back }))
      assert.ok(done.includes('putBack'))
      assert.equal([first(world).state, first(world).code], ['failed', 'RESTORE_FAILED'])
      assert.match(first(world).message ?? '', new RegExp(`db is unhealthy; ${said}$`))
    })

  t('that was done when its host ended the job has succeeded, and is not done again', () => {
    const back = exited(0, `bottega: packed 7 ${SUM} stopped\nbottega: outcome done\n`)
    const { world, done } = run(anApp(), withBackups(aRestore()), () => ({ keep: exited(137), back }))
    assert.is(first(world).state, 'succeeded')
    assert.is(done.filter((what) => what === 'startBackup').length, 1)
  })

  t('is not over until its volume was put back, however often that fails', () => {
    const world = live({
      backups: [restoring()],
      backupJobs: { 'bak-1': { keep: exited(137), back: exited(1) } },
    })
    assert.equal(ofBackups(planApp(anApp(), world, NOW).steps.map((step) => step.do)), ['putBack'])
  })

  t('is put back when somebody stops it, and cannot be stopped once its services are well', () => {
    const jobs = { 'bak-1': { keep: { state: 'running' } as const } }
    const world = live({ backups: [restoring({ cancelAt })], backupJobs: jobs })
    const back = exited(0, 'bottega: outcome back\n')
    const stopped = run(anApp(), world, () => ({ keep: exited(137), back }))
    assert.equal(ofBackups(stopped.done), ['cancelBackup', 'putBack', 'endBackup', 'dropBackup'])
    assert.is(first(stopped.world).state, 'cancelled')
    const packed = { bytes: 7, sha256: SUM, how: 'stopped' } as const
    const late = run(anApp(), withBackups(restoring({ cancelAt, packed, appliedAt: cancelAt })))
    assert.is(first(late.world).state, 'succeeded')
  })

  t('is put back before its app leaves the host, for the volume may stay', () => {
    const leaving = anApp({}, { deletionTimestamp: cancelAt })
    const jobs = { 'bak-1': { keep: { state: 'running' } as const } }
    const world = live({ backups: [restoring()], backupJobs: jobs })
    const back = exited(0, 'bottega: outcome back\n')
    const { done } = run(leaving, world, () => ({ keep: exited(137), back }))
    assert.equal(done.slice(0, 4), ['cancelBackup', 'putBack', 'endBackup', 'dropBackup'])
    assert.ok(done.indexOf('clear') > 3, done.join())
  })

  t('says which services stop and for about how long', () => {
    const service = (name: string, source: string | null) => ({
      ...{ name, health: null, stopGracePeriodMs: 2_000 },
      mounts: source === null ? [] : [{ type: 'volume' as const, source, target: '/d', readOnly: false }],
    })
    const services = [service('db', 'data'), service('web', null), service('other', 'more')]
    const project = { services } as unknown as Parameters<typeof planRestore>[0]
    const plan = planRestore(project, 'data', 40_000_000)
    assert.equal(plan, { services: [{ name: 'db', downtimeSeconds: 11 }], downtimeSeconds: 11 })
    assert.equal(planRestore(project, 'none', 1), { services: [], downtimeSeconds: 0 })
  })
})
