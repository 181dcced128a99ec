import { judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { type DeployPlan, planRelease, summariseRelease } from '../../../../crds/app/compose/printing/plan.ts'
import { printProject } from '../../../../crds/app/compose/printing/print.ts'
import type { DeployTarget, Project } from '../../../../crds/app/compose/project.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const FILES = {
  'web/Dockerfile': 'FROM scratch',
  'web/server.js': '1',
  'conf/db.conf': 'a',
  'conf/web.conf': 'b',
  README: 'x',
}

type Asked = { files?: Record<string, string>; deployTarget?: Partial<DeployTarget> }

const judge = (text: string, { files = {}, deployTarget = {} }: Asked = {}) =>
  judgeCompose(sourceOf({ ...FILES, ...files, 'docker-compose.yml': text }), { ...shared, ...deployTarget })

const project = (text: string, asked?: Asked): Project => {
  const verdict = judge(text, asked)
  if (verdict.ok) return verdict.project
  throw new Error(verdict.findings.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n'))
}

const warnings = (text: string, asked?: Asked): string[] => {
  const verdict = judge(text, asked)
  const findings = verdict.ok ? verdict.warnings : verdict.findings
  return findings.map(({ level, rule, pointer }) => `${level === 'warn' ? '' : 'REFUSED '}${rule} ${pointer}`)
}

type Doc = {
  name: string
  services: Record<string, Record<string, unknown>>
  networks: Record<string, unknown>
  volumes?: unknown
}
const printed = (given: Project, release = 1) => {
  const { base, release: stateless, ...rest } = printProject(given, release, 'origin')
  const read = (document: typeof base): Doc | null => document && (JSON.parse(document.text) as Doc)
  return { base: read(base), release: read(stateless), ...rest }
}

const SHOP = `services:
  web:
    build: ./web
    expose: [8080]
    depends_on: [db, api, migrate]
    networks: [default, back]
    volumes: ["./conf/web.conf:/web.conf:ro"]
  api: { image: "acme/api:1", networks: { back: { aliases: [internal] } }, depends_on: { migrate: { condition: service_completed_successfully } } }
  migrate: { image: "acme/api:1", networks: [back], command: [migrate] }
  db: { image: "acme/db:1", networks: [back], volumes: ["data:/data", "./conf/db.conf:/db.conf:ro"], depends_on: [ca] }
  ca: { image: "acme/ca:1", networks: [back] }
volumes: { data: {} }
networks: { back: { internal: true } }
`

spec('the documents of a release', (t) => {
  t('keep what is stateful, and what it cannot start without, apart from what each release replaces', () => {
    const { base, release } = printed(project(SHOP), 3)
    assert.equal([base?.name, ...Object.keys(base?.services ?? {})], ['shop-base', 'ca', 'db'])
    assert.equal(
      [release?.name, ...Object.keys(release?.services ?? {})],
      ['shop-r3', 'api-r3', 'migrate-r3', 'web-r3'],
    )
  })
  t('call a service by its name on the networks of its release alone, and join those of the base', () => {
    const { release } = printed(project(SHOP), 3)
    assert.equal(release?.services['api-r3']?.networks, { back: { aliases: ['api', 'internal'] }, _base_back: {} })
    assert.equal(release?.services['web-r3']?.networks, {
      back: { aliases: ['web'] },
      default: { aliases: ['web'] },
      _base_back: {},
    })
    assert.equal(release?.networks._base_back, { external: true, name: 'shop-base_back' })
  })
  t('wait within a document only: the base is up before its release', () => {
    const { base, release } = printed(project(SHOP), 3)
    const started = { condition: 'service_started', restart: false, required: true }
    assert.equal(release?.services['web-r3']?.depends_on, { 'api-r3': started, 'migrate-r3': started })
    assert.equal(base?.services.db?.depends_on, { ca: started })
  })
  t('tell under which conditions the release waits for the base, each once', () => {
    const waiting = SHOP.replace(
      'depends_on: [db, api, migrate]',
      'depends_on: {db: {condition: service_healthy}, ca: {condition: service_completed_successfully}, api: {}}',
    ).replace('command: [migrate]', 'depends_on: {db: {condition: service_healthy}, ca: {}}')
    assert.equal(printed(project(waiting), 3).needs, [
      { service: 'ca', condition: 'service_completed_successfully' },
      { service: 'ca', condition: 'service_started' },
      { service: 'db', condition: 'service_healthy' },
    ])
    assert.equal(printed(project('services: {a: {image: "a:1", expose: [80]}}')).needs, [])
  })
  t('give volumes names that are the same for ever', () => {
    assert.equal(printed(project(SHOP), 9).base?.volumes, {
      data: { name: 'shop-base_data', labels: { 'dev.bottega.app': 'shop' } },
    })
  })
  t('leave the base byte for byte as it is from release to release', () => {
    const one = printProject(project(SHOP), 1, 'origin')
    const two = printProject(project(SHOP, { files: { README: 'other' } }), 2, 'origin')
    assert.is(one.base?.text, two.base?.text)
    assert.is.not(one.release?.text, two.release?.text)
  })
  t('mount files into the base by their content', () => {
    const [one] = printProject(project(SHOP), 1, 'origin').baseFiles
    const [two] = printProject(project(SHOP, { files: { 'conf/db.conf': 'changed' } }), 2, 'origin').baseFiles
    assert.is(one?.from, 'conf/db.conf')
    assert.match(one?.to ?? '', /^files\/[0-9a-f]{64}\/db\.conf$/)
    assert.is.not(one?.to, two?.to)
    assert.ok(JSON.stringify(printed(project(SHOP)).base).includes(`./${one?.to}`))
  })
  t('publish the one port that visitors take, on loopback, wherever Docker likes', () => {
    const { release, routed } = printed(project(SHOP), 3)
    assert.equal(release?.services['web-r3']?.ports, ['127.0.0.1::8080'])
    assert.is(release?.services['api-r3']?.ports, undefined)
    assert.equal(routed, { document: 'release', service: 'web-r3', port: 8080, services: ['web-r3'] })
  })
  t('route to the base when the routed service keeps data', () => {
    const { base, release, routed } = printed(
      project('services: {app: {image: "a:1", expose: [80], volumes: ["d:/d"]}}\nvolumes: {d: {}}'),
    )
    assert.equal([release, routed], [null, { document: 'base', service: 'app', port: 80, services: ['app'] }])
    assert.equal(base?.services.app?.ports, ['127.0.0.1::80'])
  })
  t('run a migration once, and everything else until it is stopped', () => {
    const { release } = printed(project(SHOP), 1)
    const restarts = Object.values(release?.services ?? {}).map((service) => service.restart)
    assert.equal(restarts, ['unless-stopped', 'no', 'unless-stopped'])
  })
  t('take every dollar sign as itself', () => {
    const { release } = printed(
      project('services: {a: {image: "a:1", expose: [80], command: ["$$HOME", "$V"]}}', {
        deployTarget: { env: { V: 'x$y' } },
      }),
    )
    assert.equal(release?.services['a-r1']?.command, ['$$HOME', 'x$$y'])
    assert.equal(release?.services['a-r1']?.environment, { V: 'x$$y' })
  })
  t('hold characters that YAML does not take only as escapes', () => {
    const text =
      printProject(
        project('services: {a: {image: "a:1", expose: [80], command: ["\\x7f\\u2028\\uFEFFok é \\U0001F600"]}}'),
        1,
        'origin',
      ).release?.text ?? ''
    assert.ok(text.includes('\\u007f\\u2028\\ufeffok é 😀'), text)
  })
})

spec('the name of what is built', (t) => {
  const imageOf = (asked?: Asked, build = './web') =>
    project(`services: {web: {build: ${build}, expose: [80]}}`, asked).services[0]?.image ?? ''

  t('is of the app, where no registry is, and ends in a digest that nobody can guess', () => {
    assert.match(imageOf(), /^bottega\.local\/shop\/web:[0-9a-f]{32}$/)
  })
  t('stays when nothing in the context has changed', () => {
    assert.is(imageOf({ files: { README: 'changed' } }), imageOf())
  })
  const changes: [string, string][] = [
    ['a file of the context', imageOf({ files: { 'web/server.js': '2' } })],
    ['a new file of the context', imageOf({ files: { 'web/more.js': '' } })],
    ['an argument', imageOf({}, '{context: ./web, args: {A: 1}}')],
    ['the target', imageOf({}, '{context: ./web, target: run}')],
    ['the app', imageOf({ deployTarget: { slug: 'other' } })],
    [
      'a Dockerfile outside of the context',
      imageOf({ files: { 'D.web': 'FROM a' } }, '{context: ./web, dockerfile: ../D.web}'),
    ],
    ['what is in that Dockerfile', imageOf({ files: { 'D.web': 'FROM b' } }, '{context: ./web, dockerfile: ../D.web}')],
    [
      'what that Dockerfile is to ignore',
      imageOf(
        { files: { 'D.web': 'FROM b', 'D.web.dockerignore': 'server.js' } },
        '{context: ./web, dockerfile: ../D.web}',
      ),
    ],
  ]
  t('is another for each of these changes', () => {
    assert.is(new Set([imageOf(), ...changes.map(([, image]) => image)]).size, changes.length + 1)
  })
})

spec('what a service is given', (t) => {
  const environment = (keys: string, asked?: Asked) =>
    project(`services: {web: {image: "a:1", expose: [80], ${keys}}}`, asked).services[0]?.environment

  const cases: [string, string, Asked, Record<string, string>][] = [
    ['all of the env', '', { deployTarget: { env: { B: '2', A: '1' } } }, { A: '1', B: '2' }],
    [
      'what the file sets rather than the env',
      'environment: {A: file}',
      { deployTarget: { env: { A: 'env' } } },
      { A: 'file' },
    ],
    [
      'the env rather than an env file',
      'env_file: a.env',
      { deployTarget: { env: { A: 'env' } }, files: { 'a.env': 'A=file\nC=3' } },
      { A: 'env', C: '3' },
    ],
    ['the later env file', 'env_file: [a.env, b.env]', { files: { 'a.env': 'A=1', 'b.env': 'A=2' } }, { A: '2' }],
    ['nothing for a name that is not set', 'environment: [NOPE]', {}, {}],
    [
      'only what it names, if it asks for that',
      'environment: [A], x-bottega-env: false',
      { deployTarget: { env: { A: '1', B: '2' } } },
      { A: '1' },
    ],
    [
      'names as they are, __proto__ too',
      'environment: ["__proto__=x", "constructor=y"]',
      {},
      JSON.parse('{"__proto__": "x", "constructor": "y"}'),
    ],
  ]
  for (const [sentence, keys, asked, expected] of cases) {
    t(`is ${sentence}`, () => assert.equal(environment(keys, asked), expected))
  }

  t('is of the budget what it declares, and an equal part of the rest', () => {
    const text =
      'services: {a: {image: "a:1", expose: [80], mem_limit: 512m, cpus: 0.4}, b: {image: "b:1"}, c: {image: "c:1"}}'
    const limits = project(text).services.map(({ limits: { cpuMillis, memoryBytes } }) => [
      cpuMillis,
      memoryBytes / 1_048_576,
    ])
    assert.equal(limits, [
      [400, 512],
      [300, 256],
      [300, 256],
    ])
  })

  t('tells which names the file asks for and which are missing', () => {
    const given = project(
      `services: {a: {image: "a:$TAG", expose: [80], command: "\${X} \${Y:-d} $$Z", environment: [W]}}`,
      { deployTarget: { env: { TAG: '1' } } },
    )
    assert.equal(given.env, { used: ['TAG', 'W', 'X', 'Y'], missing: ['X'] })
  })
})

spec('a warning', (t) => {
  const one = (keys: string) => `services: {web: {image: "a:1", expose: [80], ${keys}}}`
  const cases: [string, string, string[], Asked?][] = [
    ['a tag that moves', 'services: {web: {image: acme/web, expose: [80]}}', ['image /services/web/image']],
    [
      'an image that wants to be root',
      'services: {web: {image: "nginx:1.27", expose: [80]}}',
      ['privileges /services/web'],
      { deployTarget: { remapsUsers: false } },
    ],
    ['a variable that is not set', one('command: "$NOPE"'), ['variable /services/web/command']],
    ['a volume without a name', one('volumes: [/cache]'), ['no-effect /services/web/volumes/0']],
    ['a number that changes its form', one('environment: {V: 1.10}'), ['value /services/web/environment/V']],
    [
      'a value that hides one of the env',
      one('environment: {A: x}'),
      ['no-effect /services/web/environment/A'],
      { deployTarget: { env: { A: 'y' } } },
    ],
    [
      'an override that is not read',
      one('tty: true'),
      ['other-file '],
      { files: { 'docker-compose.override.yml': '' } },
    ],
    ['a second compose file', one('tty: true'), ['other-file '], { files: { 'compose.yaml': '' } }],
  ]
  for (const [sentence, text, expected, asked] of cases) {
    t(`is given for ${sentence}, and it runs`, () => assert.equal(warnings(text, asked), expected))
  }
  t('is not given for keys that ask for nothing', () => {
    const nothing = one(
      'privileged: false, cap_add: [], devices: null, labels: {}, pid: "", volumes_from: [], ports: []',
    )
    assert.equal(warnings(nothing), [])
  })
})

spec("on the platform's own host", (t) => {
  const deployTarget: Partial<DeployTarget> = { hostClass: 'platform', arch: 'amd64', remapsUsers: false }
  const one = (keys: string) => `services: {web: {image: "a:1", expose: [80], ${keys}}}\nvolumes: {d: {}}`
  const kept: [string, string, unknown][] = [
    ['cap_add: [NET_ADMIN]', 'cap_add', ['NET_ADMIN']],
    ['sysctls: {net.core.somaxconn: 1024}', 'sysctls', { 'net.core.somaxconn': 1024 }],
    ['extra_hosts: ["a:10.0.0.1"]', 'extra_hosts', ['a:10.0.0.1']],
    [
      'labels: {team: "$$x"}',
      'labels',
      { 'dev.bottega.app': 'shop', 'dev.bottega.disk': '10240', 'dev.bottega.release': '1', team: '$$x' },
    ],
    ['dns: 10.0.0.1', 'dns', '10.0.0.1'],
    ['security_opt: [seccomp:unconfined]', 'security_opt', ['no-new-privileges:true', 'seccomp:unconfined']],
  ]
  for (const [keys, key, expected] of kept) {
    t(`${keys} stands, with a warning`, () => {
      const text = one(keys)
      assert.match(warnings(text, { deployTarget })[0] ?? '', /^(privileges|outside-network|labels) /)
      assert.equal(printed(project(text, { deployTarget })).release?.services['web-r1']?.[key], expected)
    })
  }
  const dropped = ['logging: {driver: syslog}']
  for (const keys of dropped) {
    t(`${keys} is left out, with a warning`, () => {
      const text = one(keys)
      assert.equal(warnings(text, { deployTarget }).length, 1)
      const service = printed(project(text, { deployTarget })).release?.services['web-r1'] ?? {}
      assert.equal(
        [service.container_name, service.profiles, service.links, service.deploy],
        [undefined, undefined, undefined, undefined],
      )
      assert.equal(service.ports, ['127.0.0.1::80'])
    })
  }
  t('a budget may be gone over, with a warning', () => {
    assert.equal(warnings(one('mem_limit: 4g'), { deployTarget }), ['budget /services'])
  })
  const never = [
    'privileged: true',
    'pid: host',
    'network_mode: host',
    'volumes: ["/var/run/docker.sock:/s"]',
    'volumes: ["/:/h:ro"]',
    'devices: ["/dev/kvm"]',
    'use_api_socket: true',
    'volumes_from: [x]',
    'platform: linux/arm64',
  ]
  for (const keys of never) {
    t(`${keys} is refused all the same`, () =>
      assert.match(warnings(one(keys), { deployTarget })[0] ?? '', /^REFUSED /),
    )
  }
})

spec('the plan of a deploy', (t) => {
  const plan = (before: Project | null, now: Project, confirmed: string[] = []): DeployPlan =>
    planRelease(
      before && summariseRelease(before),
      { project: now, warnings: [], composePath: 'docker-compose.yml' },
      confirmed,
    )
  const actions = ({ services }: DeployPlan) =>
    services.map(({ name, action, downtimeSeconds }) => `${name} ${action} ${downtimeSeconds}`)

  t('starts everything the first time', () => {
    const first = plan(null, project(SHOP))
    assert.equal(actions(first), ['api add 0', 'ca add 0', 'db add 0', 'migrate add 0', 'web add 0'])
    assert.equal(first.volumes, [{ name: 'data', action: 'new', detail: 'New and empty.' }])
    assert.equal(first.images, ['docker.io/acme/api:1', 'docker.io/acme/ca:1', 'docker.io/acme/db:1'])
    assert.equal(
      first.builds.map(({ service, context }) => `${service} ${context}`),
      ['web web'],
    )
  })
  t('keeps what is stateful and replaces the rest beside it', () => {
    const again = plan(project(SHOP), project(SHOP, { files: { 'web/server.js': '2' } }))
    assert.equal(actions(again), ['api replace 0', 'ca keep 0', 'db keep 0', 'migrate replace 0', 'web replace 0'])
    assert.equal(again.volumes[0]?.action, 'keep')
  })
  t('names the seconds that a changed stateful service is away', () => {
    const changed = SHOP.replace(
      'image: "acme/db:1"',
      'image: "acme/db:2", stop_grace_period: 20s, healthcheck: {test: x, start_period: 30s, interval: 5s, timeout: 2s}',
    )
    assert.equal(actions(plan(project(SHOP), project(changed)))[2], 'db recreate 57')
  })
  t('recreates what is stateful when its env changes, unless it takes only what it names', () => {
    const env = (value: string): Asked => ({ deployTarget: { env: { A: value } } })
    assert.equal(actions(plan(project(SHOP, env('1')), project(SHOP, env('2'))))[2], 'db recreate 15')
    const calm = SHOP.replace('image: "acme/db:1"', 'image: "acme/db:1", x-bottega-env: false')
    assert.equal(actions(plan(project(calm, env('1')), project(calm, env('2'))))[2], 'db keep 0')
  })
  t('recreates the base for a file that it mounts, and for no other', () => {
    const changed = (path: string) => actions(plan(project(SHOP), project(SHOP, { files: { [path]: 'changed' } })))[2]
    assert.equal([changed('conf/db.conf'), changed('conf/web.conf')], ['db recreate 15', 'db keep 0'])
  })
  t('removes services that are gone', () => {
    const less = SHOP.replace(/ {2}api:.*\n/, '').replace('db, api, migrate', 'db, migrate')
    assert.equal(actions(plan(project(SHOP), project(less)))[0], 'api remove 0')
  })
  t('stops before a volume that was renamed, until that is confirmed', () => {
    const renamed = project(SHOP.replaceAll('data:', 'store:').replace('{ data', '{ store'))
    const asked = plan(project(SHOP), renamed)
    assert.equal(
      asked.volumes.map(({ name, action }) => `${name} ${action}`),
      ['data left', 'store new'],
    )
    const [finding] = asked.findings
    assert.equal([finding?.rule, finding?.level, finding?.pointer], ['volume-left', 'refuse', '/volumes/data'])
    assert.match(finding?.detail ?? '', /store takes its place and is empty/)
    assert.equal(
      plan(project(SHOP), renamed, ['data']).findings.map(({ level }) => level),
      ['warn'],
    )
  })
  t('is the same each time', () => assert.equal(plan(project(SHOP), project(SHOP)), plan(project(SHOP), project(SHOP))))
})

spec('the way of the visitors', (t) => {
  const AB = 'services: {a: {image: "a:1", expose: [80, 81]}, b: {image: "b:1"}}'
  const cases: [string, string, DeployTarget['route'], { service: string; port: number }][] = [
    [
      'the only service with a port',
      'services: {a: {image: "a:1", expose: [80]}, b: {image: "b:1"}}',
      null,
      { service: 'a', port: 80 },
    ],
    [
      'the service that the app names',
      'services: {a: {image: "a:1", expose: [80]}, b: {image: "b:1", expose: [90]}}',
      { service: 'b' },
      { service: 'b', port: 90 },
    ],
    ['the port that the app names', AB, { port: 81 }, { service: 'a', port: 81 }],
    ['both, though the file says nothing', AB, { service: 'b', port: 9 }, { service: 'b', port: 9 }],
  ]
  for (const [sentence, text, route, expected] of cases) {
    t(`leads to ${sentence}`, () => assert.equal(project(text, { deployTarget: { route } }).route, expected))
  }
  t('leads nowhere when the app names a service that is not there', () => {
    assert.equal(warnings(AB, { deployTarget: { route: { service: 'c' } } }), ['REFUSED route /services'])
  })
})
