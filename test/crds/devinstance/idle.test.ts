/** The idle watcher of a dev instance, under sh; and with the reporter, over hours that a test says. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idleScript } from '../../../crds/devinstance/bootstrap/idle.ts'
import { reporterScript } from '../../../crds/devinstance/bootstrap/reporter.ts'
import { type Machine, madeMachine, type Service, startService } from '../../support/builders/machine.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const T0 = 1_795_000_000
const SCRIPT = idleScript()
/** A look starts some hundred programs, which takes a machine that has no time to spare half a minute. */
const PATIENT = { timeoutMs: 600_000 }

/** What a watcher may do to a machine. */
type Deed = 'warned' | 'stopped'

spec('the idle watcher', (t) => {
  let folder = ''
  let machine: Machine
  let count = 0
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-idle-'))
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  t.before.each(() => {
    count += 1
    machine = madeMachine(join(folder, String(count)))
  })

  const saw = (seen: { looked: number; active: number; risk?: number }) =>
    machine.put(
      '/run/bottega/idle',
      `looked ${T0 + seen.looked * 60}\nactive ${T0 + seen.active * 60}\nperson ${T0}\nrisk ${seen.risk ?? 0}\n`,
    )
  const policy = (idleMinutes: number, anyway = 0) =>
    machine.put('/var/lib/bottega/policy', `idleMinutes ${idleMinutes}\nstopWithUnpushedWork ${anyway}\n`)
  /** What it does in a minute. */
  const watch = async (minute: number): Promise<Deed[]> => {
    const before = [machine.calls('wall').length, machine.calls('systemctl').length]
    const { code, stderr } = await machine.run(SCRIPT, { now: T0 + minute * 60 })
    assert.equal([code, stderr], [0, ''])
    return [
      ...machine
        .calls('wall')
        .slice(before[0])
        .map((): Deed => 'warned'),
      ...machine
        .calls('systemctl')
        .slice(before[1])
        .map((): Deed => 'stopped'),
    ]
  }
  /** Minute by minute, while the reporter sees nothing: the minutes in which something was done. */
  const idling = async (from: number, to: number, risk = 0): Promise<[number, Deed][]> => {
    const done: [number, Deed][] = []
    for (let minute = from; minute <= to; minute += 1) {
      saw({ looked: minute, active: 0, risk })
      for (const deed of await watch(minute)) done.push([minute, deed])
    }
    return done
  }

  for (const minutes of [15, 30, 120]) {
    t(`warns five minutes and one minute before ${minutes} minutes are over, and stops then`, async () => {
      policy(minutes)
      assert.equal(await idling(minutes - 8, minutes), [
        [minutes - 5, 'warned'],
        [minutes - 1, 'warned'],
        [minutes, 'stopped'],
      ])
      assert.equal(machine.calls('systemctl'), ['poweroff'])
      assert.is(machine.read('/run/bottega-idle/stopping'), `idle for ${minutes} minutes\n`)
    })
  }
  t('goes by half an hour before it was told a policy', async () => {
    assert.equal((await idling(24, 30)).at(-1), [30, 'stopped'])
  })
  t('says in the warning how to keep the machine, to terminals and to who logs in', async () => {
    await idling(25, 29)
    const said = machine.calls('wall')
    assert.match(said[0] ?? '', /^Not used for 25 minutes: this machine stops in 6 minutes\. /)
    assert.match(said[1] ?? '', /^This machine stops within a minute\. /)
    for (const each of said) assert.match(each, 'touch /run/bottega/inhibit')
    assert.is(machine.read('/run/motd.d/bottega'), `${said[1]}\n`)
  })
  t('begins again when it is used after a warning', async () => {
    await idling(25, 29)
    saw({ looked: 30, active: 29 })
    assert.equal(await watch(30), [])
    assert.is(machine.read('/run/motd.d/bottega'), null)
    saw({ looked: 58, active: 29 })
    assert.equal(await watch(58), ['warned'])
  })
  t('gives both warnings, a minute apart, however late it comes', async () => {
    assert.equal(await idling(500, 503), [
      [500, 'warned'],
      [501, 'warned'],
      [502, 'stopped'],
      [503, 'stopped'],
    ])
    assert.match(machine.calls('wall')[0] ?? '', /^Not used for 500 minutes: this machine stops in 3 minutes/)
  })
  t('takes one step, though it is run twice', async () => {
    saw({ looked: 25, active: 0 })
    assert.equal(await watch(25), ['warned'])
    saw({ looked: 90, active: 0 })
    assert.equal([await watch(90), await watch(90)], [['warned'], []])
  })
  t('rests where nobody looked, or not for five minutes', async () => {
    assert.equal(await watch(600), [])
    saw({ looked: 594, active: 0 })
    assert.equal(await watch(600), [])
    machine.put('/run/bottega/idle', 'looked x\nactive $(touch /tmp/x)\n')
    assert.equal(await watch(600), [])
  })
  t('does not stop on work that is nowhere else, says so once, and goes on when that was pushed', async () => {
    assert.equal(await idling(28, 33, 3), [[30, 'warned']])
    assert.match(machine.calls('wall')[0] ?? '', '3 changes are here and nowhere else')
    assert.match(machine.read('/run/motd.d/bottega') ?? '', 'stays on and costs')
    assert.equal(await idling(34, 36), [
      [34, 'warned'],
      [35, 'warned'],
      [36, 'stopped'],
    ])
  })
  t('does stop on it where the policy says so', async () => {
    policy(30, 1)
    assert.equal((await idling(25, 30, 3)).at(-1), [30, 'stopped'])
  })
})

spec('the reporter and the idle watcher together', (t) => {
  let folder = ''
  let service: Service
  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-idle-'))
    service = await startService()
  })
  t.after(() => {
    service.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const machineOf = (name: string): Machine => {
    const machine = madeMachine(join(folder, name))
    machine.put('/etc/bottega/token', 'dbr_dev-october_secret\n')
    machine.put('/etc/bottega/url', `${service.url}\n`)
    service.policy = { idleMinutes: 15, autoscale: 'ask' }
    return machine
  }
  const reporter = reporterScript([])
  /** The minute, of those that are looked at, in which it stopped. */
  const stopOf = async (machine: Machine, minutes: readonly number[], each: (minute: number) => void) => {
    for (const minute of minutes) {
      each(minute)
      const now = T0 + minute * 60
      await machine.run(reporter, { now })
      await machine.run(SCRIPT, { now: now + 30 })
      if (machine.calls('systemctl').includes('poweroff')) return minute
    }
    return null
  }

  t(
    'an agent in a turn for an hour keeps it, and it stops after the turn',
    async () => {
      const machine = machineOf('turn')
      const each = (minute: number) => {
        const bytes = 5000 * Math.min(minute, 60)
        machine.agent('claude-code', 9, { cpuSeconds: 1, connections: { '203.0.113.9:443': bytes } })
      }
      assert.is(await stopOf(machine, [0, 1, 30, 59, 60, 70, 74, 75, 90], each), 75)
    },
    PATIENT,
  )
  t(
    'an editor left open with a session does not',
    async () => {
      const machine = machineOf('editor')
      machine.put('/proc/20/cmdline', 'sshd: dev@notty\0')
      machine.put('/proc/22/cmdline', '/home/dev/.vscode-server/bin/x/node\0')
      const each = (minute: number) => machine.put('/sys/fs/cgroup/user.slice/cpu.stat', `usage_usec ${minute * 3e6}\n`)
      assert.is(await stopOf(machine, [0, 1, 5, 10, 14, 15, 40], each), 15)
    },
    PATIENT,
  )
  t(
    'it stops by the policy that it was told last, though the service is away',
    async () => {
      const machine = machineOf('away')
      const each = (minute: number) => {
        service.status = minute > 2 ? 503 : 200
      }
      assert.is(await stopOf(machine, [0, 1, 5, 10, 14, 15, 40], each), 15)
    },
    PATIENT,
  )
})
