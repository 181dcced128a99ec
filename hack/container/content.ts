import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { SANS_WEIGHTS, SERIF_WEIGHTS } from '../../crds/site/render/type/han.ts'
import { ensurePackages } from '../lib/apt.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { root } from '../lib/state.ts'
import { buildBundle, bundleName } from './bundle.ts'
import { type Entry, entriesOf } from './layer.ts'
import { memoryEnv } from './memory.ts'
import { billOfMaterials } from './sbom.ts'

/** What is in the image of Bottega: node with the libraries it loads, the packages of production, our own code. */

/** Who the processes run as. */
export const imageUser = 65_532
const home = '/app'

const systemFiles: Readonly<Record<string, string>> = {
  'etc/passwd': [
    'root:x:0:0::/root:/sbin/nologin',
    `node:x:${imageUser}:${imageUser}::/home/node:/sbin/nologin`,
    'nobody:x:65534:65534::/:/sbin/nologin',
    '',
  ].join('\n'),
  'etc/group': `root:x:0:\nnode:x:${imageUser}:\nnogroup:x:65534:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/** OpenSSH, by which the provisioner looks into the machines that it launched. */
const SSH = ['/usr/bin/ssh', '/usr/bin/ssh-keyscan']

/** Node and what its loader needs. Certificate roots and time zones are inside node; a shell is wanted by nobody. */
export function baseEntries(): Entry[] {
  ensurePackages(
    SSH.map((file) => ({ name: 'openssh-client', files: [file] })),
    { what: 'The image' },
  )
  const node = nodeBinary()
  const native = productionPackages().flatMap((folder) =>
    entriesOf(join(root, folder), folder, (path) => /\.(node|so[.\d]*)$/.test(path)),
  )
  const loaded = native.flatMap((entry) => (entry.type === 'file' ? [entry.source] : []))
  const libraries = librariesOf([node, ...SSH, ...loaded])
  return [
    { type: 'file', path: 'usr/local/bin/node', mode: 0o755, source: node },
    ...SSH.map((source): Entry => ({ type: 'file', path: `usr/local/bin/${basename(source)}`, mode: 0o755, source })),
    ...libraries.map((path): Entry => ({ type: 'file', path: path.slice(1), mode: 0o755, source: path })),
    ...Object.entries(systemFiles).map(([path, text]): Entry => ({ type: 'text', path, mode: 0o644, text })),
    ...['app', 'dev', 'home/node', 'proc', 'run', 'sys'].map(
      (path): Entry => ({ type: 'directory', path, mode: 0o755 }),
    ),
    { type: 'directory', path: 'tmp', mode: 0o1777 },
  ]
}

function nodeBinary(): string {
  const path = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  if (existsSync(path)) return path
  throw new CommandRefusal(
    `There is no Node for linux-${process.arch} in node_modules: run npm ci on Linux, x64 or arm64.`,
  )
}

/** Shared libraries of the machine that these binaries load, without those they bring along. */
function librariesOf(binaries: readonly string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync('ldd', [...binaries], { encoding: 'utf8' })
  if (status !== 0) {
    throw new CommandRefusal(
      'ldd could not name the libraries of node (see above); an image is made on Linux with glibc.',
      {
        detail: error ? error.message : stderr.trim(),
      },
    )
  }
  if (/not found$/m.test(stdout)) {
    const missing = stdout.split('\n').flatMap((line) => /^\s*(\S+) => not found$/.exec(line)?.[1] ?? [])
    throw new CommandRefusal(`Libraries are missing on this machine: ${missing.join(', ')}.`)
  }
  const paths = stdout.split('\n').flatMap((line) => /^\s+(?:\S+ => )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  return [...new Set(paths)].filter((path) => relative(root, path).startsWith('..')).sort()
}

type Locked = { version: string; dev?: boolean; devOptional?: boolean; optional?: boolean }

const lockedPackages = (): Record<string, Locked> =>
  JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages

/** Folders of the packages that production needs and this machine's platform has, as package-lock.json names them. */
function productionPackages(): string[] {
  return Object.entries(lockedPackages()).flatMap(([folder, { dev, devOptional, optional }]) => {
    if (folder === '' || dev || devOptional || folder.startsWith('node_modules/node-linux-')) return []
    if (existsSync(join(root, folder))) return [folder]
    if (optional) return []
    throw new CommandRefusal(`${folder} is not installed: run npm ci and make the image again.`)
  })
}

/** Never read by node at run time. */
const unread = /\.(map|d\.[cm]?ts)$|(^|\/)node_modules\/\.|(^|\/)\.github\//
/**
 * Typefaces come in nine weights and with specimens: documents are set in two (controllers/io/pdf/typefaces.ts), Chinese pages in
 * those of crds/site/render/type/han.ts.
 */
const isUnusedWeight = (folder: string, path: string): boolean =>
  path.endsWith('.ttf.png') ||
  path
    .split('/')
    .slice(0, -1)
    .some((part) => WEIGHT.test(part) && !weightsOf(folder).includes(Number(part.slice(0, 3))))
const WEIGHT = /^[1-9]00[A-Z]\w*$/
const DOCUMENTS: readonly number[] = [400, 700]
const weightsOf = (folder: string): readonly number[] => {
  if (/noto-serif-(sc|tc)$/.test(folder)) return SERIF_WEIGHTS
  return /noto-sans-(sc|tc)$/.test(folder) ? [...DOCUMENTS, ...SANS_WEIGHTS] : DOCUMENTS
}

/** The packages, each without what is nested in it: those are packages of the list themselves. */
export function packageEntries(): Entry[] {
  return productionPackages().flatMap((folder) =>
    entriesOf(
      join(root, folder),
      join(home.slice(1), folder),
      (path) => !unread.test(path) && !isUnusedWeight(folder, path) && !/(^|\/)node_modules(\/|$)/.test(path),
    ),
  )
}

const ownFolders = ['api', 'controllers', 'crds']

/** Everything that is not ours, as a list. @param base what `baseEntries` gave */
export function bomEntry(base: readonly Entry[]): Entry {
  const locked = lockedPackages()
  const named = (folder: string) => `${folder.replace(/^.*node_modules\//, '')}@${locked[folder]?.version}`
  const files = base.flatMap((entry) => (entry.type === 'file' ? [entry.source] : []))
  const text = billOfMaterials({
    packages: new Set(productionPackages().map(named)),
    node: locked[`node_modules/node-linux-${process.arch}`]?.version ?? '',
    files: files.filter((file) => relative(root, file).startsWith('..')),
  })
  return { type: 'text', path: join(home.slice(1), 'sbom.cdx.json'), mode: 0o644, text }
}

/** Our own code: the processes run from the bundle, everything else (set-up, reconcile, threads) from the sources. */
export async function ownEntries(): Promise<Entry[]> {
  const at = (path: string) => join(home.slice(1), path)
  const single = (path: string): Entry => ({ type: 'file', path: at(path), mode: 0o644, source: join(root, path) })
  return [
    single('package.json'),
    single('LICENSE'),
    ...ownFolders.flatMap((folder) => entriesOf(join(root, folder), at(folder))),
    ...(await buildBundle()).map(
      ({ path, text }): Entry => ({ type: 'text', path: at(join(bundleName, path)), mode: 0o644, text }),
    ),
  ]
}

/** How containers of the image start, unless told otherwise. */
export const imageConfig = {
  Entrypoint: ['/usr/local/bin/node'],
  Cmd: [`${bundleName}/api.js`],
  User: `${imageUser}:${imageUser}`,
  WorkingDir: home,
  Env: [
    'PATH=/usr/local/bin',
    'HOME=/home/node',
    'NODE_ENV=production',
    ...Object.entries(memoryEnv).map(([name, value]) => `${name}=${value}`),
  ],
}
