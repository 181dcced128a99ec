import fc from 'fast-check'
import { type ComposeVerdict, envFilesOf, judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { printProject } from '../../../../crds/app/compose/printing/print.ts'
import { printCells } from '../../../../crds/app/compose/printing/printcell.ts'
import type { Project } from '../../../../crds/app/compose/project.ts'
import { deployTargetOf, SAMPLES } from '../../../support/builders/compose/composefiles.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Json = { [key: string]: unknown }

/** Everything that may be in a printed document: `*` stands for any name, null for a value without an inside. */
const ANY = null
const PRINTED: Json = {
  name: ANY,
  services: {
    '*': {
      image: ANY,
      command: ANY,
      entrypoint: ANY,
      environment: { '*': ANY },
      restart: ANY,
      init: ANY,
      read_only: ANY,
      user: ANY,
      healthcheck: { test: ANY, interval: ANY, timeout: ANY, start_period: ANY, retries: ANY, disable: ANY },
      working_dir: ANY,
      hostname: ANY,
      stop_signal: ANY,
      stop_grace_period: ANY,
      shm_size: ANY,
      tty: ANY,
      stdin_open: ANY,
      ulimits: { nofile: { soft: ANY, hard: ANY } },
      tmpfs: ANY,
      cap_drop: ANY,
      cap_add: ANY,
      security_opt: ANY,
      pids_limit: ANY,
      cpus: ANY,
      volumes: { '*': { type: ANY, source: ANY, target: ANY, read_only: ANY, bind: { create_host_path: ANY } } },
      mem_limit: ANY,
      memswap_limit: ANY,
      logging: { driver: ANY, options: { 'max-size': ANY, 'max-file': ANY } },
      depends_on: { '*': { condition: ANY, restart: ANY, required: ANY } },
      networks: { '*': { aliases: ANY } },
      ports: ANY,
      labels: { 'dev.bottega.app': ANY, 'dev.bottega.disk': ANY, 'dev.bottega.release': ANY },
    },
  },
  networks: {
    '*': {
      driver: ANY,
      driver_opts: { 'com.docker.network.bridge.name': ANY },
      internal: ANY,
      labels: { 'dev.bottega.app': ANY },
      name: ANY,
      external: ANY,
    },
  },
  volumes: { '*': { name: ANY, labels: { 'dev.bottega.app': ANY } } },
}

/** Of Docker's own fourteen; over what belongs to the container itself. */
const RIGHTS = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID']

/** Everything that a builder may be told. */
const TOLD = ['cmdline', 'filename', 'target', 'no-cache', 'image-resolve-mode', 'build-arg:']

const strangers = (value: unknown, allowed: unknown, path = ''): string[] => {
  if (allowed === ANY) return []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const table = allowed as Json
    const known = Object.hasOwn(table, key) ? key : '*'
    return Object.hasOwn(table, known) ? strangers(inner, table[known], `${path}/${key}`) : [`${path}/${key}`]
  })
}

const documentsOf = (project: Project): Json[] => {
  const { base, release, placed, baseFiles } = printProject(project, 7, 'origin')
  for (const { path } of placed) assert.match(path, /^(base|r7)\/(?!(.*\/)?\.\.(\/|$))/)
  for (const { from, to } of baseFiles) assert.not.match(`${from} ${to}`, /(^|[/ ])\.\.|(^| )\//)
  return [base, release].flatMap((document) => (document ? [JSON.parse(document.text) as Json] : []))
}

const servicesOf = (document: Json): Json[] => Object.values(document.services as Json) as Json[]

const checkBuilds = (project: Project): void => {
  for (const { context, recipe, options } of printCells(project)) {
    for (const folder of [context, recipe]) assert.match(folder, /^(?!\/)(?!(.*\/)?\.\.(\/|$))/)
    const names = options.map((option) => option.replace(/^(build-arg:)?([^=]*)=.*$/s, (_, arg, name) => arg ?? name))
    for (const name of names) assert.ok(TOLD.includes(name), name)
  }
}

/** What must hold of a project that was accepted, whatever was asked for. */
const checkHeld = (project: Project): void => {
  const documents = documentsOf(project)
  for (const document of documents) assert.equal(strangers(document, PRINTED), [])
  checkBuilds(project)
  const running = documents.flatMap(servicesOf)
  for (const service of running) {
    assert.equal(service.cap_drop, ['ALL'])
    assert.equal(
      ((service.cap_add ?? []) as string[]).filter((right) => !RIGHTS.includes(right)),
      [],
    )
    assert.equal(service.security_opt, ['no-new-privileges:true'])
    assert.ok(Number(service.pids_limit) <= 1024 && Number(service.mem_limit) > 0 && Number(service.cpus) > 0)
    for (const mount of (service.volumes ?? []) as Json[]) {
      if (mount.type === 'bind')
        assert.match(String(mount.source), /^\.\/(source|files|sealed)(\/(?!\.\.(\/|$))[^/]+)*$/)
      if (mount.type === 'bind') assert.is(mount.read_only, true)
    }
  }
  const limits = project.services.map((service) => service.limits)
  assert.ok(limits.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) <= shared.budget.memoryMib * 1_048_576)
  assert.ok(limits.reduce((sum, { cpuMillis }) => sum + cpuMillis, 0) <= shared.budget.cpuMillis)
  const ports = running.flatMap((service) => (service.ports ?? []) as string[])
  assert.equal(ports, [`127.0.0.1::${project.route.port}`])
  for (const document of documents) checkOutside(document, project.slug)
  const names = project.services.flatMap(({ networks }) => Object.values(networks).flat())
  assert.ok(names.every((name) => /^[a-z0-9][a-z0-9_.-]{0,62}$/i.test(name)))
}

/** Networks and volumes are the app's own; a release may join those of the base and no other. */
const checkOutside = (document: Json, slug: string): void => {
  for (const [key, network] of Object.entries((document.networks ?? {}) as Json)) {
    const { external, name } = network as Json
    if (external !== undefined) assert.ok(key.startsWith('_base_'))
    if (name !== undefined) assert.ok(String(name).startsWith(`${slug}-base_`))
  }
  for (const volume of Object.values((document.volumes ?? {}) as Json)) {
    assert.ok(String((volume as Json).name).startsWith(`${slug}-base_`))
  }
}

/** Whatever has a port of the host, or a container's own name, is told as changed. */
const checkTold = (asked: { services: object }, { changes }: { changes: readonly { pointer: string }[] }): void => {
  for (const [name, keys] of Object.entries(asked.services) as [string, Json][]) {
    if (Array.isArray(keys.profiles) && keys.profiles.length > 0) continue
    if (typeof keys.container_name === 'string' && keys.container_name !== '')
      assert.ok(changes.some(({ pointer }) => pointer === `/services/${name}/container_name`))
    for (const [place, port] of Array.isArray(keys.ports) ? keys.ports.entries() : []) {
      if (!String(port).includes(':')) continue
      assert.ok(changes.some(({ pointer }) => pointer === `/services/${name}/ports/${place}`))
    }
  }
}

const judgeText = (text: string, env: Record<string, string> = {}): ComposeVerdict =>
  judgeCompose(sourceOf({ Dockerfile: 'FROM x', 'a.conf': '1', 'a.env': 'A=1', 'docker-compose.yml': text }), {
    ...shared,
    env: { A: 'value-of-a', ...env },
  })

const accepted = (verdict: ComposeVerdict): Project => {
  if (verdict.ok) return verdict.project
  throw new Error(verdict.findings.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n'))
}

/** Values for keys, good ones and bad ones. */
const scalar = fc.constantFrom<unknown>(
  true,
  false,
  null,
  0,
  1,
  2,
  80,
  8080,
  '',
  'x',
  'no',
  'host',
  '1.5',
  '10s',
  '64m',
  'web',
  '/x',
  './a.conf:/x:ro',
  'data:/d',
  '/var/run/docker.sock:/s',
  'A=1',
  '80:8080',
  '127.0.0.1:5432:5432',
  '53:53/udp',
  './data:/data',
  './d:/x/y',
  '../up:/x',
  's',
  'db:store',
  'CHOWN',
  'SYS_ADMIN',
  'bridge',
  '/etc/shadow',
  'a.conf',
  '$$',
  `\${A:-b}`,
  'linux/arm64',
  'default',
)
const value = fc.oneof(
  { maxDepth: 3 },
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(
    fc.constantFrom(
      'test',
      'interval',
      'context',
      'args',
      'resources',
      'limits',
      'cpus',
      'memory',
      'web',
      'db',
      'A',
      'target',
      'source',
      'type',
      'condition',
      'default',
      'aliases',
    ),
    scalar,
    { maxKeys: 4 },
  ),
)
const KEYS = [
  'build',
  'command',
  'entrypoint',
  'environment',
  'env_file',
  'depends_on',
  'healthcheck',
  'volumes',
  'tmpfs',
  'networks',
  'ports',
  'restart',
  'deploy',
  'cpus',
  'mem_limit',
  'pids_limit',
  'user',
  'working_dir',
  'hostname',
  'init',
  'read_only',
  'tty',
  'stop_signal',
  'stop_grace_period',
  'shm_size',
  'ulimits',
  'cap_drop',
  'cap_add',
  'security_opt',
  'platform',
  'logging',
  'ipc',
  'privileged',
  'pid',
  'network_mode',
  'devices',
  'labels',
  'sysctls',
  'extra_hosts',
  'container_name',
  'secrets',
  'configs',
  'profiles',
  'runtime',
  'volumes_from',
  'links',
  'x-bottega-stateful',
  'x-other',
]
const service = fc
  .tuple(
    fc.constantFrom('nginx:1.27', 'acme/x:2'),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 2 }),
  )
  .map(([image, keys]) => ({ image, ...Object.fromEntries(keys) }))
const file = fc.record({
  services: fc.record({ web: service.map((keys) => ({ expose: [8080], ...keys })), db: service }),
  volumes: fc.constantFrom<unknown>({}, { data: {} }, { data: { external: true } }),
  secrets: fc.constantFrom<unknown>(
    {},
    { s: { content: 'y' } },
    { s: { file: 'a.conf' } },
    { s: { file: '/etc/shadow' } },
    { s: { environment: 'A' } },
  ),
  configs: fc.constantFrom<unknown>({}, {}, { s: { content: 'x' } }, { s: { external: true } }),
})

/** Few of the generated files are good in every key; these are asked for by many. */
const RUNS = 2000

spec('a compose project as rebuilt', (t) => {
  for (const sample of SAMPLES) {
    t(`runs ${sample.sentence} and keeps what must hold`, () => {
      checkHeld(accepted(judgeCompose(sourceOf(sample.files), deployTargetOf(sample))))
    })
    t(`is the same each time for ${sample.sentence}`, () => {
      const once = judgeCompose(sourceOf(sample.files), deployTargetOf(sample))
      const again = judgeCompose(
        sourceOf(Object.fromEntries(Object.entries(sample.files).reverse())),
        deployTargetOf(sample),
      )
      assert.equal(again, once)
      assert.equal(printProject(accepted(again), 3, 'origin'), printProject(accepted(once), 3, 'origin'))
    })
  }

  t(
    'never holds a key that is not in the list, whatever was asked for',
    () => {
      let good = 0
      fc.assert(
        fc.property(file, (asked) => {
          const text = JSON.stringify(asked)
          const verdict = judgeText(text)
          assert.equal(judgeText(text), verdict)
          if (!verdict.ok) return assert.ok(verdict.findings.some(({ level }) => level === 'refuse'))
          good += 1
          checkHeld(verdict.project)
          checkTold(asked, verdict)
        }),
        { numRuns: RUNS },
      )
      assert.ok(good > RUNS / 20, `only ${good} of ${RUNS} were accepted`)
    },
    { timeoutMs: 120_000 },
  )

  t('would show a key that does not belong', () => {
    assert.equal(strangers({ services: { web: { image: 'x', privileged: true } } }, PRINTED), [
      '/services/web/privileged',
    ])
  })

  t(
    'is judged without a throw whatever its bytes are',
    () => {
      const texts = SAMPLES.map(({ files }) => files['docker-compose.yml'] ?? '')
      const odd = [
        '{',
        '[',
        '&a ',
        '*a',
        '<<: ',
        '"',
        "'",
        '|',
        '\t',
        '\n',
        '- ',
        ': ',
        '!',
        '%',
        '#',
        '\0',
        '\u{1f600}',
        `\${`,
        '}',
        '$',
        '---\n',
        '\ud800',
        '..',
        '? ',
      ]
      const change = fc.tuple(fc.nat(), fc.nat(12), fc.constantFrom(...odd), fc.integer({ min: 1, max: 40 }))
      fc.assert(
        fc.property(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 6 }), (text, changes) => {
          let changed = text
          for (const [at, cut, put, times] of changes) {
            const place = at % (changed.length + 1)
            changed = changed.slice(0, place) + put.repeat(times) + changed.slice(place + cut)
          }
          const verdict = judgeText(changed, { A: 'x', DB_PASSWORD: 'y' })
          if (verdict.ok) checkHeld(verdict.project)
        }),
        { numRuns: 800 },
      )
    },
    { timeoutMs: 120_000 },
  )

  t('names the env files that are to be read: those that are there, and never by a variable', () => {
    const files = {
      'docker-compose.yml': `services: {a: {env_file: ["\${WHICH}.env", b.env, gone.env, ../x.env]}}`,
      'a.env': '',
      'b.env': '',
    }
    assert.equal(envFilesOf(sourceOf(files), { ...shared, env: { WHICH: 'a' } }), ['b.env'])
  })
})
