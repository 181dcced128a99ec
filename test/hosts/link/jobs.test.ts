import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { StaleEpoch } from '../../../controllers/base/errors.ts'
import { HostUnreachable } from '../../../controllers/io/hosts/hosterrors.ts'
import type { HostJobState, Job } from '../../../controllers/io/hosts/hosts.ts'
import type { AroundHost } from '../../../controllers/io/hosts/link.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'

const limitMs = 60_000

/** Notes each start in a file at home, so that a second one would be seen. */
const job = (id: string, text: string, more: Partial<Job> = {}): Job => ({
  id,
  script: { name: 'a job', text: `echo ${id} >> "$HOME/started"\n${text}` },
  limitMs,
  ...more,
})

spec('a job on a host', (t) => {
  let host: AppHost
  let open: TestHosts
  const link = () => open.hosts.link(HOST_NAME)
  const ended = (id: string): Promise<Extract<HostJobState, { state: 'exited' }>> =>
    eventually(`job ${id} to end`, async () => {
      const state = await link().jobState(id)
      return state.state === 'exited' && state
    })
  const starts = (id: string): number =>
    readFileSync(join(host.account.home, 'started'), 'utf8')
      .split('\n')
      .filter((line) => line === id).length
  /** Runs until it is let go, however slow the machine is. */
  const waits = (id: string, then = '') =>
    job(id, `while [ ! -e "$HOME/go-on-${id}" ]; do sleep 0.1; done${then && `; ${then}`}`)
  const letGo = (id: string) => writeFileSync(join(host.account.home, `go-on-${id}`), '')
  const folder = (id: string) => join(host.account.home, '.bottega', 'jobs', id)

  t.before(async () => {
    host = await startAppHost()
    open = await openHosts(host)
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('reads its lines and its body, and leaves its exit code and its log', async () => {
    const stream = Readable.from([Buffer.from('abc'), Buffer.from('def')])
    const more = { lines: [`it's $HOME`], body: { stream, bytes: 6 } }
    const begun = await link().startJob(job('reads', 'IFS= read -r a; echo "$a"; cat; echo bad >&2; exit 3', more))
    assert.not.equal(begun, { state: 'absent' })
    assert.equal(await ended('reads'), { state: 'exited', code: 3, log: `it's $HOME\nabcdefbad\n`, cancelled: false })
    assert.not.ok(existsSync(join(folder('reads'), 'input')), 'its input may hold secrets')
  })

  t('runs once, however often and by however many it is started', async () => {
    const once = waits('once', 'echo done')
    const states = await Promise.all(Array.from({ length: 6 }, () => link().startJob(once)))
    for (const { state } of states) assert.is(state, 'running')
    letGo('once')
    assert.is((await ended('once')).log, 'done\n')
    assert.is((await link().startJob(once)).state, 'exited')
    assert.is(starts('once'), 1)
  })

  t('goes on when the line is cut and when we are not there any more', async () => {
    assert.is((await link().startJob(waits('survives', 'echo here'))).state, 'running')
    await host.cutSsh()
    await open.hosts.close()
    const again = await openHosts(host, { database: open.database })
    try {
      const state = await again.hosts.link(HOST_NAME).jobState('survives')
      assert.is(state.state, 'running')
      letGo('survives')
      const over = await eventually('its end', async () => {
        const now = await again.hosts.link(HOST_NAME).jobState('survives')
        return now.state === 'exited' && now
      })
      assert.equal(over, { state: 'exited', code: 0, log: 'here\n', cancelled: false })
    } finally {
      await again.end()
      open = await openHosts(host, { database: open.database })
    }
    assert.is(starts('survives'), 1)
  })

  t('does not start on half of its input', async () => {
    const slow = Readable.from(
      (async function* () {
        yield Buffer.alloc(70_000, 'x')
        await sleep(60_000)
      })(),
    )
    const starting = link()
      .startJob(job('half', 'wc -c', { body: { stream: slow, bytes: 140_000 } }))
      .then(
        () => null,
        (error) => error,
      )
    await sleep(800)
    await host.cutSsh()
    assert.instance(await starting, HostUnreachable)
    assert.equal(await link().jobState('half'), { state: 'absent' })
    const whole = job('half', 'wc -c', { body: Buffer.alloc(140_000, 'x') })
    await link().startJob(whole)
    assert.is((await ended('half')).log, '140000\n')
  })

  t('ends with all its processes when it is cancelled, and stays cancelled', async () => {
    await link().startJob(job('cancelled', '(trap "" TERM; sleep 71.5) & sleep 72.5; echo never'))
    const state = await link().cancelJob('cancelled')
    assert.is(state.state, 'exited')
    assert.ok(state.state === 'exited' && state.cancelled)
    const look = { name: 'look', text: 'ps -o args -u "$(id -u)" | grep -c "[s]leep 7[12].5"; exit 0' }
    const { stdout } = await link().run({ script: look, deadlineMs: 10_000 })
    assert.is(stdout.toString().trim(), '0')
    assert.is((await link().startJob(job('cancelled', 'echo again'))).state, 'exited')
    assert.is(starts('cancelled'), 1)
  })

  t('never starts when it was cancelled before', async () => {
    assert.is((await link().cancelJob('never')).state, 'exited')
    const state = await link().startJob(job('never', 'echo started'))
    assert.ok(state.state === 'exited' && state.cancelled && state.code === 137)
    assert.is(starts('never'), 0)
  })

  t('is ended by the host at its limit', async () => {
    await link().startJob(job('endless', 'sleep 73.5', { limitMs: 1_000 }))
    const { code, cancelled } = await ended('endless')
    assert.is(code, 137)
    assert.not.ok(cancelled)
  })

  t('is not mistaken for another process that got its pid, nor for one of before a reboot', async () => {
    await link().startJob(job('lost', 'sleep 74.5'))
    const runner = join(folder('lost'), 'runner')
    const [pid, start, boot] = readFileSync(runner, 'utf8').trim().split(' ')
    writeFileSync(runner, `${pid} ${Number(start) - 1} ${boot}\n`)
    assert.is((await link().jobState('lost')).state, 'exited')

    await link().startJob(job('rebooted', 'sleep 74.5'))
    const other = join(folder('rebooted'), 'runner')
    writeFileSync(other, readFileSync(other, 'utf8').replace(/\S+\n$/, '00000000-0000-0000-0000-000000000000\n'))
    assert.is((await link().jobState('rebooted')).state, 'exited')
    assert.is((await link().startJob(job('rebooted', 'sleep 74.5'))).state, 'exited')
    assert.is(starts('rebooted'), 1)
  })

  t('is forgotten when it is dropped, and not while it runs', async () => {
    await link().startJob(waits('dropped'))
    await link().dropJob('dropped')
    assert.is((await link().jobState('dropped')).state, 'running')
    letGo('dropped')
    await ended('dropped')
    await link().dropJob('dropped')
    assert.is((await link().jobState('dropped')).state, 'absent')
    assert.not.ok(existsSync(folder('dropped')))
  })

  t('takes no order from a leader that was replaced', async () => {
    const installation = 'jobs'
    const older = await openHosts(host, { installation, epoch: 3 })
    const newer = await openHosts(host, { installation, epoch: 4 })
    const of = (one: TestHosts) => one.hosts.link(HOST_NAME)
    try {
      await of(newer).startJob(waits('fenced', 'echo mine'))
      for (const order of [
        () => of(older).startJob(job('other', 'echo no')),
        () => of(older).cancelJob('fenced'),
        () => of(older).dropJob('fenced'),
      ]) {
        const error = await order().then(
          () => null,
          (refusal) => refusal,
        )
        assert.instance(error, StaleEpoch)
      }
      assert.is((await of(older).jobState('fenced')).state, 'running')
      letGo('fenced')
      assert.is((await ended('fenced')).log, 'mine\n')
      assert.is(starts('other'), 0)
    } finally {
      await older.end()
      await newer.end()
    }
  })
})

spec('a job whose line is cut', (t) => {
  let host: AppHost
  t.before(async () => {
    host = await startAppHost()
  })
  t.after(() => host.end())

  /** Starts a job and looks until it has ended, as a controller does, whatever is cut on the way. */
  const drive = async ({ hosts }: TestHosts, id: string): Promise<HostJobState> => {
    const link = hosts.link(HOST_NAME)
    const body = Buffer.alloc(200_000, 'x')
    for (let tries = 0; tries < 40; tries++) {
      try {
        const state = await link.jobState(id)
        if (state.state === 'exited') return state
        if (state.state === 'absent') await link.startJob(job(id, 'wc -c; sleep 0.3', { body }))
      } catch (error) {
        if (!(error instanceof HostUnreachable)) throw error
      }
      await sleep(100)
    }
    throw new Error(`${id} did not end`)
  }

  type Cut = { when: 'before' | 'during' | 'after'; at: number }
  /** Cuts the line round the n-th command. */
  const cutting = ({ when, at }: Cut, counted: { commands: number }): AroundHost => {
    return async (_call, run) => {
      const mine = counted.commands++ === at
      if (mine && when === 'before') await host.cutSsh()
      const running = run()
      running.catch(() => {})
      if (mine && when === 'during') await sleep(25).then(host.cutSsh)
      const result = await running
      if (mine && when === 'after') await host.cutSsh()
      return result
    }
  }

  for (const when of ['before', 'during', 'after'] as const) {
    t(
      `${when} any command: it ran once, and its end is known`,
      async () => {
        let cuts = 0
        for (let at = 0; at < 4; at++) {
          const counted = { commands: 0 }
          const open = await openHosts(host, { around: cutting({ when, at }, counted) })
          const id = `cut-${when}-${at}`
          const state = await drive(open, id).finally(open.end)
          assert.ok(state.state === 'exited' && state.code === 0 && state.log === '200000\n', JSON.stringify(state))
          const started = readFileSync(join(host.account.home, 'started'), 'utf8').split('\n')
          assert.is(started.filter((line) => line === id).length, 1)
          // How often a job is looked at before it ends depends on the machine.
          if (counted.commands <= at) break
          cuts++
        }
        assert.ok(cuts >= 2, `only ${cuts} commands were cut`)
      },
      { timeoutMs: 120_000 },
    )
  }
})
