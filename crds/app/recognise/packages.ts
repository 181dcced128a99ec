/** What package.json and the file that locks it say of a project: what installs it, what builds it, on which Node. */
import type { ProjectFiles } from './project.ts'

export type PackageJson = {
  scripts: Readonly<Record<string, string>>
  /** Names of dependencies and of those for development. */
  needs: ReadonlySet<string>
  main: string | null
  node: string | null
  manager: string | null
}

const textsIn = (value: unknown): Record<string, string> => {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Null where there is none, or what is there is no package.json. */
export const packageOf = ({ texts }: ProjectFiles): PackageJson | null => {
  const text = texts.get('package.json')
  if (text === undefined) return null
  let read: Record<string, unknown>
  try {
    read = JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return null
  const needs = [...Object.keys(textsIn(read.dependencies)), ...Object.keys(textsIn(read.devDependencies))]
  return {
    scripts: textsIn(read.scripts),
    needs: new Set(needs),
    main: textOrNull(read.main),
    node: textOrNull(textsIn(read.engines).node),
    manager: textOrNull(read.packageManager),
  }
}

const NODE_DEFAULT = 24
const NODE_MIN = 18
const NODE_MAX = 26

/** The major version of Node that a project asks for: `20.x`, `^20.1`, `v20`, `>=18`; the one that most run on otherwise. */
export const nodeMajor = (files: ProjectFiles, { node }: PackageJson): number => {
  const asked = (files.texts.get('.nvmrc') ?? files.texts.get('.node-version') ?? node ?? '').trim()
  const [, sign = '', digits = ''] = /^([~^=v]{0,2}|>=? ?v?)(\d{1,3})/.exec(asked) ?? []
  const major = Number(digits)
  if (digits === '' || major < NODE_MIN || major > NODE_MAX) return NODE_DEFAULT
  return sign.startsWith('>') ? Math.max(major, NODE_DEFAULT) : major
}

/** What compiles when it is installed: the small image has no compiler. */
const COMPILED = ['bcrypt', 'better-sqlite3', 'sqlite3', 'canvas', 'argon2', 'node-gyp', 'isolated-vm', 'libpq']

export const nodeImage = (files: ProjectFiles, given: PackageJson): { build: string; run: string } => {
  const major = nodeMajor(files, given)
  const compiles = files.paths.has('binding.gyp') || COMPILED.some((name) => given.needs.has(name))
  return { build: `node:${major}${compiles ? '' : '-slim'}`, run: `node:${major}-slim` }
}

export type Installing = {
  /** `npm`, `pnpm`, `yarn` or `bun`. */
  tool: string
  /** Null where nothing locks what is installed. */
  lock: string | null
  /** Lines of a Dockerfile: installs everything, and takes away again what only the build needs. */
  install: string[]
  prune: string[]
}

/** What has to lie there before anything is installed. */
const MANIFESTS = [
  'package.json',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  'pnpm-workspace.yaml',
  '.pnpmfile.cjs',
  'bunfig.toml',
]

const majorOf = (manager: string | null, name: string): number | null => {
  const [, found, digits] = /^(\w{1,20})@(\d{1,3})/.exec(manager ?? '') ?? []
  return found === name ? Number(digits) : null
}

const pnpmMajor = ({ texts }: ProjectFiles, given: PackageJson): number => {
  const format = /^lockfileVersion: *'?(\d)/m.exec(texts.get('pnpm-lock.yaml') ?? '')?.[1]
  return majorOf(given.manager, 'pnpm') ?? (format === '9' || format === undefined ? 10 : 8)
}

const npmCached = (command: string): string => `RUN --mount=type=cache,target=/root/.npm ${command}`

type Way = {
  tool: string
  locks: readonly string[]
  lines(files: ProjectFiles, given: PackageJson): Pick<Installing, 'install' | 'prune'>
}

const isModernYarn = ({ paths }: ProjectFiles, given: PackageJson): boolean =>
  paths.has('.yarnrc.yml') || (majorOf(given.manager, 'yarn') ?? 1) > 1

/** In this order: the first whose file is there. */
const WAYS: readonly Way[] = [
  {
    tool: 'pnpm',
    locks: ['pnpm-lock.yaml'],
    lines: (files, given) => ({
      install: [`RUN npm install -g pnpm@${pnpmMajor(files, given)} && pnpm install --frozen-lockfile`],
      prune: ['RUN CI=true pnpm prune --prod'],
    }),
  },
  {
    tool: 'yarn',
    locks: ['yarn.lock'],
    lines: (files, given) =>
      isModernYarn(files, given)
        ? { install: ['RUN npm install -g --force corepack && corepack enable && yarn install --immutable'], prune: [] }
        : {
            install: ['RUN npm install -g --force yarn@1 && yarn install --frozen-lockfile'],
            prune: ['RUN yarn install --frozen-lockfile --production --ignore-scripts --prefer-offline'],
          },
  },
  {
    tool: 'bun',
    locks: ['bun.lock', 'bun.lockb'],
    lines: () => ({ install: ['RUN npm install -g bun@1 && bun install --frozen-lockfile'], prune: [] }),
  },
  {
    tool: 'npm',
    locks: ['package-lock.json', 'npm-shrinkwrap.json'],
    lines: () => ({ install: [npmCached('npm ci')], prune: [npmCached('npm prune --omit=dev')] }),
  },
]

/** How a project is installed: by what its lock file is of; without one what is installed may be another tomorrow. */
export const installing = (files: ProjectFiles, given: PackageJson): Installing => {
  const way = WAYS.find(({ locks }) => locks.some((name) => files.paths.has(name)))
  const lock = way?.locks.find((name) => files.paths.has(name)) ?? null
  const { install, prune } = way?.lines(files, given) ?? {
    install: [npmCached('npm install')],
    prune: [npmCached('npm prune --omit=dev')],
  }
  // Scripts that run while it installs, and workspaces, need files that nobody lists here.
  const isWhole = given.scripts.preinstall ?? given.scripts.postinstall ?? given.scripts.prepare
  const isParted = [...files.paths].some((path) => /^[^/]+\/(?:[^/]+\/)?package\.json$/.test(path))
  const first = isWhole !== undefined || isParted ? ['.'] : MANIFESTS.filter((name) => files.paths.has(name))
  const copied = first[0] === '.' ? '. .' : `${[...first, ...(lock === null ? [] : [lock])].join(' ')} ./`
  return { tool: way?.tool ?? 'npm', lock, install: [`COPY ${copied}`, ...install], prune }
}

export const sayInstalled = ({ tool, lock }: Installing): string =>
  lock === null
    ? 'Nothing locks its dependencies: a later build may install others. Add package-lock.json.'
    : `${lock}: ${tool} installs exactly what it locks.`

/** A script of package.json, by the tool that installs. */
export const runScript = ({ tool }: Installing, name: string): string => `${tool} run ${name}`
