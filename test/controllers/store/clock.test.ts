/** The clock of a development installation, moved under a process that leads and one that stands by. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DevClock, openDevClock } from '../../../controllers/store/clock.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const DAY_MS = 86_400_000
const WITHIN_MS = 20_000

spec('a clock that is moved', (t) => {
  let database: Database
  let pg: Pg
  const clocks: DevClock[] = []
  const open = async (given: Partial<Parameters<typeof openDevClock>[0]> = {}) => {
    const clock = await openDevClock({ pg, ...given })
    clocks.push(clock)
    return clock
  }
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
  })
  t.after.each(async () => {
    for (const clock of clocks.splice(0)) await clock.close()
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('has moved when who leads has looked at what fell due, whatever one says who stands by', async () => {
    let looked = 0
    const asker = await open()
    await open({ onMove: async () => false })
    await open({
      onMove: async () => {
        await sleep(500)
        looked += 1
        return true
      },
    })
    assert.is(await asker.advance(DAY_MS, WITHIN_MS), true)
    assert.is(looked, 1)
  })

  t('is dealt with by who comes to lead, and why it was not before is said', async () => {
    const failures: unknown[] = []
    let leads = false
    const asker = await open()
    const other = await open({
      onMove: async () => {
        if (!leads) throw new Error('away')
        return true
      },
      onFailed: (error) => void failures.push(error),
    })
    const moved = asker.advance(DAY_MS, WITHIN_MS)
    await eventually('it to be said', async () => failures.length > 0)
    leads = true
    other.dealAgain()
    assert.is(await moved, true)
  })
})
