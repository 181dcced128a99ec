import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, project, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** Visitors are led to a container's own address (hack/decisions/101), and never to who has that address after it. */

const timeoutMs = 240_000

spec('the address of a container', (t) => {
  let stage: AppStage
  let app: Json
  let file: string
  const docker = (...args: string[]): string =>
    execFileSync('docker', ['--host', `unix://${stage.host.dockerSocket}`, ...args], { encoding: 'utf8' }).trim()
  const ask = (address: string): string =>
    execFileSync('curl', ['-s', '--max-time', '5', '--noproxy', '*', `http://${address}/`], { encoding: 'utf8' }).trim()
  const page = async (): Promise<string> => {
    const { status, text } = await stage.visit('addressed')
    return `${status} ${text.trim()}`
  }
  const webOf = (): string => docker('ps', '-q', '--filter', 'label=com.docker.compose.service=web-r1')
  const said = (): string => {
    try {
      return readFileSync(file, 'utf8').trim()
    } catch {
      return ''
    }
  }
  const ownAddress = (): string =>
    `${docker('inspect', '-f', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', webOf())}:8080`

  t.before(async () => {
    stage = await startAppStage({ docker: 'own' })
    app = await stage.app('addressed')
    const { json, text }: Reply = await stage.deploy(app.id, project('mine'))
    assert.is(json.operation.state, 'succeeded', text)
    const uid = await stage.platform.kubectl(['get', 'bapp', app.id, '-o', 'jsonpath={.metadata.uid}'])
    file = join(stage.host.siteRoot, 'dial', `app-${uid}`)
  })
  t.after(() => stage.end())

  t('stands on the link that it is behind, and is where visitors are led', async () => {
    assert.match(readlinkSync(file), /^\/sys\/class\/net\/veth[0-9a-f]+\/ifalias$/)
    assert.is(said(), ownAddress())
    assert.is(await page(), '200 mine')
    const restart = await stage.platform.kubectl(['get', 'bhost', 'local', '-o', 'jsonpath={.status.engineRestart}'])
    assert.is(restart, 'whole')
  })

  t(
    'leads nobody to a stranger who is given it, whoever took the network away',
    async () => {
      const [before, web] = [said(), webOf()]
      const [network = ''] = Object.keys(JSON.parse(docker('inspect', '-f', '{{json .NetworkSettings.Networks}}', web)))
      const subnet = docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', network)
      const image = docker('inspect', '-f', '{{.Image}}', web)
      docker('rm', '-f', web)
      docker('network', 'rm', network)
      assert.is(said(), '', 'the address went with the link')
      const bridge = 'com.docker.network.bridge.name=bt-stranger'
      docker('network', 'create', '--subnet', subnet, '-o', bridge, 'stranger')
      const serve = 'mkdir -p /tmp/www && echo stranger > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www'
      const command = ['/bin/busybox', 'sh', '-c', serve.replaceAll(/(mkdir|httpd)/g, '/bin/busybox $1')]
      const [ip = ''] = before.split(':')
      docker('run', '-d', '--name', 'stranger', '--network', 'stranger', '--ip', ip, image, ...command)
      await eventually('the stranger to serve', async () => ask(before) === 'stranger')
      const pages = new Set<string>()
      const isServed = async () => {
        pages.add(await page().catch(String))
        return [...pages].some((one) => one === '200 mine')
      }
      await eventually('the app to be served again', isServed, 120_000)
      assert.not.match([...pages].join(), /stranger/)
      assert.is(ask(before), 'stranger', 'it had the address all the time')
      assert.is(said(), ownAddress())
      assert.is.not(said(), before)
      docker('rm', '-f', 'stranger')
    },
    { timeoutMs },
  )

  t(
    'is the published port while no guard stands, and its own again afterwards',
    async () => {
      docker('rm', '-f', 'bottega-guard')
      const isPublished = async () => !lstatSync(file).isSymbolicLink() && said()
      // The guard is put back each minute: it may be there before an app was looked at.
      const published = await eventually(
        'the port on loopback',
        async () => {
          if (docker('ps', '-q', '--filter', 'name=bottega-guard') !== '') docker('rm', '-f', 'bottega-guard')
          return isPublished()
        },
        120_000,
      )
      assert.match(published, /^127\.0\.0\.1:\d+$/)
      assert.is(await page(), '200 mine')
      await eventually('its own address', async () => said() === ownAddress(), 180_000)
      await sleep(1_000)
      assert.is(await page(), '200 mine')
    },
    { timeoutMs: 400_000 },
  )
})
