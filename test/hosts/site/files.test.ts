import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
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
    const folder = { site: SITE, digest: `d${turn}`, files: wanted }
    await files.upload(folder, async (sha256) => bySum.get(sha256) ?? Buffer.alloc(0), signal())
    await files.switchTo({ ...folder, keep: [`d${turn}`] }, signal())
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

  const filesIn = (root: string) => makeSiteFiles(open.hosts.link(HOST_NAME), root)
  const read = async (sha256: string) => bySum.get(sha256) ?? Buffer.alloc(0)

  t('are told from one another by size and time, so that no visitor keeps an old page for new', async () => {
    const first = await publish(0)
    const second = await publish(1)
    assert.is(first.size, PAGES)
    const same = [...first].filter(([path, tag]) => second.get(path) === tag)
    assert.equal(same, [], 'pages that changed, and are not seen to')
    assert.equal(await publish(0), first, 'what comes again is what it was')
  })

  t(
    'are looked at: what is lost, altered, added, shut or another folder is seen, and put back by a switch',
    async () => {
      const folder = { site: 'site-seen', digest: 'd0', files: filesOf(0) }
      const files = filesIn(host.siteRoot)
      const home = `${host.siteRoot}/sites/${folder.site}`
      const put = async () => {
        await files.upload(folder, read, signal())
        await files.switchTo({ ...folder, keep: ['d0'] }, signal())
      }
      await put()
      const good = await files.look(folder, null, signal())
      assert.equal(good.strayed, [])
      assert.equal(await files.look(folder, good.print, signal()), good, 'a quick look says the same')
      const strays: [what: string, change: string, seen: string][] = [
        ['a lost file', 'rm current/page-3.html', 'page-3.html'],
        [
          'an altered file of the same size and time',
          'touch -r current/page-4.html t; printf X | dd of=current/page-4.html conv=notrunc bs=1 2>/dev/null; touch -r t current/page-4.html; rm t',
          'page-4.html',
        ],
        ['a file more', 'echo x > current/more.html', 'files or modes that are not of the release'],
        ['a shut file', 'chmod 600 current/page-5.html', 'files or modes that are not of the release'],
        [
          'a link in place of a file',
          'mv current/page-6.html x; ln -s "$PWD/x" current/page-6.html',
          'files or modes that are not of the release',
        ],
        ['another release', 'mkdir releases/other; ln -sfn releases/other current', 'the release that is served'],
      ]
      for (const [what, change, seen] of strays) {
        const script = { name: 'change', text: `IFS= read -r home; cd "$home"; ${change}` }
        await open.hosts.link(HOST_NAME).run({ script, lines: [home], deadlineMs: 20_000 })
        const look = await files.look(folder, good.print, signal())
        assert.ok(look.strayed.includes(seen), `${what}: ${look.strayed.join()}`)
        await put()
        assert.equal((await files.look(folder, null, signal())).strayed, [], `${what}, put back`)
      }
    },
  )

  t('are copies: a file of the store that was altered is used no more, and alters no release', async () => {
    const folder = { site: 'site-copied', digest: 'd0', files: filesOf(0) }
    const files = filesIn(host.siteRoot)
    await files.upload(folder, read, signal())
    await files.switchTo({ ...folder, keep: ['d0'] }, signal())
    const script = {
      name: 'change',
      text: 'IFS= read -r store; cd "$store"; for one in *; do printf X | dd of="$one" conv=notrunc bs=1 2>/dev/null; done',
    }
    await open.hosts.link(HOST_NAME).run({ script, lines: [`${host.siteRoot}/store`], deadlineMs: 20_000 })
    assert.equal((await files.look(folder, null, signal())).strayed, [])
    const next = { ...folder, digest: 'd1', files: filesOf(1) }
    assert.ok((await files.upload(next, read, signal())) > 0, 'what is altered is sent anew')
    await files.switchTo({ ...next, keep: ['d1'] }, signal())
    assert.equal((await files.look(next, null, signal())).strayed, [])
  })

  t('that find no room say so, leave what is live, and come when there is room', async () => {
    const root = join(host.siteRoot, 'small')
    mkdirSync(root)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=777', 'tmpfs', root])
    try {
      const small = { site: 'site-small', digest: 'd0', files: filesOf(0).slice(0, 3) }
      const files = filesIn(root)
      await files.upload(small, read, signal())
      await files.switchTo({ ...small, keep: ['d0'] }, signal())
      const large = Buffer.alloc(1024 * 1024, 'x')
      const sha256 = sha256Of(large)
      const big = { ...small, digest: 'd1', files: [{ path: 'big.html', sha256, bytes: large.length }] }
      const refused = await files.upload(big, async () => large, signal()).catch((error) => error)
      assert.is(refused.code ?? refused.message, 'HOST_FULL')
      assert.equal((await files.look(small, null, signal())).strayed, [])
      execFileSync('mount', ['-o', 'remount,size=8m', root])
      await files.upload(big, async () => large, signal())
      await files.switchTo({ ...big, keep: ['d1', 'd0'] }, signal())
      assert.equal((await files.look(big, null, signal())).strayed, [])
    } finally {
      execFileSync('umount', [root])
    }
  })
})
