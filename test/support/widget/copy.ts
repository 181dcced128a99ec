/**
 * A copy of the tree with a kind more: the files of `files/` (each with `.txt` behind its name, so that nothing here takes
 * them for ours) and the lines that the README tells to add.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../structure/tree.ts'

const FILES = join(import.meta.dirname, 'files')

/** What is written into a file that is there: the text that stands there once, and what stands in its place. */
type Line = { path: string; at: string; becomes: string }

const imported = (path: string, before: string, line: string): Line => ({
  path,
  at: before,
  becomes: `${line}\n${before}`,
})

/** The lines of the shared files that a further kind needs. */
export const LINES: readonly Line[] = [
  imported('crds/kinds.ts', "import { SITE } from './site/kind.ts'", "import { WIDGET } from './widget/kind.ts'"),
  { path: 'crds/kinds.ts', at: 'DEVINSTANCE]', becomes: 'DEVINSTANCE, WIDGET]' },
  imported(
    'crds/catalogue/list.ts',
    "import { SITE_CATALOGUE } from './site.ts'",
    "import { WIDGET_CATALOGUE } from './widget.ts'",
  ),
  {
    path: 'crds/catalogue/list.ts',
    at: '  DEVINSTANCE_CATALOGUE,\n',
    becomes: '  DEVINSTANCE_CATALOGUE,\n  WIDGET_CATALOGUE,\n',
  },
  imported(
    'controllers/kinds/list.ts',
    "import { siteControl } from './site/controller.ts'",
    "import { widgetControl } from './widget/controller.ts'",
  ),
  {
    path: 'controllers/kinds/list.ts',
    at: '  devInstanceControl,\n',
    becomes: '  devInstanceControl,\n  widgetControl,\n',
  },
  imported(
    'api/wiring/routes.ts',
    "import type { Route } from './route.ts'",
    "import { widgetRoutes } from '../widget/routes.ts'",
  ),
  {
    path: 'api/wiring/routes.ts',
    at: '    routes: [...devInstanceRoutes, ...sshKeyRoutes],\n  },\n',
    becomes: `    routes: [...devInstanceRoutes, ...sshKeyRoutes],
  },
  {
    path: '/api/openapi-widgets.json',
    title: 'Bottega widgets',
    version: '2026-11',
    description: 'Things with a label.',
    routes: widgetRoutes,
  },
`,
  },
  { path: 'api/wiring/routes.ts', at: '  ...systemRoutes,\n', becomes: '  ...widgetRoutes,\n  ...systemRoutes,\n' },
  imported(
    'api/wiring/commands.ts',
    "import { siteCommands } from '../site/commands.ts'",
    "import { widgetCommands } from '../widget/commands.ts'",
  ),
  { path: 'api/wiring/commands.ts', at: '  ...siteCommands,\n', becomes: '  ...siteCommands,\n  ...widgetCommands,\n' },
  imported(
    'api/wiring/stores.ts',
    "import type { QuotaName } from '../../crds/account/quotas.ts'",
    "import { makeWidgetCounts } from '../../controllers/store/widget/widgets.ts'",
  ),
  {
    path: 'api/wiring/stores.ts',
    at: '    sites: makeSiteReservations({ pg }),\n',
    becomes: '    sites: makeSiteReservations({ pg }),\n    widgets: makeWidgetCounts({ pg }),\n',
  },
  {
    path: 'api/wiring/stores.ts',
    at: "  endpoints: Pick<Stores['endpoints'], 'list'>\n",
    becomes: "  endpoints: Pick<Stores['endpoints'], 'list'>\n  widgets: Pick<Stores['widgets'], 'used'>\n",
  },
  {
    path: 'api/wiring/stores.ts',
    at: '    stores.allowance.used(account, day),\n',
    becomes:
      '    stores.allowance.used(account, day),\n    stores.widgets.used(account).then((widgets) => ({ widgets })),\n',
  },
]

/** The kind's own files, from the root of the tree. */
export const ownFiles = (): string[] =>
  globSync('**/*.txt', { cwd: FILES })
    .map((path) => path.replace(/\.txt$/, ''))
    .sort()

export type Copy = {
  /** Adds the kind. @throws when a shared file has another text than is expected */
  add(): void
  /** What differs from the tree as it was, new files one by one. */
  changed(): string[]
  /** Runs a command of the copy. @returns its output @throws with it when it fails */
  run(command: string, args: string[]): Promise<string>
  remove(): void
}

/** The run that this one belongs to is no affair of the copy's commands. */
const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOTTEGA_')))

const git = (folder: string, args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@bottega.test', ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })

const replaceOnce = (folder: string, { path, at, becomes }: Line): void => {
  const file = join(folder, path)
  const parts = readFileSync(file, 'utf8').split(at)
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${at}`)
  writeFileSync(file, parts.join(becomes))
}

/** A tree of its own under `.bottega/`, a repository with everything in its first commit. */
export const copyTree = (): Copy => {
  const copies = join(root, '.bottega', 'copies')
  mkdirSync(copies, { recursive: true })
  const folder = mkdtempSync(join(copies, 'widget-'))
  const kept = git(root, ['ls-files', '--cached', '--others', '--exclude-standard']).split('\n')
  for (const path of globSync(
    kept.filter((name) => name !== ''),
    { cwd: root },
  )) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  git(folder, ['init', '--quiet'])
  git(folder, ['add', '--all', '--', ':!node_modules'])
  git(folder, ['commit', '--quiet', '--no-verify', '--message', 'The tree as it is'])
  return {
    add: () => {
      for (const path of ownFiles()) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        cpSync(join(FILES, `${path}.txt`), join(folder, path))
      }
      for (const line of LINES) replaceOnce(folder, line)
    },
    changed: () =>
      git(folder, ['status', '--porcelain', '--untracked-files=all'])
        .split('\n')
        .map((line) => line.slice(3))
        .filter((path) => path !== '' && path !== 'node_modules')
        .sort(),
    run: (command, args) =>
      new Promise((resolve, reject) => {
        const child = spawn(command, args, { cwd: folder, env: ownEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
        let output = ''
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
        child.on('error', reject)
        child.on('close', (code) => {
          if (code === 0) resolve(output)
          else reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output.slice(-6_000)}`))
        })
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
