import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Plugin } from 'esbuild'
import { withLock } from '../lib/lock.ts'
import { paths, root } from '../lib/state.ts'

/**
 * The two processes as few files each. Nothing is minified. 2,700 modules one by one, a third of them types of Kubernetes that
 * nobody asks for, cost each start a second of a core and each process 75 MB (hack/decisions/052).
 */

/** Where they lie below the root of a checkout or of the image; the paths of our own code are told from there. */
export const bundleName = 'bundle'
export const bundled = { api: 'api/main.ts', controllers: 'controllers/main.ts' } as const
export type Bundled = keyof typeof bundled

/** Packages that read files beside their own, or load binaries: they stay where they are. */
const readsBesideItself = ['fontkit', 'pdfkit', 'pino', 'sharp', 'ssh2', 'unpdf']
const besideItself = /(?<!typeof )\b__(?:dir|file)name\b|\bimport\.meta\.(?:url|dirname|filename)\b/
/** Asks first whether there is such a name. */
const asksFirst = /\/node_modules\/undici\//

/** Our own code finds its SQL, scripts and threads where its source lies; it is told that place, as seen from the bundle. */
const placesOf = (outdir: string): Plugin => ({
  name: 'places',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const url = `new URL(${JSON.stringify(relative(outdir, path))}, import.meta.url)`
      const place = { url: `${url}.href`, dirname: `pathOfUrl(new URL('.', ${url})).slice(0, -1)` }
      const contents = (await readFile(path, 'utf8')).replaceAll(
        /\bimport\.meta\.(url|dirname)\b/g,
        (_, asked: keyof typeof place) => place[asked],
      )
      return { contents, loader: 'ts' }
    })
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      if (asksFirst.test(path) || !besideItself.test(await readFile(path, 'utf8'))) return null
      return {
        errors: [{ text: `${relative(root, path)} reads files beside its own: name its package in bundle.ts.` }],
      }
    })
  },
})

const checksFile = 'api/http/reading/checks/written.ts'
const none = 'export const written: WrittenEngines | null = null\n'
const codeMax = 64 * 1024 ** 2

/** The code of all checks of bodies, which each start would have ajv write otherwise. */
const checks: Plugin = {
  name: 'checks',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/checks\/written\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      if (path !== join(root, checksFile) || !source.endsWith(none))
        return { errors: [{ text: `${path} holds no ${none}` }] }
      const args = [join(root, 'hack', 'container', 'writechecks.ts')]
      const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: codeMax })
      const imports = "import { withSample } from '../base64.ts'\nimport { formats } from './formats.ts'\n"
      return { contents: `${imports}${source.replace('= null', () => `= ${stdout}`)}`, loader: 'ts' }
    })
  },
}

/** Names a bundle: whoever changes a source, a package or this file gets another. SQL, scripts and threads lie outside of it. */
const digest = (): string => {
  const hash = createHash('sha256')
  const makers = 'hack/container/{bundle,writechecks}.ts'
  const sources = globSync(['{api,controllers,crds}/**/*.ts', 'package-lock.json', makers], {
    cwd: root,
  })
  for (const path of sources.sort()) hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}

/** Older ones are removed when another is made. */
const bundlesMax = 4

/** The bundle of the sources as they are now, made by the first who asks. @returns its folder */
export async function ensureBundle(): Promise<string> {
  const folder = paths.bundles
  const wanted = join(folder, digest())
  if (existsSync(wanted)) return wanted
  return withLock(folder, async () => {
    if (existsSync(wanted)) return wanted
    const partial = `${wanted}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    for (const { path, text } of await buildBundle(wanted)) writeFileSync(join(partial, path), text)
    const newestFirst = readdirSync(folder)
      .map((name) => ({ name, ms: statSync(join(folder, name)).mtimeMs }))
      .sort((a, b) => b.ms - a.ms)
    for (const { name } of newestFirst.slice(bundlesMax)) rmSync(join(folder, name), { recursive: true, force: true })
    renameSync(partial, wanted)
    return wanted
  })
}

/** @returns paths and text of what goes to `outdir`. Throws when a package cannot be put in. */
export async function buildBundle(outdir = join(root, bundleName)): Promise<{ path: string; text: string }[]> {
  const banner = [
    "import { createRequire as makeRequire } from 'node:module'",
    "import { fileURLToPath as pathOfUrl } from 'node:url'",
    'const require = makeRequire(import.meta.url)',
  ]
  const { build } = await import('esbuild') // only who makes one needs it
  const { outputFiles } = await build({
    entryPoints: Object.entries(bundled).map(([out, path]) => ({ in: join(root, path), out })),
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node26',
    absWorkingDir: root,
    outdir,
    write: false,
    external: [...readsBesideItself, 'cpu-features', 'pg-native'],
    banner: { js: banner.join('\n') },
    plugins: [checks, placesOf(outdir)],
    logLevel: 'silent',
  })
  return outputFiles.map(({ path, text }) => ({ path: relative(outdir, path), text }))
}
