import type { NewFact } from '../../../controllers/store/ledger/facts.ts'
import type { OutboxRow, Settlement } from '../../../controllers/store/ledger/outbox.ts'
import { startPaymentWorker } from '../../../controllers/workers/payment-worker.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** The payment worker's judgement of time, which no processor can be made to wait for. */

const AT = new Date('2026-11-21T10:00:00Z')
const HOUR_MS = 3_600_000

/** One row goes through; gives what was asked, recorded and settled. */
const through = async (
  ask: 'refund' | 'open',
  { attempt, ageMs, made = null }: { attempt: number; ageMs: number; made?: { id: string } | null },
) => {
  const asked: string[] = []
  const recorded: Pick<NewFact, 'key' | 'kind'>[] = []
  const { promise: ended, resolve } = Promise.withResolvers<Settlement | null>()
  const payload = { ask, part: 'cn-1.1', session: 1, intent: 'pi_1', units: 500, account: 'demo' }
  const createdAt = new Date(AT.getTime() - ageMs).toISOString()
  const row = {
    id: '1',
    kind: 'Invoice',
    resource: 'inv-1',
    purpose: 'refund:cn-1.1',
    messageId: 'key',
    payload,
    attempt,
    createdAt,
  }
  const rows = [row as unknown as OutboxRow]
  const away = async (what: string): Promise<never> => {
    asked.push(what)
    resolve(null)
    throw new Error('away')
  }
  const paymentWorker = startPaymentWorker({
    outbox: {
      turn: async ([last]) => {
        if (last) resolve(last)
        return rows.splice(0) as never
      },
    },
    ledger: { appendFact: async (fact: NewFact) => void recorded.push({ key: fact.key, kind: fact.kind }) as never },
    processor: {
      livemode: false,
      open: () => away('open'),
      end: () => away('end'),
      refund: () => away('refund'),
      refunded: async () => {
        asked.push('look')
        return made && { ...made, state: 'succeeded', reason: null }
      },
    },
    now: () => AT,
    log: { warn: () => {} } as never,
    onAnswer: () => {},
  })
  const settled = await ended
  await paymentWorker.stop()
  return { asked, recorded, state: settled?.state ?? null }
}

spec('a refund that nobody answered', (t) => {
  // a row of an older copy of the database may say that it was never asked for
  for (const attempt of [1, 2]) {
    const old = { attempt, ageMs: 24 * HOUR_MS }
    t(
      `is looked for once its key may be forgotten, and not made again where it is there (attempt ${attempt})`,
      async () => {
        const { asked, recorded, state } = await through('refund', { ...old, made: { id: 're_1' } })
        assert.equal([asked, state], [['look'], 'sent'])
        assert.equal(recorded, [{ key: 'refund_report:re_1:succeeded', kind: 'refund_report' }])
      },
    )

    t(`is made where the processor has none (attempt ${attempt})`, async () =>
      assert.equal((await through('refund', old)).asked, ['look', 'refund']),
    )
  }

  const still: [string, 'refund' | 'open', { attempt: number; ageMs: number }][] = [
    ['while its key is remembered', 'refund', { attempt: 2, ageMs: 22 * HOUR_MS }],
    ['and a session always is: another one takes no money by itself', 'open', { attempt: 2, ageMs: 24 * HOUR_MS }],
  ]
  for (const [when, ask, row] of still) {
    t(`is asked for ${when}`, async () => assert.equal((await through(ask, row)).asked, [ask]))
  }
})
