import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { cacheOf } from './files.ts'
import { withLock } from './lock.ts'
import type { Progress, Step } from './progress.ts'
import { ensureVenv, venvFolder } from './python/venv.ts'
import { CommandRefusal } from './refusal.ts'
import { pythonGroups, type ToolGroup, toolGroups } from './tooltable.ts'

export type BuiltTools = { path(name: string): string }

const groupsFolder = join(import.meta.dirname, '..', 'platform', 'gotools')
const oldestGo = [1, 24] as const
const warmBytes = 4 * 1024 ** 3
/** With more memory than this the compilers collect seldom, which is another eighth of their time. */
const roomyBytes = 12 * 1024 ** 3
const envtestTools = new Set(['etcd', 'kube-apiserver', 'kubectl'])

/**
 * Makes the named tools available, building what is missing, one `go install` or venv per group, and gives their paths.
 * Two callers at once do not compile twice. `KUBEBUILDER_ASSETS` (envtest's convention) wins for etcd, kube-apiserver
 * and kubectl. Throws a Refusal when Go, Python, the disk or a registry is in the way.
 */
export async function ensureTools(names: readonly string[], { progress }: { progress: Progress }): Promise<BuiltTools> {
  const paths = new Map(names.map((name) => [name, toolPath(name)]))
  const missing = names.filter((name) => !existsSync(paths.get(name) ?? ''))
  for (const [groupName, group] of Object.entries(toolGroups)) {
    const wanted = missing.filter((name) => name in group.tools)
    if (wanted.length > 0) await buildGroup(groupName, group, wanted, progress)
  }
  for (const [groupName, names] of Object.entries(pythonGroups))
    if (missing.some((name) => names.includes(name))) await ensureVenv(groupName, names, { progress })
  return {
    path(name) {
      const path = paths.get(name)
      if (path === undefined) throw new Error(`ensureTools was not asked for ${name}`)
      return path
    },
  }
}

/** Where a tool is, or will be once built. Throws a Refusal (exit code 2) for a name that is in no group. */
export function toolPath(name: string): string {
  const assets = process.env.KUBEBUILDER_ASSETS
  if (assets && envtestTools.has(name) && existsSync(join(assets, name))) return join(assets, name)
  for (const [groupName, group] of Object.entries(toolGroups)) {
    if (name in group.tools) return join(cacheFolder(groupName, group), name)
  }
  for (const [groupName, names] of Object.entries(pythonGroups))
    if (names.includes(name)) return join(venvFolder(groupName), name)
  const known = [...Object.values(toolGroups).map((group) => Object.keys(group.tools)), ...Object.values(pythonGroups)]
  throw new CommandRefusal(`There is no tool ${name}; known are ${known.flat().join(', ')}.`, { exitCode: 2 })
}

/** Keyed by everything that decides the bytes, so a changed go.mod never meets an old binary. */
function cacheFolder(groupName: string, group: ToolGroup): string {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(groupsFolder, groupName, file)))
  hash.update(group.ldflags.join(' '))
  return join(cacheOf('tools'), `${groupName}-${hash.digest('hex').slice(0, 16)}`)
}

async function buildGroup(groupName: string, group: ToolGroup, names: readonly string[], progress: Progress) {
  const folder = cacheFolder(groupName, group)
  const step = progress.step(`building ${names.join(', ')} from Go modules`)
  const onWait = () => step.update('another command is building them; waiting for it')
  try {
    await withLock(
      folder,
      async () => {
        const missing = names.filter((name) => !existsSync(join(folder, name)))
        if (missing.length > 0) await compile(groupName, group, { folder, missing, step })
      },
      onWait,
    )
  } catch (error) {
    step.fail()
    throw error
  }
  step.done(folder)
}

type Compilation = { folder: string; missing: readonly string[]; step: Step }

async function compile(groupName: string, group: ToolGroup, { folder, missing, step }: Compilation): Promise<void> {
  const goEnv = readGoEnvironment()
  mkdirSync(folder, { recursive: true })
  // what a builder that was ended left, for nobody else builds here now
  for (const left of globSync('.partial-*', { cwd: folder }))
    rmSync(join(folder, left), { recursive: true, force: true })
  const warm = existsSync(join(goEnv.GOMODCACHE, group.probeModule))
  demandRoom(
    [goEnv.GOMODCACHE, goEnv.GOCACHE, folder, tmpdir()],
    warm ? Math.min(warmBytes, group.coldBytes) : group.coldBytes,
  )
  const tools = missing.flatMap((name) => (group.tools[name] ? [{ name, ...group.tools[name] }] : []))
  const packages = tools.map((tool) => tool.package)
  const cwd = join(groupsFolder, groupName)
  const partial = mkdtempSync(join(folder, '.partial-')) // in the same file system, so that the rename below is atomic
  try {
    const total = await countPackages(packages, cwd, step)
    // -s -w leave out what debuggers read, so it need not be made: an eighth of the processor time
    const flags = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false', `-ldflags=${group.ldflags.join(' ')}`]
    await runGo(['install', '-v', ...flags, ...packages], {
      cwd,
      env: { GOBIN: partial, ...(totalmem() > roomyBytes && { GOGC: process.env.GOGC ?? '400' }) },
      onLine: packageCounter(total, step),
    })
    for (const tool of tools) renameSync(join(partial, tool.builtAs), join(folder, tool.name))
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

function readGoEnvironment(): { GOMODCACHE: string; GOCACHE: string } {
  const got = spawnSync('go', ['env', '-json', 'GOVERSION', 'GOMODCACHE', 'GOCACHE'], { encoding: 'utf8', cwd: '/' })
  const atLeast = oldestGo.join('.')
  if (got.status !== 0)
    throw new CommandRefusal(`Go ${atLeast} or later is needed to build the control plane and is not installed.`)
  const env: { GOVERSION: string; GOMODCACHE: string; GOCACHE: string } = JSON.parse(got.stdout)
  const [, major = '0', minor = '0'] = /^go(\d+)\.(\d+)/.exec(env.GOVERSION) ?? []
  if (Number(major) < oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) < oldestGo[1])) {
    throw new CommandRefusal(`Go ${atLeast} or later is needed to build the control plane, this is ${env.GOVERSION}.`)
  }
  return env
}

/** Compiling for minutes and then meeting a full disk is the worst order: look first. */
function demandRoom(folders: readonly string[], bytes: number): void {
  for (const folder of folders) {
    const { bavail, bsize } = statfsSync(nearestExisting(folder))
    if (bavail * bsize >= bytes) continue
    const gib = (value: number) => (value / 1024 ** 3).toFixed(1)
    throw new CommandRefusal(
      `Building the tools needs ${gib(bytes)} GiB free, the disk of ${folder} has ${gib(bavail * bsize)}: make room and run it again.`,
    )
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

type GoRun = { cwd: string; env?: Record<string, string>; onLine(line: string): void; onOutput?(line: string): void }

/** Runs `go`, feeding each line of stderr to `onLine`; throws a Refusal with the last telling lines when it fails. */
async function runGo(args: readonly string[], { cwd, env = {}, onLine, onOutput = () => {} }: GoRun): Promise<void> {
  const child = spawn('go', args, {
    cwd,
    env: { ...process.env, CGO_ENABLED: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const tail: string[] = []
  createInterface({ input: child.stdout }).on('line', onOutput)
  createInterface({ input: child.stderr }).on('line', (line) => {
    onLine(line)
    const isProgress = /^[\w./-]+$/.test(line) || line.startsWith('go: downloading')
    if (!isProgress) tail.push(line)
  })
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw explainGo(args[0] ?? '', tail.slice(-12).join('\n'))
}

function explainGo(what: string, detail: string): CommandRefusal {
  if (/no space left on device/.test(detail))
    return new CommandRefusal('The disk ran full while Go built the tools: make room and run it again.', { detail })
  if (/requires go >= ([\d.]+)/.test(detail)) {
    const wanted = /requires go >= ([\d.]+)/.exec(detail)?.[1]
    return new CommandRefusal(
      `The tools need Go ${wanted}, and this Go may not fetch it: install it, or set GOTOOLCHAIN=auto.`,
      { detail },
    )
  }
  if (/dial tcp|no such host|i\/o timeout|connection refused|TLS handshake|proxyconnect/.test(detail)) {
    return new CommandRefusal('Go could not reach its module proxy: check the network and GOPROXY.', { detail })
  }
  return new CommandRefusal(`go ${what} failed (see above).`, { detail })
}

/** Loads the package graph, which also downloads the modules it needs, and gives the number of packages to compile. */
async function countPackages(packages: readonly string[], cwd: string, step: Step): Promise<number> {
  let modules = 0
  let count = 0
  step.update('reading the package graph')
  const onLine = (line: string) => {
    if (line.startsWith('go: downloading')) step.update(`modules fetched: ${++modules}`)
  }
  await runGo(['list', '-deps', ...packages], { cwd, onLine, onOutput: () => ++count })
  return Math.max(count, 1)
}

/** `go install -v` names each package that it compiles; from a warm cache it names few and links soon. */
function packageCounter(total: number, step: Step): (line: string) => void {
  let done = 0
  return (line) => {
    if (/\s/.test(line)) return
    done += 1
    step.update(`packages ${done}/${total}`, done / total)
  }
}
