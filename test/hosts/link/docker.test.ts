import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { HostJobState } from '../../../controllers/io/hosts/hosts.ts'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** What apps rest on: the user's Docker with Compose, a job that builds and starts, and a route to what it published. */
spec("a host's Docker", (t) => {
  let host: AppHost
  let open: TestHosts
  const compose = {
    name: 'web',
    services: {
      web: {
        build: { context: '.' },
        ports: ['127.0.0.1::8080'],
        read_only: true,
        cap_drop: ['ALL'],
        init: true,
      },
    },
  }
  const dockerfile =
    'FROM scratch\nCOPY busybox /bin/busybox\nCOPY index.html /www/index.html\nUSER 65532:65532\nCMD ["/bin/busybox","httpd","-f","-p","8080","-h","/www"]\n'

  t.before(async () => {
    ensurePackages([{ name: 'busybox-static', files: ['/bin/busybox'] }], { what: 'A test of Docker' })
    host = await startAppHost()
    open = await openHosts(host)
  })
  t.after(async () => {
    const down = { name: 'down', text: 'cd web && docker compose down --rmi local -t 1 2>&1; exit 0' }
    await open.hosts.link(HOST_NAME).run({ script: down, deadlineMs: 30_000 })
    await open.end()
    await host.end()
  })

  t(
    'builds and starts a project in a detached job, and its proxy serves it under TLS',
    async () => {
      const link = open.hosts.link(HOST_NAME)
      const script = {
        name: 'up',
        text: `mkdir -p "$HOME/web" && cd "$HOME/web" || exit 1
IFS= read -r compose && printf '%s' "$compose" > compose.json
cat > Dockerfile
cp /bin/busybox busybox && echo served > index.html
docker compose -f compose.json up -d --build --wait --wait-timeout 60`,
      }
      const lines = [JSON.stringify(compose)]
      await link.startJob({ id: 'up-1', script, lines, body: Buffer.from(dockerfile), limitMs: 120_000 })
      const ended = await eventually<Extract<HostJobState, { state: 'exited' }>>(
        'the job to end',
        async () => {
          const state = await link.jobState('up-1')
          return state.state === 'exited' && state
        },
        120_000,
      )
      assert.is(ended.code, 0, ended.log)
      const port = { name: 'port', text: 'cd web && docker compose -f compose.json port web 8080' }
      const { stdout } = await link.run({ script: port, deadlineMs: 20_000 })
      const address = stdout.toString().trim()
      assert.match(address, /^127\.0\.0\.1:\d+$/)
      const hostname = `web.${host.baseDomain}`
      const handle = [{ handler: 'reverse_proxy', upstreams: [{ dial: address }] }]
      await open.hosts.routes(HOST_NAME).set({ id: 'app-web', owner: 'App/web', hostnames: [hostname], handle })
      const body = await eventually('the page', () => visit(host, hostname))
      assert.is(body, 'served\n')
    },
    { timeoutMs: 180_000 },
  )
})

const visit = (host: AppHost, hostname: string): Promise<string | null> =>
  new Promise((resolve) => {
    const ca = readFileSync(host.acme.caCert)
    const to = {
      host: '127.0.0.1',
      port: host.httpsPort,
      servername: hostname,
      headers: { host: hostname },
      ca,
      agent: false,
    }
    request(to, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
      .on('error', () => resolve(null))
      .end()
  })
