/** Waking resources: shared by whoever comes while one is under way. */
import { setTimeout as sleep } from 'node:timers/promises'
import { makeWake } from '../../../api/command/wake.ts'
import { KubeError } from '../../../controllers/base/errors.ts'
import { RECONCILE_REQUESTED_AT } from '../../../crds/kernel/object.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const THING = { kind: 'Thing', plural: 'things' }
const now = () => new Date('2026-11-21T10:00:00Z')

/** An API server that answers when it is told to. */
const startSlow = () => {
  const asked: { name: string; value: string; answer(error?: Error): void }[] = []
  const patchMeta = (_kind: unknown, { name }: { name: string }, patch: { annotations?: Record<string, unknown> }) => {
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    const value = String(patch.annotations?.[RECONCILE_REQUESTED_AT])
    asked.push({ name, value, answer: (error) => (error ? reject(error) : resolve(undefined as never)) })
    return promise
  }
  return { asked, patchMeta, wake: makeWake({ kube: { patchMeta } as never, namespace: 'default', now }) }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

spec('waking a resource', (t) => {
  t('asks once for the first, and once more for all who came while that was under way', async () => {
    const { asked, wake } = startSlow()
    const all = Array.from({ length: 64 }, () => wake(THING as never, 'one'))
    assert.is(asked.length, 1)
    asked[0]?.answer()
    await all[0]
    await settle()
    assert.is(asked.length, 2)
    let done = false
    void all[63]?.then(() => {
      done = true
    })
    await settle()
    assert.not(done, 'who came later waits for the look that began later')
    asked[1]?.answer()
    await Promise.all(all)
    assert.is(asked.length, 2)
    assert.is(new Set(asked.map(({ value }) => value)).size, 2)
  })

  t('lets resources pass one another', async () => {
    const { asked, wake } = startSlow()
    const [one, other] = [wake(THING as never, 'one'), wake(THING as never, 'other')]
    assert.equal(
      asked.map(({ name }) => name),
      ['one', 'other'],
    )
    for (const { answer } of asked) answer()
    await Promise.all([one, other])
  })

  t('tells those who shared a failed one, and nobody else', async () => {
    const { asked, wake } = startSlow()
    const first = wake(THING as never, 'one')
    const [second, third] = [wake(THING as never, 'one'), wake(THING as never, 'one')]
    asked[0]?.answer(new Error('away'))
    await assert.rejects(first, /away/)
    await settle()
    asked[1]?.answer()
    await Promise.all([second, third])
    const fourth = wake(THING as never, 'one')
    asked[2]?.answer(new Error('gone'))
    await assert.rejects(fourth, /gone/)
  })

  const ringing = (ringAfterMs: number) => {
    const slow = startSlow()
    const rung: string[] = []
    const ring = async (kind: string, name: string) => void rung.push(`${kind}/${name}`)
    const kube = { patchMeta: slow.patchMeta } as never
    return { ...slow, rung, wake: makeWake({ kube, namespace: 'default', now, ring, ringAfterMs }) }
  }

  t('goes by way of the ledger where the API server takes long, or is away, and not where it answers', async () => {
    const { asked, rung, wake } = ringing(20)
    const late = wake(THING as never, 'late')
    await sleep(100)
    assert.equal(rung, ['Thing/late'])
    asked[0]?.answer()
    await late
    const lost = wake(THING as never, 'lost')
    asked[1]?.answer(new KubeError('patch x', { status: 0, reason: 'ConnectionFailed' }))
    await assert.rejects(lost)
    const gone = wake(THING as never, 'gone')
    asked[2]?.answer(new KubeError('patch x', { status: 404, reason: 'NotFound' }))
    await assert.rejects(gone)
    const heard = wake(THING as never, 'heard')
    asked[3]?.answer()
    await heard
    await sleep(50)
    assert.equal(rung, ['Thing/late', 'Thing/lost'])
  })
})
