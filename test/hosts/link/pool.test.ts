import { setTimeout as sleep } from 'node:timers/promises'
import { makePool, type Pool } from '../../../controllers/io/hosts/pool.ts'
import { ChannelLost, type Connection, SshRefused } from '../../../controllers/io/hosts/ssh.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What a real server cannot be made to do at a chosen moment; links over real ones are in link.test.ts. */
const makeLine = () => {
  const listeners = new Set<() => void>()
  let open = true
  const end = () => {
    if (!open) return
    open = false
    for (const tell of listeners) tell()
  }
  const connection: Connection = {
    exec: () => Promise.reject(new Error('not asked for')),
    forward: () => Promise.reject(new Error('not asked for')),
    isOpen: () => open,
    onEnd: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    end,
  }
  return { connection, end, isOpen: () => open }
}
type Line = ReturnType<typeof makeLine>

const signal = new AbortController().signal

/** Takes a channel until `give` is called. */
const hold = (pool: Pool, lane: 'work' | 'status' = 'work') => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let taken: Connection | undefined
  const done = pool.use(lane, signal, async (connection) => {
    taken = connection
    await promise
  })
  done.catch(() => {})
  return { give: () => resolve(), done, taken: () => taken }
}

spec('the pool of connections to a host', (t) => {
  let lines: Line[]
  let refuse: SshRefused | null
  const pool = (more: { channelsMax?: number; idleMs?: number; nowMs?: () => number } = {}) =>
    makePool({
      channelsMax: 4,
      ...more,
      connect: async () => {
        if (refuse) throw refuse
        const line = makeLine()
        lines.push(line)
        return line.connection
      },
    })

  t.before.each(() => {
    lines = []
    refuse = null
  })

  t('opens one connection for a few, a second for more, and never a third', async () => {
    const one = pool()
    const few = [hold(one), hold(one), hold(one)]
    await sleep(1)
    assert.is(lines.length, 1)
    const more = [hold(one), hold(one), hold(one), hold(one)]
    await sleep(1)
    assert.is(lines.length, 2)
    assert.equal(one.stats(), { connections: 2, channels: 6, waiting: 1 })
    for (const held of [...few, ...more]) held.give()
    await Promise.all([...few, ...more].map(({ done }) => done))
    assert.is(lines.length, 2)
    assert.is(one.stats().channels, 0)
  })

  t('keeps one channel of each connection for looking', async () => {
    const one = pool()
    const work = Array.from({ length: 8 }, () => hold(one))
    await sleep(1)
    assert.is(one.stats().waiting, 2)
    const looks = [hold(one, 'status'), hold(one, 'status')]
    await sleep(1)
    for (const look of looks) assert.ok(look.taken())
    assert.is(one.stats().waiting, 2)
    for (const held of [...looks, ...work]) held.give()
    await Promise.all(work.map(({ done }) => done))
  })

  t('tries once more what was lost before it started', async () => {
    const one = pool()
    let tries = 0
    const result = await one.use('work', signal, async () => {
      tries += 1
      if (tries > 1) return 'done'
      lines[0]?.end()
      throw new ChannelLost('unstarted', 'x')
    })
    assert.equal([result, tries, lines.length], ['done', 2, 2])
  })

  t('does not repeat what may have run', async () => {
    const one = pool()
    let tries = 0
    const error = await one
      .use('work', signal, async () => {
        tries += 1
        throw new ChannelLost('unknown', 'x')
      })
      .catch((caught) => caught)
    assert.instance(error, ChannelLost)
    assert.is(tries, 1)
  })

  t('asks no more of a server than it turned out to give', async () => {
    const one = pool()
    const held = [hold(one), hold(one)]
    await sleep(1)
    let tries = 0
    const third = one.use('work', signal, async () => {
      tries += 1
      if (tries === 1) throw new ChannelLost('unstarted', 'too many sessions')
    })
    await sleep(1)
    assert.is(lines.length, 2, 'the second connection takes it')
    await third
    for (const one of held) one.give()
  })

  t('drains: what runs goes on, nothing new is lent, and each connection ends with its last channel', async () => {
    const one = pool()
    const held = hold(one)
    await sleep(1)
    let drained = false
    const draining = one.drain().then(() => {
      drained = true
    })
    const late = await one.use('work', signal, async () => {}).catch((error) => error)
    assert.instance(late, SshRefused)
    await sleep(5)
    assert.equal([drained, lines[0]?.isOpen()], [false, true])
    held.give()
    await draining
    assert.is(lines[0]?.isOpen(), false)
  })

  t('tells all who wait when the host refuses, and asks it again for the next', async () => {
    const one = pool()
    refuse = new SshRefused('unreachable', 'away')
    const waits = [1, 2, 3].map(() => one.use('work', signal, async () => {}).catch((error) => error))
    for (const error of await Promise.all(waits)) assert.is(error, refuse)
    refuse = null
    await one.use('work', signal, async () => {})
  })

  t('serves over one connection while a second is refused, and does not ask for it all the time', async () => {
    let asked = 0
    let now = 0
    const one = makePool({
      channelsMax: 2,
      nowMs: () => now,
      connect: async () => {
        asked += 1
        if (asked > 1) throw new SshRefused('unreachable', 'MaxStartups')
        return makeLine().connection
      },
    })
    const held = [hold(one), hold(one), hold(one)]
    await sleep(1)
    assert.is(asked, 2)
    held[0]?.give()
    await sleep(1)
    assert.ok(held[1]?.taken())
    assert.is(asked, 2)
    now = 20_000
    held[1]?.give()
    await sleep(1)
    assert.ok(held[2]?.taken())
    held[2]?.give()
    await held[2]?.done
  })

  t('replaces a connection that broke, and closes one that nobody uses', async () => {
    const one = pool({ idleMs: 5 })
    await one.use('work', signal, async () => {})
    lines[0]?.end()
    await one.use('work', signal, async () => {})
    assert.is(lines.length, 2)
    await sleep(30)
    assert.is(lines[1]?.isOpen(), false)
    assert.is(one.stats().connections, 0)
  })

  t('forgets who gave up waiting', async () => {
    const one = pool({ channelsMax: 2 })
    const held = [hold(one), hold(one)]
    await sleep(1)
    const giveUp = new AbortController()
    const waits = one.use('work', giveUp.signal, async () => 'ran').catch((error) => error)
    giveUp.abort(new Error('enough'))
    assert.is((await waits).message, 'enough')
    assert.is(one.stats().waiting, 0)
    for (const one of held) one.give()
  })
})
