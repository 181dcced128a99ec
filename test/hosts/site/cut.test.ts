import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AroundHost } from '../../../controllers/io/hosts/link.ts'
import { siteFolder } from '../../../crds/site/publishing/route.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { applySiteCast, freshHost, type Hands, handsOf } from '../../support/crash/stories/sitestory.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import { visitor } from '../../support/stage/publishing.ts'
import {
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
} from '../../support/stage/stage.ts'

/**
 * The line to the host breaks at every step: a publish ends in what was wanted, and nothing is applied twice; a look that finds
 * something lost, and its repair, end in the right bytes.
 */

/** How soon after a command was handed over the line breaks. */
const CUTS_MS = [0, 30]
/** Looks at what is live come by themselves as well; of a publish they are cut by their TLS. */
const OF_PUBLISH = /^(ssh site-(?!look)|admin |tls)/
const OF_REPAIR = /^(ssh site-|admin |tls)/
const WITHIN_MS = 60_000

spec('a line that breaks', (t) => {
  let host: AppHost
  let namespace: Namespace
  let database: Database
  let process: OneProcess
  let hands: Hands
  let catcher: { port: number; stop(): Promise<void> }
  /** The call of that number, or the first of that name. */
  let cut: { at: number | string; afterMs: number } | null = null
  let seen: string[] = []
  let cuttable = OF_PUBLISH

  const around: AroundHost = async ({ name }, run) => {
    if (!cuttable.test(name)) return run()
    const isCut = typeof cut?.at === 'string' ? cut.at === name && !seen.includes(name) : cut?.at === seen.length
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
    'changes nothing of how a publish ends, at whichever step and whenever in it',
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

  t(
    'changes nothing of how a look and a repair end, at whichever step: the right bytes are back within a minute',
    async () => {
      const { id } = await hands.generate('ff'.repeat(16))
      await hands.choose(id, 'mend')
      await hands.approve(id)
      await hands.publish(id)
      const isReady = async () => {
        const site = await kubectlFor(namespace.kubeconfig)(['get', 'wsite', id, '-n', namespace.name, '-o', 'json'])
        return JSON.parse(site).status.conditions.some((one: Json) => one.type === 'Ready' && one.status === 'True')
      }
      const pages = async () => {
        const visit = (path: string) => visitor(host)(`mend.${host.baseDomain}`, path).catch(() => null)
        const [index, robots] = [await visit('/'), await visit('/robots.txt')]
        return [index?.status, index?.text, robots?.status, robots?.text].join()
      }
      const good = await pages()
      const home = siteFolder(host.siteRoot, id)
      const damage = () => {
        rmSync(join(home, 'current', 'robots.txt'))
        // what was sent is kept for an hour
        rmSync(join(host.siteRoot, 'store'), { recursive: true, force: true })
        const route = `http://localhost:2019/id/site-${id}`
        execFileSync('curl', ['-sS', '--fail', '-X', 'DELETE', '--unix-socket', host.admin, route])
      }
      const repair = async (what: string) => {
        damage()
        assert.is.not(await pages(), good, 'the damage is seen')
        seen = []
        // what is live is looked at when it is asked for again
        await hands.publish(id)
        await eventually(`the right bytes, ${what}`, async () => (await pages()) === good, WITHIN_MS)
        await eventually(`a look that finds all right, ${what}`, isReady, WITHIN_MS)
      }
      cuttable = OF_REPAIR
      await repair('uncut')
      const steps = ['ssh site-look', 'ssh site-missing', 'ssh site-store', 'ssh site-switch', 'tls']
      assert.equal(
        steps.filter((step) => !seen.includes(step)),
        [],
        seen.join(),
      )
      assert.ok(
        seen.some((name) => /^admin (PUT|POST)/.test(name)),
        seen.join(),
      )
      // by their names: in which order a look and a repair take turns is chance
      for (const [at, step] of steps.entries()) {
        cut = { at: step, afterMs: CUTS_MS[at % CUTS_MS.length] ?? 0 }
        await repair(`${step} cut`)
        assert.ok(seen.includes(step), `${step} was cut: ${seen.join()}`)
        cut = null
      }
      const text = "select count(*)::int as switches from facts where kind = 'switch' and resource = $1"
      assert.equal(await query(database.url, text, [id]), [{ switches: 1 }], 'no release is made of it')
      console.log(`  a look and a repair, cut in ${steps.length} steps`)
    },
    { timeoutMs: 900_000 },
  )
})
