import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type KindRef, type Kube, KubeError, makeKube, microTime } from '../../../controllers/kube/kube.ts'
import { type Lease, type LeaseOptions, runLease } from '../../../controllers/kube/lease.ts'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import { type FaultProxy, startFaultProxy, status } from '../../support/doubles/faultproxy.ts'
import { makeSpace, until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { sharedKubeconfig } from '../../support/stage/stage.ts'

const LEASE: KindRef = { kind: 'Lease', plural: 'leases', group: 'coordination.k8s.io' }
type LeaseObject = {
  spec: { holderIdentity?: string; renewTime?: string; leaseTransitions?: number; leaseDurationSeconds?: number }
}

/** Short figures in client-go's proportion. */
const SHORT = { leaseMs: 2_000, renewMs: 1_300, retryMs: 200 }
/** A lease that outlasts every wait of these tests: what happens before its end does not happen by its end. */
const LONG = { leaseMs: 120_000, renewMs: 80_000, retryMs: 200 }
/** It gives up early and keeps its lease for long: between the two a busy machine has its time. */
const EARLY = { leaseMs: 60_000, renewMs: 1_300, retryMs: 200 }

spec('lease', (t) => {
  let kube: Kube
  let space: string
  const ends: (() => Promise<unknown>)[] = []

  t.before(async () => {
    kube = makeKube({ kubeconfig: sharedKubeconfig() })
  })
  t.before.each(async () => {
    space = await makeSpace(kube)
  })
  t.after.each(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  t.after(() => kube.close())

  type Contender = { lease: Lease; led: () => number; lost: () => number; signal: () => AbortSignal | undefined }
  const contend = (identity: string, options: Partial<LeaseOptions> = {}): Contender => {
    let led = 0
    let lost = 0
    let signal: AbortSignal | undefined
    const onLead = async (given: AbortSignal) => {
      led += 1
      signal = given
    }
    const onLost = () => {
      lost += 1
    }
    const lease = runLease({ kube, namespace: space, name: 'l', identity, onLead, onLost, ...SHORT, ...options })
    ends.push(() => lease.stop())
    return { lease, led: () => led, lost: () => lost, signal: () => signal }
  }
  const read = () => kube.get<LeaseObject>(LEASE, { namespace: space, name: 'l' })
  const proxied = async (): Promise<{ proxy: FaultProxy; through: Kube }> => {
    const proxy = await startFaultProxy(sharedKubeconfig())
    const through = makeKube({ kubeconfig: proxy.kubeconfig })
    ends.unshift(async () => {
      await through.close()
      await proxy.close()
    })
    return { proxy, through }
  }

  t('of two one leads; a release hands over at once', async () => {
    const first = contend('first', LONG)
    await until('the first leads', () => first.led() === 1)
    const second = contend('second', LONG)
    await sleep(600)
    assert.is(second.led(), 0)
    assert.is((await read()).spec.holderIdentity, 'first')
    await first.lease.stop()
    await until('the second leads', () => second.led() === 1)
    assert.is(first.lost(), 0)
    assert.ok(first.signal()?.aborted)
    assert.not.ok(first.lease.isLeader())
    assert.is((await read()).spec.leaseTransitions, 1)
  })

  t('stamps have six digits, which the API server insists on', async () => {
    const one = contend('one')
    await until('it leads', () => one.led() === 1)
    const before = (await read()).spec.renewTime
    assert.match(before ?? '', /\.\d{6}Z$/)
    await until('it renews', async () => (await read()).spec.renewTime !== before)
    assert.is(microTime(new Date(5)), '1970-01-01T00:00:00.005000Z')
    const three = kube.patchSpec(
      LEASE,
      { namespace: space, name: 'l' },
      { spec: { renewTime: '2026-01-01T00:00:00.123Z' } },
    )
    const error = await three.catch((thrown: unknown) => thrown)
    assert.instance(error, KubeError)
    assert.match((error as KubeError).detail, 'parsing time')
  })

  t('a leader that died is followed after the lease, not before', async () => {
    await kube.create(LEASE, { metadata: { name: 'l', namespace: space }, spec: dead('gone', 2) })
    const startedAt = performance.now()
    const next = contend('next')
    await until('the next leads', () => next.led() === 1)
    const waitedMs = performance.now() - startedAt
    assert.ok(waitedMs >= 1_950, `${waitedMs} ms`)
  })

  t('an expired stamp of a wrong clock takes no lease that is being renewed', async () => {
    await kube.create(LEASE, { metadata: { name: 'l', namespace: space }, spec: dead('slow-clock', 2) })
    let clockMs = 0
    let looks = 0
    const get: Kube['get'] = async (...args) => {
      const held = await kube.get(...args)
      looks += 1
      return held as never
    }
    const other = contend('other', { kube: { ...kube, get }, clock: () => clockMs, ...LONG })
    // the second look from now on began after now
    const looked = (from = looks) => until('it has looked', () => looks > from + 1)
    for (let renewal = 1; renewal <= 6; renewal += 1) {
      const renewTime = `2001-01-01T00:00:0${renewal}.000000Z`
      await kube.patchSpec(LEASE, { namespace: space, name: 'l' }, { spec: { renewTime } })
      await looked()
      clockMs += 1_500
      await looked()
    }
    assert.is(other.led(), 0)
    clockMs += 500
    await until('it leads once nobody renews', () => other.led() === 1)
  })

  t('a leader that cannot renew steps down before others may take over', async () => {
    const { proxy, through } = await proxied()
    const cut = contend('cut', { kube: through, ...EARLY })
    await until('it leads', () => cut.led() === 1)
    proxy.answer(() => true, status(500, 'InternalError'), 10_000)
    await until('it has lost', () => cut.lost() === 1, EARLY.leaseMs)
    assert.not.ok(cut.lease.isLeader())
    assert.ok(cut.signal()?.aborted)
  })

  t('a renewal that hangs is not waited for', async () => {
    let hangs = false
    const patchSpec: Kube['patchSpec'] = (...args) => (hangs ? new Promise(() => {}) : kube.patchSpec(...args))
    let signal: AbortSignal | undefined
    let lost = 0
    const lease = runLease({
      kube: { ...kube, patchSpec },
      namespace: space,
      name: 'l',
      identity: 'hung',
      ...EARLY,
      onLead: async (given) => {
        signal = given
      },
      onLost: () => {
        lost += 1
      },
    })
    await until('it leads', () => lease.isLeader())
    hangs = true
    await until('it has lost', () => lost === 1, EARLY.leaseMs)
    assert.ok(signal?.aborted)
    // Not stopped: its own loop hangs with the call.
  })

  t('busy servers do not cost the lease', async () => {
    const { proxy, through } = await proxied()
    const calm = contend('calm', { kube: through, ...LONG })
    await until('it leads', () => calm.led() === 1)
    for (let n = 0; n < 3; n += 1) {
      proxy.answer(({ method }) => method === 'PATCH', { status: 429, headers: { 'retry-after': '0' } }, 2)
      await sleep(500)
    }
    assert.is(calm.lost(), 0)
    assert.ok(calm.lease.isLeader())
  })

  t('a lease that a person gave to somebody else is lost at once', async () => {
    const robbed = contend('robbed', LONG)
    await until('it leads', () => robbed.led() === 1)
    await kube.patchSpec(LEASE, { namespace: space, name: 'l' }, { spec: { holderIdentity: 'human' } })
    await until('it has lost', () => robbed.lost() === 1)
    assert.is((await read()).spec.holderIdentity, 'human')
  })

  t('a start that fails gives the lease back', async () => {
    let tries = 0
    const broken = contend('broken', {
      ...LONG,
      onLead: async () => {
        tries += 1
        throw new Error('no database')
      },
    })
    await until('it has tried', () => tries >= 1)
    const healthy = contend('healthy', LONG)
    await until('the other leads', () => healthy.led() === 1)
    assert.is(broken.lost(), 0)
  })

  t('the gauge says who leads', async () => {
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    const one = contend('one', { metrics, ...LONG })
    await until('it leads', () => one.led() === 1)
    assert.match((await metrics.render(undefined)).body, 'leader_election_master_status{name="l"} 1')
    await one.lease.stop()
    assert.match((await metrics.render(undefined)).body, 'leader_election_master_status{name="l"} 0')
  })

  t('a leader that slept through its lease knows when it wakes, and another leads by then', async () => {
    const sleeper = spawnContender(space, 'sleeper')
    ends.push(async () => void sleeper.process.kill('SIGKILL'))
    await until('it leads', () => sleeper.said.includes('leading'))
    const other = contend('other', LONG)
    sleeper.process.kill('SIGSTOP')
    await until('the other leads', () => other.led() === 1)
    sleeper.process.kill('SIGCONT')
    await until('the sleeper ends', () => sleeper.process.exitCode !== null)
    assert.equal(sleeper.said, ['leading', 'lost false'])
    assert.is(other.lost(), 0)
    assert.is((await read()).spec.holderIdentity, 'other')
  })

  t('a leader whose loop stood still for longer than the lease leads on, when nobody has taken it', async () => {
    const blocked = contend('blocked')
    await until('it leads', () => blocked.led() === 1)
    const before = (await read()).spec.leaseTransitions
    const end = performance.now() + 2 * SHORT.leaseMs
    while (performance.now() < end);
    const { renewTime } = (await read()).spec
    await until('it renews', async () => (await read()).spec.renewTime !== renewTime)
    assert.equal([blocked.led(), blocked.lost(), (await read()).spec.leaseTransitions], [1, 0, before])
    assert.not.ok(blocked.signal()?.aborted)
  })

  t('where nobody could reach the server the one who led is first, though its lease has run out', async () => {
    const [near, far] = [await proxied(), await proxied()]
    let looks = 0
    const get: Kube['get'] = async (...args) => {
      const held = await near.through.get(...args)
      looks += 1
      return held as never
    }
    const first = contend('first', { kube: far.through })
    await until('the first leads', () => first.led() === 1)
    const second = contend('second', { kube: { ...near.through, get }, retryMs: 3_000 })
    await until('the second stands by', () => looks > 0)
    const away = { first: true, second: true }
    far.proxy.answer(() => away.first, status(503, 'ServiceUnavailable'), 100_000)
    near.proxy.answer(() => away.second, status(503, 'ServiceUnavailable'), 100_000)
    await until('the first has lost it', () => first.lost() === 1)
    await sleep(SHORT.leaseMs + 3_000)
    const before = looks
    away.second = false
    await until('the second looks again', () => looks > before)
    away.first = false
    await until('somebody leads', () => first.led() + second.led() === 2)
    assert.equal([first.led(), second.led()], [2, 0])
  })

  t('a killed process is followed on its host without a wait for its lease; a living one is not', async () => {
    const victim = spawnContender(space, 'host')
    ends.push(async () => void victim.process.kill('SIGKILL'))
    await until('it leads', () => victim.said.includes('leading'))
    // an end of its own lease that no test waits for
    await kube.patchSpec(LEASE, { namespace: space, name: 'l' }, { spec: { leaseDurationSeconds: 3_600 } })
    const next = spawnContender(space, 'host')
    ends.push(async () => void next.process.kill('SIGKILL'))
    await sleep(2_000)
    assert.equal(next.said, [])
    victim.process.kill('SIGKILL')
    await until('the next leads', () => next.said.includes('leading'))
    assert.not.ok(victim.said.some((line) => line.startsWith('lost')))
  })

  t('SIGTERM releases it', async () => {
    const leaver = spawnContender(space, 'leaver')
    await until('it leads', () => leaver.said.includes('leading'))
    leaver.process.kill('SIGTERM')
    await until('it ends', () => leaver.process.exitCode !== null)
    assert.is(leaver.process.exitCode, 0)
    assert.is((await read()).spec.holderIdentity, undefined)
  })
})

const dead = (holderIdentity: string, leaseDurationSeconds: number) => ({
  holderIdentity,
  leaseDurationSeconds,
  acquireTime: microTime(new Date(0)),
  renewTime: microTime(new Date(0)),
  leaseTransitions: 0,
})

const spawnContender = (space: string, identity: string): { process: ChildProcess; said: string[] } => {
  const script = join(import.meta.dirname, '..', '..', 'support', 'crash', 'contender.ts')
  const child = spawn(process.execPath, [script, sharedKubeconfig(), space, 'l', identity], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  createInterface(child.stdout).on('line', (line) => said.push(line))
  return { process: child, said }
}
