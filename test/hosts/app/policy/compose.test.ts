import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { printProject } from '../../../../crds/app/compose/printing/print.ts'
import { printCells } from '../../../../crds/app/compose/printing/printcell.ts'
import type { Project } from '../../../../crds/app/compose/project.ts'
import { readEnvFile } from '../../../../crds/app/compose/reading/dotenv.ts'
import { expandTemplate, type Variables } from '../../../../crds/app/compose/reading/interpolate.ts'
import { createProgress } from '../../../../hack/lib/progress.ts'
import { ensureTools } from '../../../../hack/lib/tools.ts'
import { deployTargetOf, SAMPLES, type Sample } from '../../../support/builders/compose/composefiles.ts'
import { sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Service = {
  environment?: Record<string, string | null>
  volumes?: { target: string }[]
  tmpfs?: string[]
  build?: { args?: Record<string, string>; target?: string }
  logging?: { driver: string }
  [key: string]: unknown
}
type Config = { services: Record<string, Service> }

const RELEASE = 12

/** Arguments and stage, out of what a builder is told. */
const recipeOf = (options: readonly string[]): Service['build'] => {
  const of = (kind: string) =>
    options.flatMap((option) => (option.startsWith(kind) ? [option.slice(kind.length).split(/=(.*)/s)] : []))
  const args = Object.fromEntries(of('build-arg:').map(([name, value = '']) => [name, value]))
  const target = of('target=')[0]?.join('=')
  return { args, ...(target !== undefined && { target }) }
}

/** Keys that are copied as they are. */
const SAME = [
  ...['command', 'entrypoint', 'healthcheck', 'user', 'working_dir', 'hostname', 'stop_signal', 'stop_grace_period'],
  ...['tty', 'stdin_open', 'read_only', 'shm_size'],
]

const ENV_LINES = String.raw`A=1
 B = two
export C=3
D='single $SET \n'
E='it\'s'
F="double $SET ${'$'}{GONE:-x} \n\t\"q\" \\ \z"
G="cost \$5"
H=un quoted # tail
I=a#b
J=
K=""
L=''
M=$SET/x
N=${'$'}{A}${'$'}{GONE}
O: yaml
P="multi
line"
Q='a

b'
# comment

SET
GONE
R=it's
S=x"y
T='x' y
U="x" # y
V=$$x
W="$$x"
X.Y-Z=1
1A=2
AA=a=b
BB=${'$'}{GONE-}
CC="${'$'}{SET:+yes}"
DD=\n
EE=a\b
FF=   # only
GG=é"ü
	HH=tab`

const names: Readonly<Record<string, string>> = { SET: 'val$ue', EMPTY: '', OTHER: 'o}{"\\' }
const variables: Variables = { value: (name) => names[name], onMissing: () => undefined, room: { left: 1_000_000 } }

/** Templates that Compose takes, nested and odd. */
const templates = fc.letrec<{ template: string; piece: string }>((tie) => {
  const name = fc.constantFrom('SET', 'EMPTY', 'OTHER', 'GONE')
  const operator = fc.constantFrom(':-', '-', ':+', '+')
  return {
    piece: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('', 'a', ' b c ', '$$', '#', "'", '-', ':', '?', '=', 'é'),
      name.map((variable) => `$${variable}.`),
      name.map((variable) => `\${${variable}}`),
      fc.tuple(name, operator, tie('template')).map(([variable, sign, inner]) => `\${${variable}${sign}${inner}}`),
    ),
    template: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
  }
}).template

spec('what the policy prints, read by the real Compose', (t) => {
  let compose = ''
  const folders: string[] = []

  t.before(async () => {
    compose = (await ensureTools(['docker-compose'], { progress: createProgress() })).path('docker-compose')
  })
  t.after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  const folderWith = (files: Readonly<Record<string, string>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'bottega-compose-'))
    folders.push(folder)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return folder
  }

  /** What Compose makes of a file, with nothing in its environment but `env`. */
  const configOf = (folder: string, file: string, env: Readonly<Record<string, string>> = {}): Config => {
    const { status, stdout, stderr } = spawnSync(compose, ['-f', file, 'config', '--format', 'json'], {
      cwd: folder,
      env: { HOME: folder, ...env },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as Config
  }

  /** The environment of one service that says nothing else; what Compose prints has each dollar doubled. */
  const environmentOf = (service: object, files: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const folder = folderWith({ ...files, 'v.json': JSON.stringify({ services: { a: { image: 'x', ...service } } }) })
    const read = configOf(folder, 'v.json', names).services.a?.environment ?? {}
    return Object.fromEntries(
      Object.entries(read).flatMap(([key, value]) => (value === null ? [] : [[key, value.replaceAll('$$', '$')]])),
    )
  }

  const projectOf = (sample: Sample): Project => {
    const verdict = judgeCompose(sourceOf(sample.files), deployTargetOf(sample))
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.findings))
    return verdict.project
  }

  /** Each service as Compose understands it after us, by the name that it has in the file. */
  const rebuilt = (sample: Sample): Map<string, Service> => {
    const project = projectOf(sample)
    const { base, release } = printProject(project, RELEASE, 'origin')
    const read = (document: typeof base): [string, Service][] => {
      if (!document) return []
      const folder = folderWith({ 'document.json': document.text })
      return Object.entries(configOf(folder, 'document.json').services)
    }
    const built = new Map(printCells(project).map(({ service, options }) => [service, recipeOf(options)]))
    return new Map(
      [...read(base), ...read(release)].map(([key, service]) => {
        const name = key.replace(new RegExp(`-r${RELEASE}$`), '')
        const recipe = built.get(name)
        return [name, recipe ? { ...service, build: recipe } : service]
      }),
    )
  }

  const targetsOf = ({ volumes = [], tmpfs = [] }: Service): string[] =>
    [...volumes.map(({ target }) => target), ...tmpfs.map((entry) => entry.split(':')[0] ?? '')].sort()

  const checkSame = (name: string, ours: Service, asked: Service, env: Readonly<Record<string, string>>): void => {
    for (const key of SAME) assert.equal(ours[key], asked[key], `${name} ${key}`)
    const said = Object.entries(asked.environment ?? {}).filter(([, value]) => value !== null)
    const given = ours.environment ?? {}
    for (const [key, value] of said) assert.is(given[key], value, `${name} ${key}`)
    const more = Object.keys(given).filter((key) => !said.some(([known]) => known === key))
    assert.ok(
      more.every((key) => key in env),
      `${name} has ${more}`,
    )
    assert.equal(targetsOf(ours), targetsOf(asked), name)
    assert.equal([ours.build?.args ?? {}, ours.build?.target], [asked.build?.args ?? {}, asked.build?.target], name)
  }

  for (const sample of SAMPLES) {
    const { env } = deployTargetOf(sample)

    t(`means the same as the file for ${sample.sentence}`, () => {
      const asked = configOf(folderWith(sample.files), 'docker-compose.yml', env).services
      const given = rebuilt(sample)
      assert.equal([...given.keys()].sort(), Object.keys(asked).sort())
      for (const [name, service] of Object.entries(asked)) checkSame(name, given.get(name) ?? {}, service, env)
    })

    t(`is held for ${sample.sentence}`, () => {
      for (const [name, service] of rebuilt(sample)) {
        assert.equal(service.cap_drop, ['ALL'], name)
        assert.equal(service.security_opt, ['no-new-privileges:true'], name)
        assert.is(service.mem_limit, service.memswap_limit, name)
        assert.ok(Number(service.pids_limit) > 0 && Number(service.cpus) > 0 && Number(service.mem_limit) > 0, name)
        assert.is(service.logging?.driver, 'json-file', name)
      }
    })
  }

  t('would be seen if Compose did not take it', () => {
    const folder = folderWith({ 'x.json': '{"services": {"a": {"imag": "x"}}}' })
    assert.throws(() => configOf(folder, 'x.json'), /imag/)
  })

  t('puts variables in as Compose does', () => {
    const texts = fc.sample(templates, { numRuns: 400, seed: 5 })
    const environment = Object.fromEntries(texts.map((text, index) => [`V${index}`, text]))
    const theirs = environmentOf({ environment })
    for (const [key, text] of Object.entries(environment)) {
      assert.is(expandTemplate(text, variables), theirs[key], JSON.stringify(text))
    }
  })

  t('reads env files as Compose does', () => {
    const theirs = environmentOf({ env_file: ['x.env'] }, { 'x.env': ENV_LINES })
    const ours = readEnvFile(ENV_LINES, variables)
    if (!('values' in ours)) throw new Error(`line ${ours.line}: ${ours.detail}`)
    assert.equal(Object.fromEntries([...ours.values].sort()), Object.fromEntries(Object.entries(theirs).sort()))
  })

  for (const line of ['A="x', "A='x", 'A B=1', '$A=1', 'A=$' + '{X', 'A=$' + '{GONE:?no}', '"A"=1']) {
    t(`refuses the env file ${JSON.stringify(line)}, as Compose does`, () => {
      assert.throws(() => environmentOf({ env_file: ['x.env'] }, { 'x.env': line }))
      assert.not('values' in readEnvFile(line, variables))
    })
  }
})
