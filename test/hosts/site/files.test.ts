import { makeSiteFiles } from '../../../controllers/io/hosts/sitefiles.ts'
import { sha256Of } from '../../../controllers/store/blobs.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'

/** Files of a site as they lie on its host. The ETag that a visitor gets of one is made of its size and its time. */

const SITE = 'site-one'
const PAGES = 60
const signal = () => AbortSignal.timeout(30_000)

spec('the files of a site on its host', (t) => {
  let host: AppHost
  let open: TestHosts
  const pages = Array.from({ length: PAGES }, (_, place) => Buffer.from(`page ${String(place).padStart(4, '0')}`))
  const bySum = new Map(pages.map((page) => [sha256Of(page), page]))
  const sums = [...bySum.keys()]
  /** Each page at the place that is `turn` further on. */
  const filesOf = (turn: number) =>
    sums.map((_, place) => {
      const sha256 = sums[(place + turn) % PAGES] ?? ''
      return { path: `page-${place}.html`, sha256, bytes: bySum.get(sha256)?.length ?? 0, contentType: 'text/html' }
    })
  const publish = async (turn: number): Promise<Map<string, string>> => {
    const files = makeSiteFiles(open.hosts.link(HOST_NAME), host.siteRoot)
    const wanted = filesOf(turn)
    await files.upload(wanted, async (sha256) => bySum.get(sha256) ?? Buffer.alloc(0), signal())
    await files.switchTo({ site: SITE, digest: `d${turn}`, keep: [`d${turn}`], files: wanted }, signal())
    const text = `IFS= read -r folder; cd "$folder" && stat -L -c '%n %s-%.9Y' *.html`
    const lines = [`${host.siteRoot}/sites/${SITE}/current`]
    const run = { script: { name: 'look', text }, lines, deadlineMs: 20_000 }
    const { stdout } = await open.hosts.link(HOST_NAME).run(run)
    const seen = stdout.toString().trim().split('\n')
    return new Map(seen.map((line) => line.split(' ') as [string, string]))
  }

  t.before(async () => {
    host = await startAppHost()
    open = await openHosts(host)
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('are told from one another by size and time, so that no visitor keeps an old page for new', async () => {
    const first = await publish(0)
    const second = await publish(1)
    assert.is(first.size, PAGES)
    const same = [...first].filter(([path, tag]) => second.get(path) === tag)
    assert.equal(same, [], 'pages that changed, and are not seen to')
    assert.equal(await publish(0), first, 'what comes again is what it was')
  })
})
