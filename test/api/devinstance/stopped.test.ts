/**
 * A dev instance that has stopped, by itself or by command: the very programs of its bootstrap before the registry as it runs. It is
 * silent, nobody misses its reports, and it costs its disk and its address. What is awaited is reckoned by hand from the price page.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idleScript } from '../../../crds/devinstance/bootstrap/idle.ts'
import { reporterScript } from '../../../crds/devinstance/bootstrap/reporter.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Machine, madeMachine } from '../../support/builders/machine.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeMinter } from '../../support/stage/callers.ts'
import { makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const REPORTER = reporterScript([{ id: 'claude-code', folder: 'agents/claude' }])
const IDLE = idleScript()
/** XS on arm64, a month of 730 hours: t4g.medium 0.0336 an hour, 30 GB at 0.08, an address 0.005 an hour. */
const RUNNING_USD = 0.0336 * 730 + 30 * 0.08 + 0.005 * 730
const STOPPED_USD = 30 * 0.08 + 0.005 * 730
const daysOf = (days: number, monthlyUsd: number): number => (days * 24 * monthlyUsd) / 730
/** A look starts some hundred programs. */
const PATIENT = { timeoutMs: 300_000 }

spec('a dev instance that has stopped', (t) => {
  let platform: Platform
  let box: Provisioner
  let [owner, admin] = ['', '']
  const folder = mkdtempSync(join(tmpdir(), 'bottega-stopped-'))

  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
      const capabilities = ['devbox.manage']
      owner = await addAccount(platform, 'sleeper', { capabilities })
      admin = await addAccount(platform, 'chief', { capabilities, role: 'admin' })
      await setCap(platform, { account: 'sleeper', token: owner }, 500)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.end()
  })

  const clock = (method: string, body?: Json) => call(platform.baseUrl, admin, method, '/api/dev/clock', body)
  const passes = async (advance: string): Promise<void> => {
    const { status, text } = await clock('POST', { advance })
    assert.is(status, 200, text)
  }
  /** The clock of the machine, which is that of the platform: seconds since 1970. */
  const now = async (): Promise<number> => Math.floor(Date.parse((await clock('GET')).json.now) / 1000)
  const say = async (id: string, word: string, body: Json = {}): Promise<Json> => {
    const { version } = await box.detail(id)
    const { status, json, text } = await box.on(id, 'POST', word, { version, ...body })
    assert.is(status, 200, `${word}: ${text}`)
    return json.devbox
  }
  const conditionsOf = async (id: string): Promise<string[]> =>
    (await box.detail(id)).conditions.map(({ type }: Json) => type)
  const reportsOf = async (id: string): Promise<number> => {
    const sql = 'select n::integer as n from devbox_report_heads where resource = $1'
    return Number((await query(platform.database.url, sql, [id]))[0]?.n ?? 0)
  }
  /** What it costs while so many days pass. */
  const costOf = async (id: string, days: number): Promise<number> => {
    const before = (await box.detail(id)).costToDateUsd
    await passes(`P${days}D`)
    return (await box.detail(id)).costToDateUsd - before
  }
  /** To the cent that each of two readings is rounded to, and the minute that the tests take. */
  const assertCost = (actualUsd: number, wantedUsd: number): void =>
    assert.ok(Math.abs(actualUsd - wantedUsd) < 0.02, `it cost ${actualUsd} USD, and ${wantedUsd} was awaited`)

  /** A running one, with a machine on which its programs are. */
  const launched = async (idleMinutes: number): Promise<{ id: string; machine: Machine }> => {
    const { id } = await box.toRunning({ policy: { idleMinutes, autoscale: 'ask' } })
    const { json } = await box.on(id, 'POST', 'token')
    const machine = madeMachine(join(folder, id))
    machine.put('/etc/bottega/token', `${json.token}\n`)
    machine.put('/etc/bottega/url', `${platform.baseUrl}\n`)
    return { id, machine }
  }
  const reports = async (machine: Machine, ...args: string[]): Promise<void> => {
    const { code, stderr } = await machine.run(REPORTER, { now: await now(), args })
    assert.equal([code, stderr], [0, ''])
  }
  /** systemd stops its units: the one that says so first. */
  const turnsOff = async (machine: Machine): Promise<void> => {
    machine.answers('systemctl', 'stopping')
    await reports(machine, 'stopping')
  }
  const lastEvent = async (id: string, kind: string): Promise<Json> =>
    (await box.detail(id)).events.find((one: Json) => one.kind === kind)

  t(
    'with programs that could not say so: it counts as running until somebody has looked, and all who look are told',
    async () => {
      const { id } = await box.toRunning()
      // it comes first, for a session is no longer good once the clock was moved; as rows are from before programs had a version
      const sql = "update devboxes set box = box - 'programs', rev = rev + 1 where resource = $1"
      await query(platform.database.url, sql, [id])
      const again = `bottega.dev/reconcile-requested-at=${new Date().toISOString()}`
      await platform.kubectl(['annotate', '--overwrite', 'dbx', id, again])
      await eventually('the condition', async () => (await conditionsOf(id)).includes('ProgramsOutdated'))
      const words =
        /It cannot say that it stops, so that it counts and costs as running until the provisioner has looked/
      const { conditions } = await box.detail(id)
      assert.match(conditions.find(({ type }: Json) => type === 'ProgramsOutdated').message, words)
      assert.match(await platform.kubectl(['describe', 'dbx', id]), words)
      const minter = makeMinter(platform)
      const session = await minter.session('sleeper')
      const page = await call(platform.baseUrl, session, 'GET', '/account/devboxes', undefined, { accept: 'text/html' })
      await minter.end()
      assert.match(page.text, words)
      assertCost(await costOf(id, 10), daysOf(10, RUNNING_USD))
      assert.is((await say(id, 'stopped')).state, 'stopped')
      assertCost(await costOf(id, 10), daysOf(10, STOPPED_USD))
    },
    PATIENT,
  )

  t(
    'by itself, idle: it says so, is heard no more, and costs its disk and its address from then on',
    async () => {
      const { id, machine } = await launched(15)
      let minute = 0
      for (const next of [0, 5, 10, 14, 15]) {
        if (next > minute) await passes(`PT${next - minute}M`)
        minute = next
        assert.equal(machine.calls('systemctl').includes('poweroff'), false, `at ${next} minutes`)
        await reports(machine)
        await machine.run(IDLE, { now: await now() })
      }
      assert.is(machine.calls('systemctl').at(-1), 'poweroff')
      await turnsOff(machine)
      await eventually('the stop to be known', async () => (await lastEvent(id, 'stopping')) !== undefined)
      assert.is((await lastEvent(id, 'stopping')).data.reason, 'idle for 15 minutes')
      // a look that was under way as the machine stopped ends after it has said so: that wakes nothing
      machine.answers('systemctl', 'stopping')
      await reports(machine)
      const heard = await reportsOf(id)
      assertCost(await costOf(id, 20), daysOf(20, STOPPED_USD))
      const shown = await box.detail(id)
      assert.equal(
        shown.events.filter(({ kind }: Json) => kind === 'awake'),
        [],
      )
      assert.is(await reportsOf(id), heard, 'nothing is heard of it')
      assert.equal(await conditionsOf(id), ['Stopping'], 'and nobody misses its reports')

      // nobody has looked at the cloud until now; what the provisioner then says changes no price
      assert.is(shown.state, 'running')
      assert.is((await say(id, 'stopped')).state, 'stopped')
      assert.equal(await conditionsOf(id), [])
      assertCost(await costOf(id, 20), daysOf(20, STOPPED_USD))
      const { costs } = (await call(platform.baseUrl, owner, 'GET', '/api/devboxes/costs')).json
      const actualUsd = costs.reduce((sum: number, one: Json) => sum + one.actualUsd, 0)
      const { devboxes } = (await call(platform.baseUrl, owner, 'GET', '/api/devboxes')).json
      const toDateUsd = devboxes.reduce((sum: number, one: Json) => sum + one.costToDateUsd, 0)
      assertCost(actualUsd, toDateUsd)

      // started, it costs as one that runs
      await say(id, 'started')
      await reports(machine)
      assertCost(await costOf(id, 10), daysOf(10, RUNNING_USD))
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
    },
    PATIENT,
  )

  t(
    'by the command of a person who is logged in: the same, with another reason',
    async () => {
      const { id, machine } = await launched(30)
      await reports(machine)
      await passes('PT1M')
      // bottega devbox stop: sudo systemctl poweroff
      await turnsOff(machine)
      await eventually('the stop to be known', async () => (await lastEvent(id, 'stopping')) !== undefined)
      assert.is((await lastEvent(id, 'stopping')).data.reason, 'shutdown')
      assert.is((await say(id, 'stopped')).state, 'stopped')
      const heard = await reportsOf(id)
      assertCost(await costOf(id, 30), daysOf(30, STOPPED_USD))
      assert.is(await reportsOf(id), heard)
      assert.equal(await conditionsOf(id), [])

      // and one that is said to be stopped and is not is heard, said, and billed as what it is
      await reports(machine)
      await eventually('that it is awake to be known', async () => (await lastEvent(id, 'awake')) !== undefined)
      assert.is((await box.detail(id)).state, 'stopped')
      assertCost(await costOf(id, 10), daysOf(10, RUNNING_USD))
      assert.equal(await conditionsOf(id), ['SeenRunning'])
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
    },
    PATIENT,
  )

  t(
    'as its owner asked over REST: it costs as one that runs until it has stopped, and not longer',
    async () => {
      const { id, machine } = await launched(30)
      await reports(machine)
      const asked = await say(id, 'halting')
      assert.equal([asked.state, asked.wanted?.power], ['running', 'stopped'])
      assertCost(await costOf(id, 10), daysOf(10, RUNNING_USD))
      // it has been silent meanwhile
      await eventually('its silence to be told', async () => (await conditionsOf(id)).includes('ReportStale'))
      // the provisioner turns it off, and says so
      await turnsOff(machine)
      await eventually('the stop to be known', async () => (await lastEvent(id, 'stopping')) !== undefined)
      const heard = await reportsOf(id)
      assertCost(await costOf(id, 10), daysOf(10, STOPPED_USD))
      const stopped = await say(id, 'stopped')
      assert.equal([stopped.state, stopped.wanted], ['stopped', null])
      assertCost(await costOf(id, 10), daysOf(10, STOPPED_USD))
      assert.is(await reportsOf(id), heard)
      assert.equal(await conditionsOf(id), [])
    },
    PATIENT,
  )
})
