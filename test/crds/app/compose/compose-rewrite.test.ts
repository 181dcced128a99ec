import { parse } from 'yaml'
import { type ComposeVerdict, judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { type Printed, printProject } from '../../../../crds/app/compose/printing/print.ts'
import type { DeployTarget } from '../../../../crds/app/compose/project.ts'
import { FILES, withBuild, withKey, withTop } from '../../../support/builders/compose/hostilecompose.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Accepted = Extract<ComposeVerdict, { ok: true }>
type Json = Record<string, unknown>

const judge = (text: string, deployTarget: Partial<DeployTarget> = {}): Accepted => {
  const verdict = judgeCompose(sourceOf({ ...FILES, 'docker-compose.yml': text }), { ...shared, ...deployTarget })
  if (verdict.ok) return verdict
  throw new Error(verdict.findings.map(({ pointer, detail }) => `${pointer} ${detail}`).join('\n'))
}

const changesOf = (text: string): string[] =>
  judge(text).changes.map(({ pointer, from, to }) => `${pointer}: ${from} → ${to ?? 'nothing'}`)

/** One service as Compose is told, by its name. */
const printed = (
  text: string,
  name: string,
  deployTarget: Partial<DeployTarget> = {},
): { service: Json; all: Printed } => {
  const all = printProject(judge(text, deployTarget).project, 1, 'origin')
  const documents = [all.base, all.release].flatMap((one) => (one ? [JSON.parse(one.text)] : []))
  const services = Object.assign({}, ...documents.map(({ services }) => services)) as Record<string, Json>
  return { service: services[name] ?? services[`${name}-r1`] ?? {}, all }
}

const WEB = '/services/web'

/** What is written, and how it is told. */
const rewritten: [text: string, change: string][] = [
  [withKey('ports: ["80:8080"]'), `${WEB}/ports/0: 80:8080 → 8080`],
  [withKey('ports: ["0.0.0.0:22:8080"]'), `${WEB}/ports/0: 0.0.0.0:22:8080 → 8080`],
  [withKey('ports: ["127.0.0.1::8080"]'), `${WEB}/ports/0: 127.0.0.1::8080 → 8080`],
  [withKey('ports: ["[::]:80:8080"]'), `${WEB}/ports/0: [::]:80:8080 → 8080`],
  [withKey('ports: ["8000-8002:9000-9002"]'), `${WEB}/ports/0: 8000-8002:9000-9002 → 9000-9002`],
  [withKey('ports: [{target: 8080, published: 80}]'), `${WEB}/ports/0/published: 80 → 8080`],
  [withKey('ports: [{target: 8080, host_ip: 0.0.0.0}]'), `${WEB}/ports/0/host_ip: 0.0.0.0 → 8080`],
  [withKey('ports: ["8080", "8080/udp"]'), `${WEB}/ports/1: 8080/udp → nothing`],
  [withKey('container_name: caddy'), `${WEB}/container_name: caddy → alias caddy`],
  [withKey('restart: always'), `${WEB}/restart: always → unless-stopped`],
  [withKey('restart: "on-failure:50"'), `${WEB}/restart: on-failure:50 → on-failure:10`],
  [
    withKey('logging: {driver: json-file, options: {max-size: 1g}}'),
    `${WEB}/logging: {driver: json-file, options: {max-size: 1g}} → nothing`,
  ],
  [withKey('healthcheck: {test: x, start_interval: 1s}'), `${WEB}/healthcheck/start_interval: 1s → nothing`],
  [withKey('network_mode: bridge'), `${WEB}/network_mode: bridge → nothing`],
  [withKey('mem_reservation: 64m'), `${WEB}/mem_reservation: 64m → nothing`],
  [withKey('cpu_shares: 512'), `${WEB}/cpu_shares: 512 → nothing`],
  [withKey('attach: true'), `${WEB}/attach: true → nothing`],
  [withKey('develop: {watch: [{path: .}]}'), `${WEB}/develop: {watch: [{path: .}]} → nothing`],
  [withKey('cap_add: [SYS_NICE, CHOWN]'), `${WEB}/cap_add: [SYS_NICE, CHOWN] → CHOWN`],
  [withKey('deploy: {placement: {constraints: [x]}}'), `${WEB}/deploy/placement: {constraints: [x]} → nothing`],
  [withKey('deploy: {labels: {a: b}}'), `${WEB}/deploy/labels: {a: b} → nothing`],
  [
    withKey('deploy: {resources: {reservations: {memory: 64m}}}'),
    `${WEB}/deploy/resources/reservations: {memory: 64m} → nothing`,
  ],
  [withKey('volumes: ["./conf/app.conf:/x"]'), `${WEB}/volumes/0: ./conf/app.conf:/x → read-only`],
  [withKey('volumes: ["./conf:/x:rw"]'), `${WEB}/volumes/0: ./conf:/x:rw → read-only`],
  [withKey('volumes: ["./var/data:/x"]'), `${WEB}/volumes/0: ./var/data:/x → a volume`],
  [withKey('volumes: ["./conf.d:/x"]'), `${WEB}/volumes/0: ./conf.d:/x → a volume`],
  [withKey('volumes: [{type: bind, source: ./x, target: /x}]'), `${WEB}/volumes/0/source: ./x → a volume`],
  [withBuild('context: .\nlabels: {a: b}'), `${WEB}/build/labels: {a: b} → nothing`],
  [withTop('name: mine'), '/name: mine → nothing'],
  [withTop('version: "3.9"'), '/version: 3.9 → nothing'],
  [withTop('volumes: {d: {labels: {a: b}}}'), '/volumes/d/labels: {a: b} → nothing'],
  [withTop('networks: {d: {labels: {a: b}}}'), '/networks/d/labels: {a: b} → nothing'],
  ['services: {web: {image: "postgres:16", build: ., expose: [80]}}', `${WEB}/image: postgres:16 → nothing`],
  [
    'services: {web: {image: "a:1", expose: [80]}, tool: {image: "b:1", profiles: [debug], privileged: true}}',
    '/services/tool: profiles: [debug] → nothing',
  ],
]

spec('what cannot run as it was written', (t) => {
  for (const [text, change] of rewritten) {
    t(`runs otherwise, and it is told: ${change}`, () => assert.equal(changesOf(text), [change]))
  }
  t('is told with its line and its reason', () => {
    const [change] = judge(withKey('container_name: caddy')).changes
    assert.is(change?.line, 5)
    assert.is(change?.file, 'docker-compose.yml')
    assert.match(change?.reason ?? '', /two releases/i)
  })
  t('is not told of a file that runs as it is', () => {
    assert.equal(changesOf(withKey('restart: unless-stopped\ntty: true\nstdin_open: true\nhostname: x')), [])
  })

  t('keeps the name of a container as a name within the project', () => {
    const text = 'services: {web: {image: "a:1", ports: ["80:80"]}, db: {image: "b:1", container_name: store}}'
    assert.equal(printed(text, 'db').service.networks, { default: { aliases: ['db', 'store'] } })
  })
  t('keeps links as dependencies and names', () => {
    const text = 'services: {web: {image: "a:1", ports: ["80:80"], links: ["db:store"]}, db: {image: "b:1"}}'
    assert.equal(printed(text, 'db').service.networks, { default: { aliases: ['db', 'store'] } })
    assert.equal(Object.keys(printed(text, 'web').service.depends_on as Json), ['db-r1'])
  })
  t('leaves a service that somebody has to ask for out of the project', () => {
    const text = 'services: {web: {image: "a:1", expose: [80]}, tool: {image: "b:1", profiles: [x], pid: host}}'
    assert.equal(
      judge(text).project.services.map(({ name }) => name),
      ['web'],
    )
  })
  t('keeps what an app writes into a folder that nobody sent', () => {
    const { project } = judge(withKey('volumes: ["./var/data:/x"]'))
    assert.equal(project.volumes, ['var_data'])
    assert.is(project.services[0]?.stateful, true)
  })
  t('takes no two folders for one', () => {
    const folders = ['./a/b', './a-b', './a_b', './A/b', './a.d/b', './a/b.d']
    const mounts = folders.map((folder, place) => `"${folder}:/m${place}"`).join(', ')
    assert.is(judge(withKey(`volumes: [${mounts}, "./a/b/:/again"]`)).project.volumes.length, folders.length)
  })
  t('makes room in a read-only folder for what is mounted within', () => {
    const text = withKey('volumes: ["./conf:/app", "/app/node_modules", "./app.env:/app/x/.env:ro"]')
    assert.equal(printed(text, 'web').all.placed, [
      { path: 'r1/source/conf/node_modules', sort: 'folder' },
      { path: 'r1/source/conf/x/.env', sort: 'file' },
    ])
  })
})

spec('secrets and configs', (t) => {
  const asking = (keys: string, top: string) => `${withKey(keys)}${top}\n`
  const mounts = (text: string, env = {}) => printed(text, 'web', { env }).service.volumes

  t('that are files of the upload are mounted read-only where they are looked for', () => {
    const text = asking(
      'secrets: [s]\nconfigs: [{source: c, target: /etc/c.conf}]',
      'secrets: {s: {file: app.env}}\nconfigs: {c: {file: ./conf/app.conf}}',
    )
    assert.equal(mounts(text), [
      {
        type: 'bind',
        source: './source/conf/app.conf',
        target: '/etc/c.conf',
        read_only: true,
        bind: { create_host_path: false },
      },
      {
        type: 'bind',
        source: './source/app.env',
        target: '/run/secrets/s',
        read_only: true,
        bind: { create_host_path: false },
      },
    ])
  })
  t('that are values of the env lie beside the documents and nowhere else', () => {
    const text = asking('secrets: [s]', 'secrets: {s: {environment: TOKEN}}')
    const env = { TOKEN: 'hunter2-very-secret' }
    const { all } = printed(text, 'web', { env })
    assert.equal(
      all.placed.map((placed) => (placed.sort === 'text' ? placed.text : '')),
      ['hunter2-very-secret'],
    )
    assert.match(all.placed[0]?.path ?? '', /^r1\/sealed\/[0-9a-f]{64}$/)
    const { changes, warnings, runs } = judge(text, { env })
    assert.not.match(JSON.stringify([changes, warnings, runs]), 'hunter2')
  })
  t('that are written in the file are mounted as they stand', () => {
    const { all } = printed(asking('configs: [c]', 'configs: {c: {content: "a=1\\nb=$$2"}}'), 'web')
    assert.equal(
      all.placed.map((placed) => placed.sort === 'text' && placed.text),
      ['a=1\nb=$2'],
    )
  })
  t('lose owner and mode, and it is told', () => {
    const changes = changesOf(
      asking('secrets: [{source: s, uid: "103", mode: "0440"}]', 'secrets: {s: {file: app.env}}'),
    )
    assert.equal(changes.slice(0, 2), [`${WEB}/secrets/0/uid: 103 → nothing`, `${WEB}/secrets/0/mode: 0440 → nothing`])
  })
  t('of a service that keeps data lie with the base', () => {
    const { all } = printed(
      asking('secrets: [s]\nvolumes: ["d:/d"]', 'secrets: {s: {environment: A}}\nvolumes: {d: {}}'),
      'web',
      { env: { A: 'x' } },
    )
    assert.match(all.placed[0]?.path ?? '', /^base\/sealed\//)
  })
})

spec('root in a container', (t) => {
  const rightsOf = (keys: string, deployTarget: Partial<DeployTarget> = {}) =>
    printed(withKey(keys), 'web', deployTarget).service.cap_add
  const ALL = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID']
  t('may change its user where it is nobody on the host', () => assert.equal(rightsOf('tty: true'), ALL))
  t('may do nothing where it is root on the host, and is told so', () => {
    assert.is(rightsOf('tty: true', { remapsUsers: false }), undefined)
    assert.match(judge(withKey('tty: true'), { remapsUsers: false }).warnings[0]?.detail ?? '', /begins as root/)
  })
  t('has no rights to lose as another user', () => assert.is(rightsOf('user: "1000"'), undefined))
  t('has them as root by name', () => assert.equal(rightsOf('user: "0:0"'), ALL))
  t('keeps what the file drops dropped', () => {
    assert.is(rightsOf('cap_drop: [ALL]'), undefined)
    assert.equal(rightsOf('cap_drop: [ALL]\ncap_add: [NET_BIND_SERVICE]'), ['NET_BIND_SERVICE'])
    assert.equal(
      rightsOf('cap_drop: [CAP_KILL]'),
      ALL.filter((right) => right !== 'KILL'),
    )
  })
})

spec('the file as it runs', (t) => {
  const SECRET = 'hunter2-very-secret'
  const text = `services:
  web:
    image: "acme/web:\${TAG}"
    ports: ["80:8080"]
    command: [serve, --token, "\${TOKEN}", "--url=x/\${TOKEN}"]
    environment: { URL: "postgres://u:\${TOKEN}@db/x", PLAIN: "1", TOKEN: }
    env_file: app.env
    working_dir: "/srv/\${TOKEN}"
    volumes: ["./conf:/conf"]
    labels: {}
  db: { image: "postgres:16", volumes: ["data:/data"] }
volumes: { data: {} }
`
  const runs = () => parse(judge(text, { env: { TOKEN: SECRET, TAG: '7', OTHER: SECRET } }).runs)
  t('holds what will run, and is a compose file', () => {
    const { services, volumes } = runs()
    assert.is(services.web.image, 'docker.io/acme/web:7')
    assert.equal(services.web.cap_drop, ['ALL'])
    assert.equal(services.web.volumes, [{ type: 'bind', source: './conf', target: '/conf', read_only: true }])
    assert.equal(services.web.expose, ['8080'])
    assert.equal(volumes, { data: {} })
    assert.equal(runs()['x-bottega-route'], { service: 'web', port: 8080 })
  })
  t('holds values of the env by their names', () => {
    const { services } = runs()
    assert.equal(services.web.environment, {
      A: `\${A}`,
      OTHER: `\${OTHER}`,
      PLAIN: '1',
      TAG: `\${TAG}`,
      TOKEN: `\${TOKEN}`,
      URL: `postgres://u:\${TOKEN}@db/x`,
    })
    assert.equal(services.web.command, ['serve', '--token', `\${TOKEN}`, `--url=x/\${TOKEN}`])
    assert.not.match(JSON.stringify(runs()), SECRET)
  })
})

spec('the service that takes visitors', (t) => {
  const cases: [string, string, string][] = [
    [
      'is the one that was open to the outside',
      '{a: {image: "a:1", expose: [80]}, b: {image: "b:1", ports: ["81"]}}',
      'b:81',
    ],
    [
      'is the one with a port of the web',
      '{a: {image: "a:1", ports: ["9000:1"]}, b: {image: "b:1", ports: ["443:2"]}}',
      'b:2',
    ],
    [
      'is the one with the lowest port else',
      '{a: {image: "a:1", ports: ["7002:1"]}, b: {image: "b:1", ports: ["7001:2"]}}',
      'b:2',
    ],
    ['is no database', '{a: {image: "mysql:8", ports: ["80:80"]}, b: {image: "b:1", ports: ["9999:9"]}}', 'b:9'],
    [
      'is in front of the others',
      '{a: {image: "a:1", ports: ["80:80"]}, b: {image: "b:1", ports: ["9999:9"], depends_on: [a]}}',
      'b:9',
    ],
    [
      'is not behind the loopback of the host',
      '{a: {image: "a:1", ports: ["127.0.0.1:80:80"]}, b: {image: "b:1", ports: ["9999:9"]}}',
      'b:9',
    ],
    ['speaks HTTP rather than TLS', '{a: {image: "a:1", ports: ["443:443", "9999:9"]}}', 'a:9'],
    ["speaks HTTP rather than a debugger's words", '{a: {image: "a:1", ports: ["9229:9229", "9999:9"]}}', 'a:9'],
    [
      'is the exposed one that is no database',
      '{a: {image: "a:1", expose: [8080], depends_on: [b]}, b: {image: "postgres:16", expose: [5432]}}',
      'a:8080',
    ],
  ]
  for (const [sentence, services, expected] of cases) {
    t(sentence, () => {
      const { service, port } = judge(`services: ${services}`).project.route
      assert.is(`${service}:${port}`, expected)
    })
  }
  t('is told, with how to choose another', () => {
    const { warnings } = judge('services: {a: {image: "a:1", ports: ["80:80"]}, b: {image: "b:1", ports: ["81:81"]}}')
    const [said] = warnings.filter(({ rule }) => rule === 'route')
    assert.match(`${said?.detail} ${said?.next}`, /go to a on port 80; there would be b 81 .*route\.service/)
  })
})
