import { type ComposeVerdict, judgeCompose } from '../../../crds/app/compose/judge.ts'
import type { DeployTarget } from '../../../crds/app/compose/project.ts'
import { shared, sourceOf } from '../../support/builders/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const FILES = {
  Dockerfile: 'FROM scratch',
  'web/Dockerfile': 'FROM scratch',
  'conf/app.conf': 'x',
  'app.env': 'A=1',
  'bad.env': 'A B=1',
  'doubling.env': doubling(),
}
/** What one service says beside what it must; `web` takes the visitors. */
const withKey = (lines: string): string =>
  `services:\n  web:\n    image: nginx:1.27\n    expose: ["8080"]\n${indent(lines, 4)}\n`
const withBuild = (lines: string): string => `services:\n  web:\n    expose: [8080]\n    build:\n${indent(lines, 6)}\n`
const withTop = (lines: string): string => `services: {web: {image: "nginx:1.27", expose: [8080]}}\n${lines}\n`
const indent = (lines: string, by: number): string =>
  lines
    .split('\n')
    .map((line) => ' '.repeat(by) + line)
    .join('\n')

const judge = (text: string, deployTarget: Partial<DeployTarget> = {}): ComposeVerdict =>
  judgeCompose(sourceOf({ ...FILES, 'docker-compose.yml': text }), { ...shared, ...deployTarget })

/** What keeps it from running, as `rule pointer`. */
const refusals = (verdict: ComposeVerdict): string[] =>
  verdict.ok
    ? []
    : verdict.findings.filter(({ level }) => level === 'refuse').map(({ rule, pointer }) => `${rule} ${pointer}`)

const WEB = '/services/web'

/** Keys of a service, each with the rule that refuses it; the pointer is the key itself unless it says more. */
const hostileKeys: [lines: string, rule: string, pointer?: string][] = [
  ['privileged: true', 'privileges'],
  ['privileged: "true"', 'privileges'],
  ['cap_add: [SYS_ADMIN]', 'privileges'],
  ['cap_add: [ALL]', 'privileges'],
  ['security_opt: [seccomp:unconfined]', 'privileges', '/security_opt/0'],
  ['security_opt: ["no-new-privileges:true", "apparmor:unconfined"]', 'privileges', '/security_opt/1'],
  ['security_opt: ["no-new-privileges:false"]', 'privileges', '/security_opt/0'],
  ['devices: ["/dev/sda:/dev/sda"]', 'host-access'],
  ['device_cgroup_rules: ["c 1:3 mr"]', 'host-access'],
  ['gpus: all', 'host-access'],
  ['network_mode: host', 'host-namespace'],
  ['network_mode: "container:other"', 'host-namespace'],
  ['network_mode: "service:db"', 'host-namespace'],
  ['pid: host', 'host-namespace'],
  ['pid: "container:other"', 'host-namespace'],
  ['ipc: host', 'value'],
  ['ipc: "container:x"', 'value'],
  ['uts: host', 'host-namespace'],
  ['userns_mode: host', 'host-namespace'],
  ['cgroup: host', 'value'],
  ['cgroup_parent: /docker', 'host-namespace'],
  ['sysctls: {net.ipv4.ip_forward: 1}', 'privileges'],
  ['ulimits: {nproc: 999999}', 'privileges', '/ulimits/nproc'],
  ['ulimits: {nofile: 1048576}', 'value', '/ulimits/nofile'],
  ['ulimits: {memlock: -1}', 'privileges', '/ulimits/memlock'],
  ['volumes_from: [other]', 'outside-volume'],
  ['volumes_from: ["container:other:rw"]', 'outside-volume'],
  ['links: [db]', 'outside-network'],
  ['external_links: [other_db]', 'outside-network'],
  ['extra_hosts: ["host.docker.internal:host-gateway"]', 'outside-network'],
  ['dns: 10.0.0.1', 'outside-network'],
  ['dns_search: [corp]', 'outside-network'],
  ['dns_opt: [use-vc]', 'outside-network'],
  ['domainname: corp.test', 'outside-network'],
  ['mac_address: 02:42:ac:11:00:02', 'outside-network'],
  ['container_name: caddy', 'fixed-name'],
  ['labels: {traefik.enable: "true"}', 'labels'],
  ['labels: ["caddy=evil.test"]', 'labels'],
  ['label_file: ./labels', 'labels'],
  ['annotations: {a: b}', 'labels'],
  ['runtime: runc-unsafe', 'privileges'],
  ['isolation: process', 'privileges'],
  ['credential_spec: {file: x.json}', 'privileges'],
  ['group_add: ["998"]', 'privileges'],
  ['oom_kill_disable: true', 'privileges'],
  ['oom_score_adj: -1000', 'privileges'],
  ['cpuset: "0"', 'privileges'],
  ['cpu_rt_runtime: 950000', 'privileges'],
  ['memswap_limit: -1', 'privileges'],
  ['mem_swappiness: 100', 'privileges'],
  ['blkio_config: {weight: 1000}', 'privileges'],
  ['storage_opt: {size: 1T}', 'privileges'],
  ['configs: [c]', 'outside-secret'],
  ['secrets: [s]', 'outside-secret'],
  ['use_api_socket: true', 'docker-socket'],
  ['provider: {type: evil}', 'host-access'],
  ['models: [m]', 'host-access'],
  ['post_start: [{command: id, privileged: true}]', 'host-access'],
  ['pre_stop: [{command: id, user: root}]', 'host-access'],
  ['extends: {file: other.yml, service: x}', 'other-file'],
  ['extends: base', 'other-file'],
  ['profiles: [debug]', 'one-of-each'],
  ['scale: 3', 'one-of-each'],
  ['deploy: {replicas: 2}', 'one-of-each', '/deploy/replicas'],
  ['deploy: {mode: global}', 'value', '/deploy/mode'],
  ['deploy: {placement: {constraints: [node.role==manager]}}', 'one-of-each', '/deploy/placement'],
  ['deploy: {labels: {a: b}}', 'labels', '/deploy/labels'],
  ['deploy: {resources: {limits: {devices: [x]}}}', 'unknown-key', '/deploy/resources/limits/devices'],
  ['deploy: {resources: {limits: {memory: 2G}}}', 'budget', '^/services'],
  ['mem_limit: 1025m', 'budget', '^/services'],
  ['cpus: 1.001', 'budget', '^/services'],
  ['pids_limit: 2000', 'budget', '^/services/web'],
  ['pids_limit: -1', 'value'],
  ['logging: {driver: syslog, options: {syslog-address: "tcp://10.0.0.1"}}', 'host-access'],
  ['platform: linux/amd64', 'architecture'],
  ['platform: windows/amd64', 'value'],
  ['pull_policy: never', 'value'],
  ['ports: ["80:8080"]', 'host-port', '/ports/0'],
  ['ports: ["0.0.0.0:22:8080"]', 'host-port', '/ports/0'],
  ['ports: ["127.0.0.1::8080"]', 'host-port', '/ports/0'],
  ['ports: ["[::]:80:8080"]', 'host-port', '/ports/0'],
  ['ports: ["8000-9000:8000-9000"]', 'value', '/ports/0'],
  ['ports: [{target: 8080, published: 80}]', 'host-port', '/ports/0/published'],
  ['ports: [{target: 8080, host_ip: 0.0.0.0}]', 'host-port', '/ports/0/host_ip'],
  ['ports: ["53/udp"]', 'host-port', '/ports/0'],
  ['ports: ["70000"]', 'value', '/ports/0'],
  ['environment: {DOCKER_HOST: "tcp://10.0.0.1"}', 'platform-name', '/environment/DOCKER_HOST'],
  ['environment: [BOTTEGA_DATABASE_URL]', 'platform-name', '/environment/0'],
  ['environment: {"A B": x}', 'value', '/environment/A B'],
  ['environment: {A: [1]}', 'value', '/environment/A'],
  ['env_file: ../secrets.env', 'bundle'],
  ['env_file: /etc/environment', 'bundle'],
  ['env_file: [missing.env]', 'bundle', '/env_file/0'],
  ['env_file: bad.env', 'value'],
  [`env_file: "\${WHICH:-app}.env"`, 'variable'],
  ['env_file: [{path: "$WHICH"}]', 'variable', '/env_file/0'],
  ['env_file: {path: app.env, format: raw}', 'value'],
  ['healthcheck: {test: [EXEC, x]}', 'value', '/healthcheck/test'],
  ['healthcheck: {interval: 1ms}', 'value', '/healthcheck/interval'],
  ['stop_grace_period: 24h', 'value'],
  ['restart: sometimes', 'value'],
  ['user: "0:0 --privileged"', 'value'],
  ['hostname: "a b"', 'value'],
  ['tmpfs: "/run:exec,size=1g"', 'value'],
  ['tmpfs: /proc/x', 'host-access'],
  ['depends_on: [nobody]', 'value', '/depends_on/0'],
  ['depends_on: [web]', 'value', '^/services/web'],
  ['depends_on: {web: {condition: never}}', 'value', '/depends_on/web/condition'],
  ['networks: [proxy]', 'outside-network', '/networks/0'],
  ['networks: {default: {ipv4_address: 172.17.0.2}}', 'unknown-key', '/networks/default/ipv4_address'],
  ['privilegd: true', 'unknown-key'],
  ['__proto__: {privileged: true}', 'unknown-key'],
  ['constructor: x', 'unknown-key'],
  ['command: {a: b}', 'value'],
  [`command: "\${HOME!}"`, 'variable'],
  ['command: "costs $5"', 'variable'],
  [`command: "\${TOKEN:?set it first}"`, 'variable'],
  [`command: "\${TOKEN"`, 'variable'],
  [`command: "\${A:-\${B:-\${C:-\${D:-\${E:-\${F:-\${G:-\${H:-\${I:-\${J:-x}}}}}}}}}}"`, 'variable'],
  [`command: "\${BOTTEGA_KEY}"`, 'platform-name'],
  [`command: "\${COMPOSE_PROJECT_NAME}"`, 'platform-name'],
]

/** Entries of `volumes` of a service. */
const hostileMounts: [entry: string, rule: string, inside?: string][] = [
  ['"/var/run/docker.sock:/var/run/docker.sock"', 'docker-socket'],
  ['"/var/run/docker.sock:/var/run/docker.sock:ro"', 'docker-socket'],
  ['"//var//run/../run/docker.sock:/s"', 'docker-socket'],
  ['"/run/containerd/containerd.sock:/s"', 'docker-socket'],
  ['"/run/podman/podman.sock:/s"', 'docker-socket'],
  ['"/var/run:/host"', 'docker-socket'],
  ['"/run/:/host"', 'docker-socket'],
  ['"/proc/1/root/run/docker.sock:/s"', 'docker-socket'],
  ['"\\\\\\\\.\\\\pipe\\\\docker_engine:/s"', 'docker-socket'],
  [`"\${SOCK}:/s"`, 'docker-socket'],
  [`"\${ROOT:-/}:/host"`, 'host-mount'],
  ['"/:/host:ro"', 'host-mount'],
  ['"/etc/passwd:/x:ro"', 'host-mount'],
  ['"/var/lib/docker:/x"', 'host-mount'],
  ['"../../etc:/x:ro"', 'host-mount'],
  ['"./conf/../../x:/x:ro"', 'host-mount'],
  ['"~/.ssh:/x:ro"', 'host-mount'],
  ['"C:\\\\Windows:/x"', 'value'],
  ['"./conf/app.conf:/x"', 'host-mount'],
  ['"./conf:/x:rw"', 'host-mount'],
  ['"./missing.conf:/x:ro"', 'bundle'],
  ['"data:/proc/sys"', 'host-access'],
  ['"data:/sys"', 'host-access'],
  ['"data:/dev"', 'host-access'],
  ['"data:/"', 'value'],
  ['"data:/a/../.."', 'value'],
  ['"data:relative"', 'value'],
  ['"data:/x:shared"', 'value'],
  ['"data:/x:ro:more"', 'value'],
  ['"undeclared:/x"', 'value'],
  ['"conf/app.conf:/x:ro"', 'value'],
  ['{type: bind, source: /var/run/docker.sock, target: /s}', 'docker-socket', '/source'],
  ['{type: bind, source: /, target: /host}', 'host-mount', '/source'],
  [
    '{type: bind, source: ./conf, target: /x, bind: {propagation: rshared}, read_only: true}',
    'host-mount',
    '/bind/propagation',
  ],
  ['{type: volume, source: /etc, target: /x}', 'value', '/source'],
  ['{type: volume, source: data, target: /x, volume: {subpath: ../..}}', 'value', '/volume/subpath'],
  ['{type: npipe, source: x, target: /x}', 'value', '/type'],
  ['{type: image, source: x, target: /x}', 'value', '/type'],
  ['{type: cluster, source: x, target: /x}', 'value', '/type'],
  ['{type: tmpfs, target: /x, tmpfs: {size: 100g}}', 'value', '/tmpfs/size'],
  ['{source: data, target: /x}', 'value'],
]

const hostileBuilds: [lines: string, rule: string, key: string][] = [
  ['context: https://github.com/evil/repo.git', 'remote-build', 'context'],
  ['context: git@github.com:evil/repo', 'remote-build', 'context'],
  ['context: github.com/evil/repo', 'remote-build', 'context'],
  ['context: "ssh://host/repo"', 'remote-build', 'context'],
  ['context: "-"', 'remote-build', 'context'],
  ['context: ..', 'bundle', 'context'],
  ['context: /etc', 'bundle', 'context'],
  ['context: ./missing', 'bundle', 'context'],
  ['context: Dockerfile', 'bundle', 'context'],
  ['context: .\ndockerfile: ../Dockerfile', 'bundle', 'dockerfile'],
  ['context: .\ndockerfile: /etc/passwd', 'bundle', 'dockerfile'],
  ['context: conf', 'bundle', ''],
  ['context: .\nnetwork: host', 'remote-build', 'network'],
  ['context: .\nssh: [default]', 'remote-build', 'ssh'],
  ['context: .\nsecrets: [s]', 'remote-build', 'secrets'],
  ['context: .\nprivileged: true', 'remote-build', 'privileged'],
  ['context: .\nentitlements: [security.insecure]', 'remote-build', 'entitlements'],
  ['context: .\ncache_from: ["type=registry,ref=evil.test/x"]', 'remote-build', 'cache_from'],
  ['context: .\ncache_to: ["type=local,dest=/"]', 'remote-build', 'cache_to'],
  ['context: .\nadditional_contexts: {x: "https://evil.test"}', 'remote-build', 'additional_contexts'],
  ['context: .\nextra_hosts: ["a:1.2.3.4"]', 'remote-build', 'extra_hosts'],
  ['context: .\ntags: [nginx:latest]', 'fixed-name', 'tags'],
  ['context: .\nlabels: {a: b}', 'labels', 'labels'],
  ['context: .\nplatforms: [linux/amd64]', 'architecture', 'platforms/0'],
  ['context: .\nulimits: {nofile: 9}', 'remote-build', 'ulimits'],
  ['context: .\nisolation: process', 'remote-build', 'isolation'],
  ['context: .\ntarget: "a b"', 'value', 'target'],
  ['context: .\nargs: {BUILDKIT_SYNTAX: evil}', 'platform-name', 'args/BUILDKIT_SYNTAX'],
  ['context: .\ndockerfile: Dockerfile\ndockerfile_inline: FROM x', 'value', ''],
]

const hostileTops: [lines: string, rule: string, pointer: string][] = [
  ['include: [other.yml]', 'other-file', '/include'],
  ['include: ["oci://evil.test/x"]', 'other-file', '/include'],
  ['secrets: {s: {file: /etc/shadow}}', 'outside-secret', '/secrets'],
  ['configs: {c: {external: true}}', 'outside-secret', '/configs'],
  ['models: {m: {model: x}}', 'host-access', '/models'],
  ['volumes: {d: {external: true}}', 'outside-volume', '/volumes/d/external'],
  ['volumes: {d: {name: other_data}}', 'outside-volume', '/volumes/d/name'],
  ['volumes: {d: {driver: nfs}}', 'value', '/volumes/d/driver'],
  ['volumes: {d: {driver_opts: {type: none, o: bind, device: /}}}', 'outside-volume', '/volumes/d/driver_opts'],
  ['volumes: {d: {labels: {a: b}}}', 'labels', '/volumes/d/labels'],
  ['volumes: [d]', 'value', '/volumes'],
  ['networks: {n: {external: true}}', 'outside-network', '/networks/n/external'],
  ['networks: {n: {name: caddy}}', 'outside-network', '/networks/n/name'],
  ['networks: {default: {external: true}}', 'outside-network', '/networks/default/external'],
  ['networks: {n: {driver: host}}', 'value', '/networks/n/driver'],
  ['networks: {n: {driver: macvlan}}', 'value', '/networks/n/driver'],
  ['networks: {n: {driver_opts: {parent: eth0}}}', 'outside-network', '/networks/n/driver_opts'],
  ['networks: {n: {ipam: {config: [{subnet: 0.0.0.0/0}]}}}', 'outside-network', '/networks/n/ipam'],
  ['networks: {n: {attachable: true}}', 'outside-network', '/networks/n/attachable'],
  ['networks: {n: {enable_ipv6: true}}', 'outside-network', '/networks/n/enable_ipv6'],
  ['networks: {a: {}, b: {}, c: {}, d: {}, e: {}}', 'size', '/networks'],
  ['networks: {_base_x: {}}', 'value', '/networks/_base_x'],
  ['service: {}', 'unknown-key', '/service'],
]

const hostileFiles: [sentence: string, text: string, refused: string][] = [
  ['nothing', '', 'value '],
  ['a list', '[1]', 'value '],
  ['no services', 'volumes: {}', 'value '],
  ['services that are nothing', 'services: {}', 'value /services'],
  ['a service without an image', 'services: {web: {expose: [80]}}', 'image /services/web'],
  ['a service that is text', 'services: {web: nginx}', 'value /services/web'],
  ['a service name with capitals', 'services: {Web: {image: "a:1", expose: [80]}}', 'value /services/Web'],
  ['a service name that climbs', 'services: {"../x": {image: "a:1", expose: [80]}}', 'value /services/..~1x'],
  [
    'a service name that looks like one of a release',
    'services: {web-r3: {image: "a:1", expose: [80]}}',
    'value /services/web-r3',
  ],
  ['21 services', `services: {${Array.from({ length: 21 }, (_, n) => `s${n}: {image: "a:1"}`)}}`, 'size /services'],
  ['a tab as indent', 'services:\n\tweb: {}', 'syntax '],
  ['two documents', 'services: {}\n---\nservices: {}', 'syntax '],
  ['a %YAML line', '%YAML 1.1\n---\nservices: {}', 'syntax '],
  ['a tag', 'services: !!python/object {}', 'syntax /services'],
  ['a tag of Compose', 'services: {web: {image: !reset null}}', 'syntax /services/web/image'],
  ['the same key twice', withKey('image: other:1'), 'syntax /services/web/image'],
  ['the same service twice', 'services:\n  a: {}\n  a: {}', 'syntax /services/a'],
  ['a key that is no name', 'services: {1: {}}', 'syntax /services'],
  ['a key that is a list', 'services: {? [a] : {}}', 'syntax /services'],
  ['an alias without its anchor', 'services: *web', 'syntax /services'],
  ['an anchor that holds itself', 'services: &s {web: *s}', 'syntax /services/web'],
  ['a merge of text', 'services: {web: {<<: x}}', 'syntax /services/web'],
  ['a number that readers see differently', withKey('user: 0777'), 'syntax /services/web/user'],
  ['infinity', withKey('cpus: .inf'), 'syntax /services/web/cpus'],
  ['a NUL', 'services: {web: {image: "a\\0b"}}', 'syntax /services/web/image'],
  ['an alias bomb', bomb(), 'syntax /x-4/7/2/7/6/0'],
  ['too deep a nesting', `services: ${'['.repeat(200)}`, 'syntax '],
  ['more characters than a compose file has', `# ${'x'.repeat(131_072)}`, 'size '],
  ['more tokens than a compose file has', `x-a: [${'a,'.repeat(40_000)}]`, 'size '],
  ['a variable that makes it huge', withKey(`command: [${'"$BIG",'.repeat(20)}]`), 'size /services/web/command/15'],
  [
    'privileges merged from an extension',
    'x-p: &p {privileged: true}\nservices: {web: {<<: *p, image: "a:1", expose: [80]}}',
    'privileges /services/web/privileged',
  ],
  [
    'privileges merged from a list of extensions',
    'x-p: &p {pid: host}\nx-q: &q {tty: true}\nservices: {web: {<<: [*q, *p], image: "a:1", expose: [80]}}',
    'host-namespace /services/web/pid',
  ],
  ['one variable that is used too often', withKey(`command: "${'$BIG'.repeat(20_000)}"`), 'size /services/web/command'],
  ['an env file that doubles with each line', withKey('env_file: doubling.env'), 'size /services/web/env_file'],
  ['no port anywhere', 'services: {web: {image: "a:1"}}', 'route /services'],
  [
    'two services with ports',
    'services: {a: {image: "a:1", expose: [80]}, b: {image: "b:1", ports: ["81"]}}',
    'route /services',
  ],
  ['two ports of the only service', 'services: {a: {image: "a:1", expose: [80, 81]}}', 'route /services/a'],
  ['visitors on an internal network', `${withTop('networks: {default: {internal: true}}')}`, 'route /services/web'],
  [
    'a circle of dependencies',
    'services: {a: {image: "a:1", depends_on: [b], expose: [80]}, b: {image: "b:1", depends_on: [a]}}',
    'value /services/a',
  ],
  [
    'two mounts at one place',
    `${withKey('volumes: ["d:/x", "e:/x/."]')}volumes: {d: {}, e: {}}`,
    'value /services/web/volumes/1',
  ],
  [
    'more than the memory of the app together',
    'services: {a: {image: "a:1", expose: [80], mem_limit: 600m}, b: {image: "b:1", mem_limit: 600m}}',
    'budget /services',
  ],
  [
    'too little memory left for the rest',
    'services: {a: {image: "a:1", expose: [80], mem_limit: 1020m}, b: {image: "b:1"}}',
    'budget /services',
  ],
]

/** Sixty lines, each twice the one before. */
function doubling(): string {
  return ['A0=xx', ...Array.from({ length: 60 }, (_, n) => `A${n + 1}=$A${n}$A${n}`)].join('\n')
}

/** Nine levels of nine aliases each: 387 million values. */
function bomb(): string {
  const level = (n: number) => `x-${n}: &l${n} [${Array.from({ length: 9 }, () => `*l${n - 1}`).join(', ')}]`
  return `x-0: &l0 [a]\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(level).join('\n')}\nservices: {web: {command: *l9}}\n`
}

const images: [image: string, rule: string][] = [
  ['localhost/evil', 'image'],
  ['127.0.0.1:5000/x', 'image'],
  ['169.254.169.254/latest/meta-data', 'image'],
  ['registry.internal/x:1', 'image'],
  ['registry.corp.local:5000/x:1', 'image'],
  ['bottega.local/other/web:1', 'image'],
  ['myregistry:5000/x', 'image'],
  ['sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1', 'value'],
  ['UPPER/case', 'image'],
  ['nginx:', 'value'],
  ['nginx@sha256:12', 'value'],
  ['nginx:a b', 'value'],
  ['-x', 'value'],
  ['https://evil.test/x', 'value'],
  ['a//b', 'value'],
]

const lineOf = (text: string, part: string): number => text.split('\n').findIndex((line) => line.includes(part)) + 1
const keyOf = (lines: string): string => lines.slice(0, lines.indexOf(':'))

spec('a compose file that asks for too much', (t) => {
  const env = { SOCK: '/var/run/docker.sock', BIG: 'x'.repeat(65_536) }
  for (const [lines, rule, inside = ''] of hostileKeys) {
    const pointer = inside.startsWith('^')
      ? inside.slice(1)
      : `${WEB}/${keyOf(lines)}`.replace(
          /$/,
          inside.startsWith(`/${keyOf(lines)}`) ? inside.slice(keyOf(lines).length + 1) : inside,
        )
    t(`is refused for ${lines}`, () =>
      assert.ok(
        refusals(judge(withKey(lines), { env })).includes(`${rule} ${pointer}`),
        `${rule} ${pointer} ≠ ${refusals(judge(withKey(lines), { env }))}`,
      ),
    )
  }
  for (const [entry, rule, inside = ''] of hostileMounts) {
    t(`is refused for a mount of ${entry}`, () => {
      const found = refusals(judge(`${withKey(`volumes:\n  - ${entry}`)}volumes: {data: {}}\n`, { env }))
      assert.equal(found, [`${rule} ${WEB}/volumes/0${inside}`])
    })
  }
  for (const [lines, rule, key] of hostileBuilds) {
    t(`is refused for a build with ${JSON.stringify(lines)}`, () =>
      assert.equal(refusals(judge(withBuild(lines))), [`${rule} ${WEB}/build${key === '' ? '' : `/${key}`}`]),
    )
  }
  for (const [lines, rule, pointer] of hostileTops) {
    t(`is refused for ${lines} at the top`, () => assert.equal(refusals(judge(withTop(lines))), [`${rule} ${pointer}`]))
  }
  for (const [image, rule] of images) {
    t(`is refused for the image ${image}`, () =>
      assert.equal(refusals(judge(`services: {web: {image: ${JSON.stringify(image)}, expose: [80]}}`)), [
        `${rule} ${WEB}/image`,
      ]),
    )
  }
  for (const [sentence, text, refused] of hostileFiles) {
    t(`is refused for ${sentence}`, () =>
      assert.ok(refusals(judge(text, { env })).includes(refused), String(refusals(judge(text, { env })))),
    )
  }

  t('is told the line, what is wrong and what to write instead', () => {
    const text = withKey('user: "1000"\nprivileged: true')
    const verdict = judge(text)
    assert.not(verdict.ok)
    const [finding] = verdict.ok ? [] : verdict.findings
    assert.equal(finding, {
      rule: 'privileges',
      level: 'refuse',
      pointer: '/services/web/privileged',
      file: 'docker-compose.yml',
      line: lineOf(text, 'privileged'),
      detail: 'A privileged container is root on the host.',
      next: 'Remove it.',
    })
  })

  t('is told the line of an env file', () => {
    const verdict = judge(withKey('env_file: bad.env'))
    const [finding] = verdict.ok ? [] : verdict.findings
    assert.is(`${finding?.file}:${finding?.line}`, 'bad.env:1')
  })

  t('is never shown a value of the env', () => {
    const secret = 'hunter2-very-secret'
    const keys = hostileKeys.map(([lines]) => keyOf(lines))
    for (const key of new Set([...keys, 'image', 'volumes', 'build', 'expose'])) {
      const places = [
        `${key}: "\${S}"`,
        `${key}: ["\${S}"]`,
        `${key}: {a: "\${S}"}`,
        `${key}: {path: "\${S}", context: "\${S}"}`,
      ]
      for (const place of places) {
        const verdict = judge(`services:\n  web:\n    ${place}\n`, { env: { S: secret } })
        assert.not.ok(JSON.stringify(verdict.ok ? [] : verdict.findings).includes(secret), place)
      }
    }
  })

  t('is told at most 100 findings', () => {
    const services = Array.from(
      { length: 20 },
      (_, n) => `  s${n}: {privileged: true, pid: host, uts: host, a1: 1, a2: 1, a3: 1, a4: 1}`,
    )
    const verdict = judge(`services:\n${services.join('\n')}\n`)
    assert.is(verdict.ok ? 0 : verdict.findings.length, 100)
  })
})
