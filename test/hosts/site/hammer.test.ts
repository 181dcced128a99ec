import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, spec } from '../../support/runner/spec.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

/**
 * Visitors who come fifty times a second while a site is published again and again: half of them by connections that they kept, half
 * by a new one each. A proxy that takes a new configuration drops some of the latter, so it is left alone (publishing/route.ts).
 */

const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const EVERY_MS = 20
const EDITIONS = isFull ? 100 : 10
const SOCKETS = 8
const TIMEOUT_MS = isFull ? 1_800_000 : 300_000

type Seen = { path: string; status: number; text: string } | { path: string; fault: string }

spec('visitors during publishes', (t) => {
  let platform: SitePlatform
  t.before(async () => {
    platform = await startSitePlatform()
  })
  t.after(() => platform.end())

  /** All of a page speaks of one edition. */
  const content = (edition: number) => ({
    meta: {
      company_name: `Edition ${edition} Ltd`,
      lang: 'en',
      layout: 'classic',
      template: 'studio',
      pages: [
        { slug: '', title: 'Start', sections: ['hero', 'products'] },
        { slug: 'about', title: 'About', sections: ['feature_rows', 'contact'] },
      ],
    },
    hero: { title: `Edition ${edition}`, lede: `This is edition ${edition}.` },
    products: Array.from({ length: 12 }, (_, index) => ({ name: `Edition ${edition} item ${index}` })),
    feature_rows: [{ title: `Edition ${edition}`, text: `Made for edition ${edition}.` }],
    contact: { email: 'hello@voss.test' },
  })

  const hammer = (hostname: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS, ca: readFileSync(platform.host.acme.caCert) })
    const seen: Seen[] = []
    const under: Promise<void>[] = []
    let sheet: string | undefined
    let running = true
    let again = 0
    const { httpsPort: port } = platform.host
    const place = { host: '127.0.0.1', port, servername: hostname, headers: { host: hostname }, timeout: 5_000 }
    const ways = { kept: { agent }, new: { agent: false as const, ca: agent.options.ca } }
    const ask = (path: string, way: keyof typeof ways): Promise<Seen> =>
      new Promise((resolve) => {
        const call = request({ ...place, ...ways[way], path }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', (error) => resolve({ path, fault: error.message }))
          response.on('end', () =>
            resolve({ path, status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          )
        })
        call.on('timeout', () => call.destroy(new Error('timed out')))
        call.on('error', (error: NodeJS.ErrnoException) => {
          // A kept connection that the server closed while it was idle: a browser asks once more (RFC 9112, section 9.3.1).
          const isClosedIdle = call.reusedSocket && error.code === 'ECONNRESET'
          if (isClosedIdle) again += 1
          resolve(isClosedIdle ? ask(path, way) : { path, fault: `${error.message} (${way})` })
        })
        call.end()
      })
    const one = async (path: string, way: keyof typeof ways): Promise<void> => {
      const answer = await ask(path, way)
      // What the page that was just loaded asks for next, though another may be live by then.
      if (path === '/' && 'text' in answer) sheet = /href="(assets\/[0-9a-f]+\.css)"/.exec(answer.text)?.[1] ?? sheet
      seen.push(answer)
    }
    const loop = (async () => {
      for (let n = 0; running; n++) {
        const paths = ['/', '/about/', sheet === undefined ? '/' : `/${sheet}`]
        under.push(one(paths[n % paths.length] ?? '/', n % 2 === 0 ? 'kept' : 'new'))
        await sleep(EVERY_MS)
      }
      await Promise.all(under)
      agent.destroy()
    })()
    return {
      seen,
      again: () => again,
      end: async () => {
        running = false
        await loop
      },
    }
  }

  t(
    'never see an error, and never a page that is half of one edition and half of another',
    async () => {
      const { id } = await makeSite(platform, { content: content(0) })
      await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'hammered' })
      await approve(platform, id)
      await publish(platform, id)
      const visitors = hammer(`hammered.${platform.host.baseDomain}`)
      for (let edition = 1; edition <= EDITIONS; edition++) {
        const updated = await platform.as('POST', `/api/website/${id}/update`, { content: content(edition) })
        assert.is(updated.status, 200, updated.text)
        await approve(platform, id)
        assert.is((await publish(platform, id)).release, edition + 1)
      }
      await visitors.end()

      const failed = visitors.seen.filter((one) => 'fault' in one || one.status !== 200)
      assert.equal(failed.slice(0, 3), [], `${failed.length} of ${visitors.seen.length} failed`)
      const editions = new Set<string>()
      for (const one of visitors.seen) {
        if (!('text' in one) || one.path.startsWith('/assets/')) continue
        const named = new Set([...one.text.matchAll(/[Ee]dition (\d+)/g)].map(([, edition]) => edition))
        assert.is(named.size, 1, `a page of editions ${[...named].join(', ')}`)
        editions.add([...named][0] ?? '')
      }
      assert.is(editions.size, EDITIONS + 1, 'all editions were seen')
      assert.ok(visitors.seen.length > 200, `only ${visitors.seen.length} requests`)
      // at most what was kept when the proxy took a new configuration
      const again = visitors.again()
      assert.ok(again <= SOCKETS * (EDITIONS + 1), `${again} asked again`)
      console.log(
        `counted: ${visitors.seen.length} requests, ${failed.length} failed, ${again} asked again, ${editions.size} editions`,
      )
    },
    { timeoutMs: TIMEOUT_MS },
  )
})
