import type { OutboxRow, Settlement, TurnRequest } from '../../../controllers/store/ledger/outbox.ts'
import { DatabaseUnavailable } from '../../../controllers/store/pg/pg.ts'
import { FAULT_AFTER_MS, startOutboxWorker, type TakenRow } from '../../../controllers/workers/outbox-worker.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** The loop under mail and payments, over an outbox that can be away. */

const row = (id: number) => ({ id, kind: 'Invoice', resource: `inv-${id}`, attempt: 1 }) as OutboxRow as TakenRow

type Turn = { settled: number[]; limit: number }

/** Rows that wait, and what each turn of the worker asked and recorded. */
const makeQueue = (waiting: TakenRow[]) => {
  const turns: Turn[] = []
  const queue = { away: 0, turns, told: Promise.withResolvers<void>() }
  const turn = async (results: Settlement[], { limit }: TurnRequest): Promise<TakenRow[]> => {
    if (results.length > 0 && queue.away > 0) {
      queue.away -= 1
      throw new Error('away')
    }
    turns.push({ settled: results.map(({ id }) => id), limit })
    const taken = waiting.splice(0, limit)
    if (taken.length === 0) queue.told.resolve()
    return taken
  }
  const beAway = (times: number) => {
    queue.away = times
  }
  return { ...queue, outbox: { turn }, beAway }
}

const sent = ({ id, attempt }: TakenRow): Settlement => ({ id, attempt, state: 'sent' })
const silent = { warn: () => {} } as never
const AT = new Date('2026-11-23T10:00:00.000Z')
const given = { channel: 'mail', leaseMs: 1_000, lanes: 1, shareMs: 0, now: () => AT, log: silent }

spec('a worker over the outbox', (t) => {
  t('records how an attempt ended with the commit that takes the next', async () => {
    const { outbox, turns, told } = makeQueue([row(1), row(2)])
    const recorded: string[] = []
    const worker = startOutboxWorker({
      ...given,
      outbox,
      attempt: async (one) => sent(one),
      onRecorded: ({ kind, resource }, { state }) => void recorded.push(`${kind}/${resource} ${state}`),
    })
    await told.promise
    await worker.stop()
    assert.equal(
      turns.map(({ settled }) => settled),
      [[], [1], [2]],
    )
    assert.equal(recorded, ['Invoice/inv-1 sent', 'Invoice/inv-2 sent'])
  })

  t('keeps a record while the outbox is away, and brings it when it is woken', async () => {
    const { outbox, turns, told, beAway } = makeQueue([row(1)])
    beAway(1)
    const warned = Promise.withResolvers<void>()
    const worker = startOutboxWorker({
      ...given,
      outbox,
      attempt: async (one) => sent(one),
      onRecorded: () => {},
      log: { warn: () => warned.resolve() } as never,
    })
    await warned.promise
    worker.wake()
    await told.promise
    await worker.stop()
    assert.equal(
      turns.map(({ settled }) => settled),
      [[], [1]],
    )
  })

  t('leaves to its lease what was attempted while a part was away', async () => {
    const { outbox, turns, told } = makeQueue([row(1)])
    const attempt = () => Promise.reject(new DatabaseUnavailable('away'))
    const worker = startOutboxWorker({ ...given, outbox, attempt, onRecorded: () => {} })
    await told.promise
    await worker.stop()
    assert.equal(
      turns.flatMap(({ settled }) => settled),
      [],
    )
  })

  t('counts an exception as a try, goes on with the others, and sets the row aside in the end', async () => {
    const last = FAULT_AFTER_MS.length + 1
    const { outbox, told } = makeQueue([row(1), { ...row(2), attempt: last }, row(3)])
    const recorded: Settlement[] = []
    const worker = startOutboxWorker({
      ...given,
      outbox,
      attempt: async (one) => {
        if (one.id === 3) return sent(one)
        throw new TypeError('nothing can be made of it')
      },
      onRecorded: (_row, settlement) => void recorded.push(settlement),
    })
    await told.promise
    await worker.stop()
    const error = 'the attempt itself failed: TypeError'
    assert.equal(recorded, [
      { id: 1, attempt: 1, state: 'queued', error, dueAt: '2026-11-23T10:00:01.000Z' },
      { id: 2, attempt: last, state: 'quarantined', error },
      { id: 3, attempt: 1, state: 'sent' },
    ])
  })

  t('waits for what is under way when it is stopped, records it, and takes nothing more', async () => {
    const { outbox, turns } = makeQueue([row(1), row(2)])
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const worker = startOutboxWorker({
      ...given,
      outbox,
      attempt: async (one) => {
        begun.resolve()
        await end.promise
        return sent(one)
      },
      onRecorded: () => {},
    })
    await begun.promise
    const stopped = worker.stop()
    end.resolve()
    await stopped
    assert.equal(turns, [
      { settled: [], limit: 1 },
      { settled: [1], limit: 0 },
    ])
  })
})
