import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { siteFolder } from '../../../crds/site/publishing/route.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

/** A live site whose files were lost or altered on its host: what its owner asks for next is right, also where the disk is full. */

const WITHIN_MS = 60_000
const LONG = { timeoutMs: 240_000 }
const PATHS = ['/', '/robots.txt', '/sitemap.xml', '/nowhere']

/** The folder of sites `$1`, on a disk of its own that has 4 MiB more than it needs. */
const SMALL_DISK = `
mkdir -p "$2"
mib=$(( $(du -sm "$1" | cut -f 1) + 4 ))
mount -t tmpfs -o size="$mib"m tmpfs "$2"
cp -a "$1/." "$2/"
chown --reference="$1" "$2"
chmod --reference="$1" "$2"
mount --bind "$2" "$1"
umount "$2"
`

spec('a site whose files were lost or altered on its host', (t) => {
  let platform: SitePlatform
  let id: string
  let hostname: string
  let home: string
  let good: string[]

  const seen = () =>
    Promise.all(
      PATHS.map(async (path) => {
        const page = await platform.visit(hostname, path).catch(() => null)
        return page === null ? 'nothing' : `${page.status} ${page.text}`
      }),
    )
  const isWhole = async () => JSON.stringify(await seen()) === JSON.stringify(good)
  const site = async (): Promise<Json> => (await platform.as('GET', `/api/website/${id}`)).json.site
  const act = async (action: string) => {
    const reply = await platform.as('POST', `/api/website/${id}/${action}`, {})
    assert.is(reply.status, 200, reply.text)
    return reply.json.site
  }
  const inRelease = (path: string) => join(home, 'current', path)
  const conditionOf = async (type: string): Promise<Json | undefined> => {
    const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
    return status.conditions.find((one: Json) => one.type === type)
  }
  const ready = () => eventually('Ready', async () => (await conditionOf('Ready'))?.status === 'True')
  const alter = () => {
    const index = inRelease('index.html')
    writeFileSync(index, readFileSync(index, 'utf8').replace('Stoneware', 'Stonewary'))
  }

  t.before(async () => {
    platform = await startSitePlatform()
    ;({ id } = await makeSite(platform))
    await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'repair' })
    await approve(platform, id)
    await publish(platform, id)
    hostname = `repair.${platform.host.baseDomain}`
    home = siteFolder(platform.host.siteRoot, id)
    good = await seen()
    assert.match(good[0] ?? '', /^200 .*Stoneware/s)
  })
  t.after(() => platform.end())

  t(
    'is whole when it is published again while it is live',
    async () => {
      rmSync(inRelease('robots.txt'))
      assert.is.not((await seen())[1], good[1], 'it is seen to be lost')
      assert.is((await act('publish')).status, 'live')
      await eventually('the right bytes', isWhole, WITHIN_MS)
      await ready()
    },
    LONG,
  )

  t(
    'is whole when it is taken down and published again',
    async () => {
      rmSync(inRelease('robots.txt'))
      await act('unpublish')
      assert.equal(
        (await seen()).map((page) => page.slice(0, 3)),
        ['410', '410', '410', '410'],
      )
      assert.is((await act('publish')).status, 'live')
      assert.equal(await seen(), good)
      await ready()
    },
    LONG,
  )

  t(
    'leaves nothing of what was altered when it is taken down, and comes back as it was approved',
    async () => {
      alter()
      assert.match((await seen())[0] ?? '', /Stonewary/)
      await act('unpublish')
      const gone = await seen()
      assert.equal(new Set(gone).size, 1, 'one answer for every address')
      assert.match(gone[0] ?? '', /^410 .*not here any more/s)
      alter()
      rmSync(inRelease('sitemap.xml'))
      assert.equal(await seen(), gone, 'what is altered while it is down is seen by nobody')
      assert.is((await act('publish')).status, 'live')
      assert.equal(await seen(), good)
      await ready()
    },
    LONG,
  )

  t(
    'says that the disk of its host is full and what to do, goes on with what is there, and is whole by itself when there is room',
    async () => {
      const { siteRoot } = platform.host
      const disk = join(platform.host.folder, 'disk')
      // all that is there now, on a disk of its own that is small
      execFileSync('sh', ['-ec', SMALL_DISK, 'sh', siteRoot, disk])
      try {
        await eventually('the site on the small disk', isWhole, WITHIN_MS)
        rmSync(inRelease('robots.txt'))
        execFileSync('sh', ['-c', 'dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null; true', 'sh', siteRoot])
        const full = await eventually(
          'the site to say that there is no room',
          async () => {
            const condition = await conditionOf('Stalled')
            return condition?.status === 'True' && condition.reason === 'HostFull' && condition
          },
          WITHIN_MS,
        )
        assert.match(full.message, /no room left for the files of the site; free some on it/)
        const { status, stalled } = await site()
        assert.equal([status, stalled?.code], ['live', 'HOST_FULL'])
        assert.equal(
          await seen(),
          good.map((page, place) => (PATHS[place] === '/robots.txt' ? good.at(-1) : page)),
          'what is there is served',
        )
        rmSync(join(siteRoot, 'filler'))
        await eventually('the right bytes when there is room', isWhole, WITHIN_MS)
        await ready()
        assert.equal([(await conditionOf('Stalled'))?.status ?? 'False', (await site()).stalled], ['False', null])
      } finally {
        execFileSync('umount', ['--lazy', siteRoot])
      }
    },
    LONG,
  )
})
