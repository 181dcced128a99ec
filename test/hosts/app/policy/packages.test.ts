import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** A Host that names what builds reach, as whoever builds there is told of it. What a gate lets through: gate.test.ts. */

const timeoutMs = 300_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** An address of documentation: nobody answers there, whoever is let through. */
const NOBODY = '192.0.2.9'
const fetches = (name: string): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/"]
    expose: ["8080"]
    stop_grace_period: 1s
`,
  files: {
    Dockerfile: base64(`FROM scratch
COPY busybox /bin/busybox
COPY busybox /bin/sh
RUN printf 'GET / HTTP/1.0\\r\\nHost: ${name}\\r\\n\\r\\n' | /bin/busybox timeout 5 /bin/busybox nc -w 4 ${NOBODY} 80 | /bin/busybox grep -q '^HTTP/1.. 200'
`),
    busybox: busybox(),
  },
})

spec('packages of a host', (t) => {
  let stage: AppStage
  let app: Json

  const patch = async (spec: object): Promise<void> => {
    await stage.platform.kubectl(['patch', 'bhost', 'local', '--type=merge', '-p', JSON.stringify({ spec })])
  }
  const told = async (): Promise<string> =>
    stage.platform.kubectl([
      ...['get', 'bhost', 'local', '-o'],
      'jsonpath={.status.conditions[?(@.type=="BuildsApart")].message}',
    ])

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('narrow', { application_policy: 'none' })
  })
  t.after(() => stage.end())

  t(
    'are told of where the host is looked at, and are none when left out',
    async () => {
      assert.match(await told(), /Builds reach every public address: the Host names no packages\./)
      await patch({ packages: ['packages.example.org'] })
      await eventually('that it is told', async () => /the 1 name of packages\./.test(await told()), 120_000)
      const { hosts } = (await stage.api('GET', '/api/apps/hosts')).json
      const { packages } = hosts.find(({ id }: Json) => id === 'local')
      assert.equal(packages, ['packages.example.org'])
    },
    { timeoutMs },
  )

  t(
    'name in the reason of a release what its build was refused, and what failed',
    async () => {
      const { json, text } = await stage.deploy(app.id, fetches('evil.example'))
      assert.is(json.operation.state, 'failed', text)
      assert.is(json.operation.result.code, 'PACKAGE_REFUSED')
      assert.match(json.release.reason, /refused what it asked for: not on the list of this host: evil\.example/)
      assert.match(json.release.log_tail, /^not on the list of this host: evil\.example$/m)
      await patch({ packages: null })
      await eventually('that it is told', async () => /every public address/.test(await told()), 120_000)
      const open = (await stage.deploy(app.id, fetches('other.example'))).json
      assert.is(open.operation.result.code, 'BUILD_FAILED')
    },
    { timeoutMs },
  )
})
