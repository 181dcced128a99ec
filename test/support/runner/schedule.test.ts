import { setImmediate as turn } from 'node:timers/promises'
import { runScheduled, type Scheduled } from './schedule.ts'
import { assert, spec } from './spec.ts'

type Named = Scheduled & { name: string }

/** Runs until told: `end` ends one that has begun. */
const scheduling = (all: readonly Named[], places: Parameters<typeof runScheduled>[1]['places']) => {
  const abort = new AbortController()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  let isDone = false
  const done = runScheduled(all, { places, signal: abort.signal }, ({ name }) => {
    begun.push(name)
    return new Promise<void>((resolve) => ends.set(name, resolve))
  }).then(() => {
    isDone = true
  })
  const end = async (...names: string[]) => {
    for (const name of names) ends.get(name)?.()
    await turn()
  }
  return { begun, end, abort, done, isDone: () => isDone }
}

const files = (lane: string, ...names: string[]): Named[] => names.map((name) => ({ name, lane }))

spec('test files side by side', (t) => {
  t('share the places of their lane, and those behind a full lane let others begin', async () => {
    const all = [...files('hosts', 'h1', 'h2', 'h3'), ...files('api', 'a1', 'a2', 'a3', 'a4')]
    const { begun, end, done } = scheduling(all, { total: 4, lanes: { hosts: 2, api: 3 } })
    assert.equal(begun, ['h1', 'h2', 'a1', 'a2'])
    await end('a1')
    assert.equal(begun.slice(4), ['a3'])
    await end('h2', 'h1')
    assert.equal(begun.slice(5), ['h3', 'a4'])
    await end('h3', 'a2', 'a3', 'a4')
    await done
  })

  t('leave places empty rather than pass what their lane has', async () => {
    const { begun, end, done, isDone } = scheduling(files('hosts', 'h1', 'h2'), { total: 4, lanes: { hosts: 1 } })
    assert.equal(begun, ['h1'])
    await end('h1')
    assert.is(isDone(), false)
    await end('h2')
    await done
  })

  t('begin no more once they are interrupted; what has begun is waited for', async () => {
    const { begun, end, abort, done, isDone } = scheduling(files('api', 'a1', 'a2', 'a3'), { total: 2 })
    abort.abort()
    await end('a1')
    assert.equal([begun, isDone()], [['a1', 'a2'], false])
    await end('a2')
    await done
  })

  t('begin no more once it is late; what has begun is waited for, and the others are named', async () => {
    let isLate = false
    const ends = new Map<string, () => void>()
    const bounds = { places: { total: 1 }, signal: new AbortController().signal, isLate: () => isLate }
    const left = runScheduled(files('api', 'a1', 'a2', 'a3'), bounds, ({ name }) => {
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
    ends.get('a1')?.()
    await turn()
    isLate = true
    ends.get('a2')?.()
    assert.equal(
      (await left).map(({ name }) => name),
      ['a3'],
    )
  })

  t('are done at once where there are none', () => scheduling([], { total: 2 }).done)
})
