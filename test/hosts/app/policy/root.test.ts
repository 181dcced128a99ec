import { execFileSync } from 'node:child_process'
import { rawTar } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** A host whose Docker remaps no users: root in a container would be root of the machine there (hack/decisions/050). */

const ROOTS = 'example/served:1'
const NOBODYS = 'example/served-by-nobody:1'
const timeoutMs = 240_000

/** Serves the number of its user. */
const SERVE = `b=/bin/busybox; $$b mkdir -p /tmp/www && $$b id -u > /tmp/www/index.html && exec $$b httpd -f -p 8080 -h /tmp/www`
const compose = (image: string, more = '') => `services:
  web:
    image: ${image}
    command: ["/bin/busybox", "sh", "-c", ${JSON.stringify(SERVE)}]
    expose: ["8080"]
    stop_grace_period: 1s
${more}`

spec('a host on which root of a container is root', (t) => {
  let stage: AppStage
  const docker = (args: readonly string[], input?: Buffer): string =>
    execFileSync('docker', ['-H', `unix://${stage.host.dockerSocket}`, ...args], { input, encoding: 'utf8' }).trim()
  const deploy = async (slug: string, text: string, files: Record<string, string> = {}): Promise<[Json, Json]> => {
    const app = await stage.app(slug)
    return [app, (await stage.deploy(app.id, { compose: text, files })).json]
  }
  const started = (slug: string): string =>
    docker(['ps', '--all', '--quiet', '--filter', `label=dev.bottega.app=${slug}`])

  t.before(async () => {
    stage = await startAppStage({ docker: 'rooted' })
    const content = Buffer.from(busybox(), 'base64')
    const folders = ['bin/', 'tmp/'].map((path) => ({ path, type: '5', mode: 0o1777 }))
    const tar = rawTar([...folders, { path: 'bin/busybox', content, mode: 0o755 }])
    docker(['import', '-', ROOTS], tar)
    docker(['import', '--change', 'USER 65532', '-', NOBODYS], tar)
  })
  t.after(() => stage?.end())

  t('is found to be one, and says what is not done on it', async () => {
    const { status } = JSON.parse(await stage.platform.kubectl(['get', 'bhost', 'local', '-o', 'json']))
    assert.is(status.isolation.users, 'plain')
    assert.match(JSON.stringify(status.conditions), /Nothing is built here: Docker does not remap users/)
  })

  t(
    'ends a release whose image begins as root, with nothing started and the words of what to do',
    async () => {
      const [app, { operation, release }] = await deploy('rooted', compose(ROOTS))
      assert.equal([operation.state, operation.result?.code], ['failed', 'ROOT_REFUSED'])
      const words = 'web begins as root, and root in a container is root on local'
      assert.match(operation.result.detail, words)
      assert.equal([release.state, started('rooted')], ['failed', ''])
      assert.match(release.reason, words)
      const said = await eventually('kubectl to say so', async () => {
        const { status } = JSON.parse(await stage.platform.kubectl(['get', 'bapp', app.id, '-o', 'json']))
        return status?.conditions?.find((one: Json) => one.type === 'ReleaseFailed')
      })
      assert.is(said.reason, 'RootRefused')
      assert.match(said.message, `ROOT_REFUSED: ${words}; nothing is live`)
    },
    { timeoutMs },
  )

  t(
    'ends one whose service names root, whatever user its image names',
    async () => {
      for (const [slug, user] of [
        ['named', 'root'],
        ['numbered', '0:65532'],
      ] as const) {
        const [, { operation }] = await deploy(slug, compose(NOBODYS, `    user: "${user}"\n`))
        assert.equal([operation.state, operation.result?.code], ['failed', 'ROOT_REFUSED'], user)
        assert.is(started(slug), '')
      }
    },
    { timeoutMs },
  )

  t(
    'runs one that begins as somebody else, by its image or by its service',
    async () => {
      for (const [slug, text, uid] of [
        ['nobodys', compose(NOBODYS), '65532'],
        ['anothers', compose(ROOTS, '    user: "4242"\n'), '4242'],
      ] as const) {
        const [, { operation }] = await deploy(slug, text)
        assert.is(operation.state, 'succeeded', JSON.stringify(operation))
        assert.equal((await stage.visit(slug)).text.trim(), uid)
      }
    },
    { timeoutMs },
  )
})
