import { SITE } from '../../../crds/site/kind.ts'
import type { SiteView } from '../../../crds/site/view.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { paint } from '../../support/builders/sites/content.ts'
import { keyNamed } from '../../support/crash/process.ts'
import { BASE_CONTENT, handsOf } from '../../support/crash/stories/sitestory.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace } from '../../support/stage/stage.ts'

/**
 * A site with pictures, killed at every API call and statement: the queue of pictures is in the memory of a process alone, and
 * what was made of a picture is kept width by width. In the end all widths are there, each once, and the site is whole.
 */

const KEY = 'ad'.repeat(16)
const name = keyNamed('site', 'demo', KEY)
const WIDTHS = ['avif', 'jpeg', 'webp'].flatMap((format) => [320, 640, 700].map((width) => `${format} ${width}`))

spec('a process that dies while pictures are under way', (t) => {
  let namespace: Namespace
  let assets: Record<string, string>
  const kubectl = (args: string[]) => kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name])
  const object = async () => {
    const text = await kubectl(['get', 'wsite', name, '-o', 'json', '--ignore-not-found'])
    return text === '' ? undefined : JSON.parse(text)
  }
  const isReady = async () =>
    (await object())?.status?.conditions?.some(
      (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
    ) ?? false

  t.before(async () => {
    namespace = await makeDemoNamespace()
    const [a, b] = [await paint(3, 700, 500), await paint(4, 700, 500)]
    assets = { a: a.toString('base64'), b: b.toString('base64') }
  })
  t.after(() => namespace.remove())

  const story = (): Story<SiteView> => {
    let databaseUrl = ''
    const isKnown = async () =>
      (await query(databaseUrl, "select from mirror where kind = 'Account' and name = 'demo'")).length > 0
    return {
      options: { namespace: namespace.name, mailPort: 9 },
      prepare: async (url) => {
        databaseUrl = url
      },
      async play(process) {
        await eventually('the account to be known', isKnown)
        const gallery = [
          { image: 'asset:a', alt: 'A' },
          { image: 'asset:b', alt: 'B' },
        ]
        return handsOf(process).generate(KEY, { content: { ...BASE_CONTENT, gallery }, assets })
      },
      isSettled: async (url) => ((await viewIn(url, SITE))?.digest ?? null) !== null && (await isReady()),
      async look(url, played) {
        assert.equal([played.pictures.ready, played.pictures.total], [2, 2])
        const pictures = await query(url, 'select source, image, quick from site_pictures order by source')
        for (const { image, quick } of pictures) {
          const { variants } = image as { variants: { format: string; width: number }[] }
          assert.equal(variants.map(({ format, width }) => `${format} ${width}`).sort(), WIDTHS)
          assert.is((quick as { variants: unknown[] }).variants.length, 1)
        }
        const text = `select (select count(*) from site_pictures)::int as pictures,
          (select count(*) from site_picture_variants)::int as variants,
          (select count(*) from site_renderings where not is_first)::int as whole,
          (select count(*) from facts where kind = 'generated')::int as generated`
        assert.equal(await query(url, text), [{ pictures: 2, variants: 0, whole: 1, generated: 1 }])
      },
      fingerprint: async (url) => [
        (await object())?.metadata.resourceVersion,
        await query(url, 'select max(xmin::text::bigint) as facts from facts'),
        await query(url, 'select source, xmin::text from site_pictures order by source'),
      ],
      mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror)/,
      looked: /^sql observe_sites/,
      clear: async () => {
        if ((await object()) === undefined) return
        await kubectl(['patch', 'wsite', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
        await kubectl(['delete', 'wsite', name, '--ignore-not-found', '--wait=false'])
      },
      deathsMin: 60,
      every: 40,
    }
  }

  t(
    'without a crash, each width is made once',
    async () => {
      const { calls } = await live(story())
      const count = (what: string) => calls.filter((call) => call === what).length
      assert.equal([count('sql keep_site_picture_variant'), count('sql keep_site_picture')], [2 * WIDTHS.length, 4])
      console.log(`  ${calls.length} calls`)
    },
    { timeoutMs: 120_000 },
  )

  sweeps(t, 'all widths, each once, and a site that is whole', story)
})
