import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  openEvents,
  openUpload,
  openWebSocket,
  received,
  type Stream,
  streaming,
} from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, project, startAppStage } from '../../../support/stage/apps.ts'
import type { Json, Reply } from '../../../support/stage/invoicing.ts'

/**
 * Visitors with 50 requests a second, while releases come and go and the engine is restarted: none of the requests fails, and
 * no WebSocket, event stream or upload is cut.
 */

const RATE_PER_SECOND = 50
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const COUNTS = isFull
  ? { deploys: 30, rollbacks: 15, envs: 15, restarts: 5 }
  : { deploys: 4, rollbacks: 1, envs: 1, restarts: 1 }

/** How long what was opened before a restart of the engine goes on. */
const HELD_MS = isFull ? 30_000 : 12_000

spec('a client that hammers', (t) => {
  let stage: AppStage
  let app: Json
  t.before(async () => {
    stage = await startAppStage({ docker: 'own' })
    app = await stage.app('busy')
    succeeded(await stage.deploy(app.id, project('first')))
    succeeded(await stage.deploy((await stage.app('unbroken')).id, streaming('v1')))
  })
  t.after(() => stage.end())

  const succeeded = ({ json, text }: Reply): void => assert.is(json.operation.state, 'succeeded', text)

  /** The restart, with all three open before it. @returns a wait until they have ended as they were meant to */
  const restartUnder = async (): Promise<() => Promise<void>> => {
    const begunMs = performance.now()
    const streams: Stream[] = [
      await openWebSocket(stage.host, 'unbroken'),
      await openEvents(stage.host, 'unbroken'),
      openUpload(stage.host, 'unbroken'),
    ]
    await sleep(1_000) // the upload is under way
    await stage.host.restartDocker()
    return async () => {
      await sleep(Math.max(0, begunMs + HELD_MS - performance.now()))
      const cut = streams.map((stream) => [stream.what, stream.cut()])
      assert.equal(
        cut,
        streams.map(({ what }) => [what, null]),
      )
      const [, , upload] = await Promise.all(streams.map((stream) => stream.finish()))
      assert.is(upload, received('v1'))
    }
  }

  t(
    `sees no failure over ${COUNTS.deploys} deploys, ${COUNTS.rollbacks} rollbacks, ${COUNTS.envs} changes of the env, ${COUNTS.restarts} restarts of the engine`,
    async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 16 })
      const failures: string[] = []
      const seen = new Set<string>()
      let sent = 0
      let open = 0
      const visit = async () => {
        sent += 1
        open += 1
        const page = await stage.visit('busy', '/', { agent }).catch((error) => ({ status: 0, text: String(error) }))
        open -= 1
        if (page.status !== 200) failures.push(`${page.status} ${page.text.slice(0, 120)}`)
        else seen.add(page.text.trim())
      }
      const timer = setInterval(() => void visit(), 1_000 / RATE_PER_SECOND)
      try {
        for (let n = 1; n <= COUNTS.deploys; n++) {
          const held = n <= COUNTS.restarts ? await restartUnder() : async () => {}
          succeeded(await stage.deploy(app.id, project(`v${n}`)))
          if (n <= COUNTS.envs) {
            succeeded(await stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { GREETING: `hello${n}` } }))
          }
          if (n <= COUNTS.rollbacks) {
            succeeded(await stage.operate('POST', `/api/apps/${app.id}/rollback`, { release: 1, env: 'current' }))
          }
          await held()
        }
      } finally {
        clearInterval(timer)
        while (open > 0) await sleep(50)
        agent.destroy()
      }
      console.log(`  ${sent} requests, ${failures.length} failed, ${seen.size} different answers`)
      assert.equal(failures, [])
      assert.ok(seen.size >= COUNTS.deploys, `${seen.size} releases were seen`)
    },
    // In full it is 60 operations and five restarts, beside whatever else the machine does.
    { timeoutMs: isFull ? 3_000_000 : 900_000 },
  )
})
