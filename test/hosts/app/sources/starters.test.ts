import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  busyboxBase,
  djangoBase,
  importBase,
  nodeBase,
  postgresBase,
} from '../../../support/builders/sources/baseimages.ts'
import * as starters from '../../../support/builders/sources/starters.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, startAppStage } from '../../../support/stage/apps.ts'
import { scratchFolder } from '../../../support/stage/stage.ts'

/** What people begin with, each deployed once, as a folder that knows nothing of the platform, on one real host. */

const timeoutMs = 240_000
const root = join(import.meta.dirname, '../../../..')
/** Next.js itself is some hundred MB of packages, and a build of its own. */
const isFull = process.env.BOTTEGA_TEST_FULL === '1'

/** All files below a folder, under their paths from `base`. */
const filesOf = (folder: string, base: string): starters.Starter => {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = found.map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.map((path) => [relative(base, path), readFileSync(path)]))
}

/** The package pg with all that it needs, as an install leaves them. */
const vendored = (): starters.Starter => {
  const left = ['pg']
  const files: Record<string, string | Buffer> = {}
  const seen = new Set<string>()
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const folder = join(root, 'node_modules', name)
    Object.assign(files, filesOf(folder, root))
    left.push(...Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies ?? {}))
  }
  return files
}

const write = (folder: string, files: starters.Starter): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

const builtGo = (folder: string): Buffer => {
  write(folder, { 'go.mod': starters.GO_MOD, 'main.go': starters.GO_MAIN })
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-trimpath' }
  execFileSync('go', ['build', '-ldflags=-s', '-o', 'api', '.'], { cwd: folder, env })
  return readFileSync(join(folder, 'api'))
}

const builtNext = (folder: string): starters.Starter => {
  write(folder, starters.NEXT)
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  for (const args of [
    ['install', '--no-audit', '--no-fund'],
    ['run', 'build'],
  ])
    execFileSync('npm', args, { cwd: folder, env })
  const standalone = join(folder, '.next/standalone')
  return { ...filesOf(standalone, standalone), ...filesOf(join(folder, '.next/static'), folder) }
}

const sent = (files: starters.Starter) => ({
  files: Object.fromEntries(
    Object.entries(files).map(([path, content]) => {
      const base64 = Buffer.from(content).toString('base64')
      return [path, path === 'api' ? { base64, mode: '755' } : base64]
    }),
  ),
})

spec('a project that somebody begins with', (t) => {
  let stage: AppStage
  let folder: string
  let api: Buffer
  let site: starters.Starter

  t.before(async () => {
    folder = scratchFolder('starters')
    // before anything listens: a process that waits for a compiler hears of no connection that was closed meanwhile
    for (const base of [nodeBase(), djangoBase(), postgresBase(), busyboxBase()]) importBase(base)
    api = builtGo(join(folder, 'go'))
    if (isFull) site = builtNext(join(folder, 'next'))
    stage = await startAppStage()
  })
  t.after(async () => {
    await stage.end()
    rmSync(folder, { recursive: true, force: true })
  })

  const deploys = (slug: string, files: () => starters.Starter, says: RegExp, path = '/') => {
    t(
      `deploys at the first try: ${slug}`,
      async () => {
        const app = await stage.app(slug, { application_policy: 'none' })
        const { json, text } = await stage.operate('POST', `/api/apps/${app.id}/deploy`, sent(files()))
        assert.is(json.operation?.state, 'succeeded', `${text}\n${json.release?.log_tail}`)
        const page = await stage.visit(slug, path)
        assert.is(page.status, 200, page.text)
        assert.match(page.text, says)
        const { releases } = (await stage.api('GET', `/api/apps/${app.id}/releases`)).json
        assert.is(releases.length, 1)
      },
      { timeoutMs },
    )
  }

  deploys('folder', () => starters.folder, /color: green/, '/style.css')
  deploys('go-api', () => starters.goApi(api), /"says":"Go"/, '/orders')
  deploys('rails', () => starters.rails(vendored()), /^Rails-like, migrated to 20261101$/)
  deploys('django', () => starters.django, /^Django, visit \d+, secure https$/)
  if (isFull) deploys('next', () => starters.next(site), /Next\.js says.*hello/)
})
