import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { root } from '../../hack/lib/state.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { type Platform, startPlatform } from '../support/stage/invoicing.ts'

/** What a process shows of a loop that stood still, and whether the alert of the chart would see it. */

type Alert = { alert: string; expr: string; for: string }

/** As Prometheus asks by default, and a block that everybody would feel but no percentile of the whole time. */
const SCRAPE_MS = 15_000
const BLOCK_MS = 2_000
const ASKED_MS = 1_000

const alerts: Alert[] = parse(
  readFileSync(join(root, 'charts', 'bottega', 'files', 'alerts.yaml'), 'utf8').replaceAll('NAMESPACE', 'here'),
)
const blocked = alerts.find(({ alert }) => alert === 'BottegaLoopBlocked')
const [, metric = '', minutes = '', threshold = ''] =
  /(nodejs_\w+)\{namespace="here"\}(?:\[(\d+)m\])?\)* > ([\d.]+)$/.exec(blocked?.expr ?? '') ?? []

/** The value since it was asked for the last time. */
const valueAt = async (url: string): Promise<number> => {
  const text = await (await fetch(url)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${metric} `))
  assert.ok(line, `${url} shows ${metric}`)
  return Number(line?.split(' ')[1])
}

spec('a blocked loop', (t) => {
  let platform: Platform
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('of two seconds between two looks is above what the alert waits for, in both processes', async () => {
    for (const name of ['api', 'controllers'] as const) {
      const pid = platform[name].pid()
      assert.ok(pid)
      await valueAt(platform.metricsUrls[name])
      await sleep(ASKED_MS) // what was asked begins to count anew with the next turn of the loop
      // what the loop sees of it is what it sees of a handler that does not return
      process.kill(pid, 'SIGSTOP')
      await sleep(BLOCK_MS).finally(() => process.kill(pid, 'SIGCONT'))
      await sleep(SCRAPE_MS - BLOCK_MS - ASKED_MS)
      const seen = await valueAt(platform.metricsUrls[name])
      assert.ok(seen > Number(threshold), `${name}: ${metric} is ${seen}, and the alert waits for ${threshold}`)
      assert.ok(seen > (BLOCK_MS / 1000) * 0.95, `${name}: ${metric} is ${seen}`)
    }
  })

  t('must come again to alert: one alone, as at a start, has left the window by then', () => {
    assert.ok(Number(minutes) * 60_000 >= 2 * SCRAPE_MS, `looks back ${minutes} minutes`)
    assert.ok(Number.parseInt(blocked?.for ?? '', 10) > Number(minutes), `for ${blocked?.for}`)
  })
})
