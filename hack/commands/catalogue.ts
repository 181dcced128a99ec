import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import type { Content } from '../../crds/site/content/content.ts'
import { contentOf } from '../../crds/site/content/expand.ts'
import { LANGS, LAYOUTS, TEMPLATES } from '../../crds/site/content/meta.ts'
import { PRESETS } from '../../crds/site/content/presets/presets.ts'
import { renderSite } from '../../crds/site/render/site.ts'
import { type Materials, materials, sampleInput, withHan } from '../../test/support/builders/sites/content.ts'
import { sampleContent } from '../../test/support/builders/sites/sample.ts'
import { BUSINESSES, nameAlso } from '../../test/support/businesses/all.ts'
import { startBrowser, visit } from '../../test/support/judges/browser.ts'
import { type Served, serveSite } from '../../test/support/judges/sites/page.ts'
import { type CatalogueEntry, cataloguePage } from '../generators/catalogue.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, runCommand } from '../lib/refusal.ts'
import { stateDir } from '../lib/state.ts'

/**
 * `hack/catalogue [--some] [--only WORD,…] [--to FOLDER] [--minutes N]`: every layout in every template and language, and every preset in
 * every language, as pictures on one page, by the renderer and Chromium. With `--only` what has all of these words: a layout, a template,
 * a language, a preset or `none`.
 */

const usage = 'Usage: hack/catalogue [--some] [--only WORD,…] [--to FOLDER] [--minutes N]'
const MINUTES = 20
const LOAD_MAX_MS = 20_000
/** With `--some`: each layout in each template in one of the languages. */
const SOME = LANGS.length

/** What is photographed: a window, how much of the page, and how wide the picture is kept. */
const SHOTS = [
  { name: '360', width: 360, height: 800, kept: 180, tall: 900 },
  { name: '768', width: 768, height: 1024, kept: 240, tall: 1200 },
  { name: '1440', width: 1440, height: 900, kept: 360, tall: 1800 },
] as const

/** What waits to come near is there once somebody has scrolled past it. */
const NEAR = `(async () => {
  for (const y of [600, 1200, 1800, 0]) {
    window.scrollTo(0, y)
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  await document.fonts.ready
})()`

type Wanted = Omit<CatalogueEntry, 'pictures'> & { content: Content }

const everyPair = (isSome: boolean): Wanted[] =>
  LAYOUTS.flatMap((layout, row) =>
    TEMPLATES.flatMap((template, column) =>
      LANGS.flatMap((lang, third): Wanted[] => {
        const all = BUSINESSES[lang]
        const business = all[(row + column) % all.length]
        if (!business || (isSome && (row + column + third) % SOME !== 0)) return []
        const content = { ...business, meta: { ...business.meta, layout, template } }
        return [{ layout, template, lang, preset: null, content }]
      }),
    ),
  )

/** A preset as it is when its trade has said who it is and what it has. */
const everyPreset = (isSome: boolean): Wanted[] =>
  PRESETS.flatMap((preset, row) =>
    LANGS.filter((_, column) => !isSome || (row + column) % SOME === 0).map((lang) => {
      const { meta, ...sections } = sampleContent(lang, 'classic', 'studio')
      const { companyName } = meta
      const content = contentOf({ preset, content: { ...sections, meta: { companyName, lang } } })
      const { layout, template } = content.meta
      return { layout, template, lang, preset, content }
    }),
  )

const nameOf = ({ layout, template, lang, preset }: Wanted, shot: string): string =>
  `${[layout, template, lang, ...(preset === null ? [] : [preset]), shot].join('-')}.webp`

const KNOWN: readonly string[] = [...LAYOUTS, ...TEMPLATES, ...LANGS, ...PRESETS, 'none']

const has = ({ layout, template, lang, preset }: Wanted, word: string): boolean =>
  [layout, template, lang, preset ?? 'none'].includes(word)

/** The first screens of the page that is shown, as small as they are looked at. */
const photograph = async (page: Page, one: Wanted, folder: string): Promise<CatalogueEntry['pictures']> => {
  const pictures: CatalogueEntry['pictures'] = []
  for (const { name, width, height, kept, tall } of SHOTS) {
    await page.setViewportSize({ width, height })
    await page.goto('/', { timeout: LOAD_MAX_MS })
    await page.evaluate(NEAR)
    const whole = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height: tall } })
    const file = nameOf(one, name)
    await sharp(whole).resize({ width: kept }).webp({ quality: 70 }).toFile(join(folder, file))
    pictures.push({ file, width: kept, height: Math.round((tall * kept) / width) })
  }
  return pictures
}

type Asked = { isSome: boolean; only: string[]; folder: string; minutes: number }

const readArguments = (): Asked => {
  try {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ options: { some: { type: 'boolean' }, only: text, to: text, minutes: text } })
    const minutes = values.minutes === undefined ? MINUTES : Number(values.minutes)
    if (!(minutes > 0)) throw new Error(`${values.minutes} is no number of minutes.`)
    const only = values.only?.split(',') ?? []
    const strange = only.find((word) => !KNOWN.includes(word))
    if (strange !== undefined) throw new Error(`There is no ${strange}: choose from ${KNOWN.join(', ')}.`)
    const folder = values.to === undefined ? join(stateDir, 'catalogue') : resolve(values.to)
    return { isSome: values.some === true, only, folder, minutes }
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : error}\n${usage}`, { exitCode: 2 })
  }
}

type Studio = { page: Page; served: Served; stuff: Materials; folder: string }

/** @returns what was photographed before the time was over */
const photographAll = async (wanted: readonly Wanted[], minutes: number, studio: Studio): Promise<CatalogueEntry[]> => {
  const step = createProgress().step(`${wanted.length} pairs, each at ${SHOTS.map(({ name }) => name).join(', ')}`)
  const until = performance.now() + minutes * 60_000
  const made: CatalogueEntry[] = []
  for (const one of wanted) {
    if (performance.now() > until) break
    const { content, ...entry } = one
    const input = await withHan(sampleInput(content, studio.stuff), studio.stuff)
    studio.served.show(renderSite(input).files)
    made.push({ ...entry, pictures: await photograph(studio.page, one, studio.folder) })
    step.update(
      `${made.length} of ${wanted.length}: ${one.layout} ${one.template} ${one.lang}`,
      made.length / wanted.length,
    )
  }
  if (made.length === wanted.length) step.done()
  else step.fail(`${made.length} of them within ${minutes} minutes`)
  return made
}

await runCommand(async () => {
  const { isSome, only, folder, minutes } = readArguments()
  const wanted = [...everyPreset(isSome), ...everyPair(isSome)].filter((one) => only.every((word) => has(one, word)))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [browser, stuff] = [await startBrowser(), await materials()]
  nameAlso(stuff.images)
  const served = await serveSite(stuff)
  try {
    const { page } = await visit(browser, { baseURL: served.baseURL, javaScriptEnabled: true })
    const made = await photographAll(wanted, minutes, { page, served, stuff, folder })
    const file = join(folder, 'index.html')
    writeFileSync(file, cataloguePage(made))
    console.log(file)
    return made.length === wanted.length ? 0 : 1
  } finally {
    await browser.close()
    await served.end()
  }
})
