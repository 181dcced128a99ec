import { setTimeout as sleep } from 'node:timers/promises'
import type { AroundHost } from '../../../controllers/io/hosts/link.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { applySiteCast, freshHost, type Hands, handsOf } from '../../support/crash/stories/sitestory.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { visitor } from '../../support/stage/publishing.ts'
import { type Database, makeDatabase, makeNamespace, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/** The line to the host breaks at every step of a publish: it ends in what was wanted, and nothing is applied twice. */

/** How soon after a command was handed over the line breaks. */
const CUTS_MS = [0, 30]
/** Looks at what is live come by themselves as well; they are cut by their TLS. */
const HOST_CALL = /^(ssh site-(?!look)|admin |tls)/

spec('a line that breaks during a publish', (t) => {
  let host: AppHost
  let namespace: Namespace
  let database: Database
  let process: OneProcess
  let hands: Hands
  let catcher: { port: number; stop(): Promise<void> }
  let cut: { at: number; afterMs: number } | null = null
  let seen: string[] = []

  const around: AroundHost = async ({ name }, run) => {
    if (!HOST_CALL.test(name)) return run()
    const isCut = cut !== null && seen.length === cut.at
    const afterMs = cut?.afterMs ?? 0
    seen.push(name)
    if (!isCut) return run()
    const running = run()
    running.catch(() => {})
    await sleep(afterMs)
    await host.cutSsh()
    return running
  }

  t.before(async () => {
    host = await startAppHost()
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: scratchFolder('site-cut'), port: 0 })
    await applySiteCast(namespace, host)
    database = await makeDatabase()
    await freshHost(database.url, host)
    const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port }
    const tools = () => ({ deps: { hostAround: around }, close: async () => {} })
    process = await startOneProcess({ ...options, tools }, makeLife())
    hands = handsOf(process)
  })
  t.after(async () => {
    await process.end()
    await database.drop()
    await catcher.stop()
    await namespace.remove()
    await host.end()
  })

  t(
    'changes nothing of how it ends, at whichever step and whenever in it',
    async () => {
      const { id } = await hands.generate('ee'.repeat(16))
      await hands.choose(id, 'cut')
      await hands.approve(id)
      await hands.publish(id)
      // What a publish of a new edition calls, without a cut.
      const edition = async (title: string): Promise<number> => {
        await hands.retitle(id, title)
        await hands.approve(id)
        seen = []
        const live = await hands.publish(id, 90_000)
        const page = await visitor(host)(`cut.${host.baseDomain}`)
        assert.equal([page.status, page.text.includes(title)], [200, true], title)
        return live.release ?? 0
      }
      let releases = await edition('Uncut')
      const steps = seen.filter((name) => !name.startsWith('admin GET /config'))
      assert.ok(
        ['ssh site-missing', 'ssh site-store', 'ssh site-switch', 'tls'].every((name) => steps.includes(name)),
        seen.join(),
      )
      const count = seen.length
      for (const afterMs of CUTS_MS) {
        for (let at = 0; at < count; at++) {
          cut = { at, afterMs }
          const release = await edition(`Cut ${at} after ${afterMs}`)
          cut = null
          releases += 1
          assert.is(release, releases, 'each edition is one release')
        }
      }
      const text = "select count(*)::int as switches from facts where kind = 'switch' and resource = $1"
      assert.equal(await query(database.url, text, [id]), [{ switches: releases }])
      console.log(`  ${count} steps, cut ${CUTS_MS.length} times each`)
    },
    { timeoutMs: 600_000 },
  )
})
