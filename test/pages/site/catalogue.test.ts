import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { LANGS } from '../../../crds/site/content/meta.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/** `hack/catalogue`, as somebody who works on layouts calls it, for one of them. */

const run = promisify(execFile)
const COMMAND = join(import.meta.dirname, '..', '..', '..', 'hack', 'catalogue')
const WIDTHS = { '360': 180, '768': 240, '1440': 360 }

spec('the catalogue of pictures', (t) => {
  t(
    'shows one layout in one template in every language, at three widths, on one page',
    async () => {
      const folder = scratchFolder('catalogue')
      const { stdout } = await run(COMMAND, ['--only', 'classic,studio,none', '--to', folder, '--minutes', '4'])
      const file = join(folder, 'index.html')
      assert.is(stdout.trim().split('\n').at(-1), file)
      const wanted = LANGS.flatMap((lang) => Object.keys(WIDTHS).map((shot) => `classic-studio-${lang}-${shot}.webp`))
      assert.equal(readdirSync(folder).sort(), [...wanted, 'index.html'].sort())
      const page = readFileSync(file, 'utf8')
      const shown = [...page.matchAll(/<img src="([^"]+)"/g)].map(([, src]) => src)
      assert.equal(shown.sort(), wanted.sort())
      assert.is(page.match(/<figcaption>/g)?.length, LANGS.length)
      for (const [shot, kept] of Object.entries(WIDTHS)) {
        const picture = sharp(join(folder, `classic-studio-en-${shot}.webp`))
        const [{ width }, { entropy }] = [await picture.metadata(), await picture.stats()]
        assert.is(width, kept)
        // a page that did not load is of one colour
        assert.ok(entropy > 0.5, `${shot} shows something: ${entropy}`)
      }
    },
    { timeoutMs: 300_000 },
  )

  t('refuses what is no layout, template, language or preset', async () => {
    const refused = await run(COMMAND, ['--only', 'clasic']).then(
      () => null,
      (error) => error,
    )
    assert.equal([refused?.code, /There is no clasic: choose from/.test(refused?.stderr)], [2, true])
  })
})
