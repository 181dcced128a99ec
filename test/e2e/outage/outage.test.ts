import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { applyPlatform } from '../../../hack/platform/platform.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'
import { kubectlFor, type Owned, ownControlPlane } from '../../support/stage/stage.ts'

/** How long the API server stays away: a minute, as asked, with --full; long enough for every back-off otherwise. */
const AWAY_MS = process.env.BOTTEGA_TEST_FULL ? 60_000 : 8_000

let platform: Platform
let plane: Owned<ControlPlane>
const post = (body: unknown) => call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body)
const get = (path: string) => call(platform.baseUrl, platform.owner, 'GET', path)

spec('parts that go away and come back', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane })
  })
  t.after(async () => {
    await platform.end()
    await plane.end()
  })

  t(
    'PostgreSQL killed: the processes live, requests get 503, and serving is back by itself',
    async () => {
      assert.is((await post(order())).status, 201)
      const pids = [platform.api.pid(), platform.controllers.pid()]
      await platform.postgres.kill()
      const during = await post(order({ external_ref: 'during' }))
      assert.is(during.status, 503)
      assert.is(during.json.code, 'UNAVAILABLE')
      assert.ok(Number(during.headers.get('retry-after')) > 0)
      assert.is((await get('/api/invoices')).status, 503)
      await sleep(3_000)
      await platform.postgres.start()
      const upMs = performance.now()
      await eventually('an answer', async () => (await get('/api/invoices')).status === 200)
      const again = await eventually('a send', async () => {
        const reply = await post(order({ external_ref: 'during' }))
        return (reply.status === 201 || reply.status === 200) && reply
      })
      console.log(`  serving again after ${Math.round(performance.now() - upMs)} ms`)
      assert.match(again.json.number, /^INV-/)
      assert.equal([platform.api.pid(), platform.controllers.pid()], pids)
    },
    { timeoutMs: 180_000 },
  )

  t(
    'the API server stopped: reads go on, writes get 503, nothing crashes, and it catches up',
    async () => {
      const known = (await post(order())).json.invoice
      const pids = [platform.api.pid(), platform.controllers.pid()]
      await plane.processes.apiserver.stop()
      const endMs = performance.now() + AWAY_MS
      const refused = await post(order({ external_ref: 'away' }))
      assert.is(refused.status, 503)
      while (performance.now() < endMs) {
        assert.is((await get(`/api/invoices/${known.id}`)).json.invoice.number, known.number)
        await sleep(1_000)
      }
      await plane.restart('apiserver')
      const caught = await eventually('a send', async () => {
        const reply = await post(order({ external_ref: 'away' }))
        return (reply.status === 201 || reply.status === 200) && reply
      })
      assert.is(caught.json.invoice.status, 'sent')
      assert.equal([platform.api.pid(), platform.controllers.pid()], pids)
    },
    { timeoutMs: 240_000 },
  )

  t(
    'a definition that is missing: 503 with its code, /readyz tells of it, nothing crashes, and it comes back',
    async () => {
      const pids = [platform.api.pid(), platform.controllers.pid()]
      const ready = async (url: string) => await (await fetch(url.replace('/metrics', '/readyz'))).text()
      await platform.kubectl(['delete', 'crd', 'sites.bottega.dev'])
      const body = { content: siteContent() }
      const generate = () => call(platform.baseUrl, platform.owner, 'POST', '/api/website/generate', body)
      const refused = await generate()
      assert.equal(
        [refused.status, refused.json.code, refused.json.outcome],
        [503, 'KIND_UNKNOWN', 'not_stored'],
        refused.text,
      )
      for (const url of Object.values(platform.metricsUrls)) {
        await eventually(
          `${url} to say so`,
          async () => /ok definitions partial: no definition of Site/.test(await ready(url)),
          60_000,
        )
      }
      assert.is((await post(order())).status, 201, 'the other kinds go on')
      await applyPlatform(kubectlFor(plane.kubeconfig))
      await eventually('a site', async () => (await generate()).status === 201, 120_000)
      for (const url of Object.values(platform.metricsUrls)) {
        await eventually(`${url} to be ready`, async () => /^ok definitions$/m.test(await ready(url)), 60_000)
      }
      assert.equal([platform.api.pid(), platform.controllers.pid()], pids)
    },
    { timeoutMs: 300_000 },
  )
})
