import { type ServedRepository, startRepository } from '../../../support/builders/sources/repository.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** Branches beside the live app, on a real host: each under its own name, with volumes of its own, until its end. */

const timeoutMs = 240_000
const BRANCH = 'feature/basket'

/** Says its version, its env, and how often it was started on its volume. */
const COUNT =
  'b=/bin/busybox; $b mkdir -p /tmp/www; echo x >> /data/starts; echo "$VERSION $GREETING $($b wc -l < /data/starts)" > /tmp/www/index.html; exec $b httpd -f -p 8080 -h /tmp/www'

const files = (version: string): Record<string, string | { run: Buffer }> => ({
  'compose.yaml': `services:
  web:
    build: .
    command: ${JSON.stringify(['/bin/busybox', 'sh', '-c', COUNT.replaceAll('$', '$$$$')])}
    environment: { VERSION: ${version} }
    volumes: ["data:/data"]
    expose: ["8080"]
    stop_grace_period: 1s
volumes: { data: {} }
`,
  Dockerfile: 'FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n',
  busybox: { run: Buffer.from(busybox(), 'base64') },
})

spec('previews of branches', (t) => {
  let stage: AppStage
  let served: ServedRepository
  let app: Json
  let basket: Json
  const at = (rest: string) => `/api/apps/${app.id}/previews${rest}`
  const shown = async (id: string): Promise<Json> => (await stage.api('GET', at(`/${id}`))).json.preview
  const ready = (id: string, release = 1) =>
    eventually(
      `${id} to be ready`,
      async () => {
        const preview = await shown(id)
        assert.ok(!['failed', 'stalled'].includes(preview.state), JSON.stringify(preview))
        return preview.state === 'ready' && preview.release === release && preview
      },
      120_000,
    )
  const ended = (id: string) =>
    eventually(`the end of ${id}`, async () => ((await shown(id)).state === 'ended' ? shown(id) : false), 120_000)
  const branch = (name: string, version: string) => {
    served.git('checkout', '-q', '-B', name)
    served.commit(files(version))
    served.git('checkout', '-q', 'main')
  }
  const told = async (type: string): Promise<Json[]> => {
    const { events } = (await stage.api('GET', '/api/events?limit=200')).json
    return events.filter((event: Json) => event.type === type)
  }
  const onHost = (slug: string): string =>
    [
      docker('ps', '-aq', '--filter', `label=dev.bottega.app=${slug}`),
      docker('volume', 'ls', '-q', '--filter', `name=${slug}`),
      docker('network', 'ls', '-q', '--filter', `name=${slug}`),
    ].join('')

  t.before(async () => {
    stage = await startAppStage({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    served = await startRepository()
    app = await stage.app('branched', { application_policy: 'none' })
    served.commit(files('main'))
    branch(BRANCH, 'basket')
    assert.is((await stage.api('PUT', `/api/apps/${app.id}/env`, { env: { GREETING: 'hello' } })).status, 200)
    const none = await stage.api('POST', at(''), { ref: BRANCH })
    assert.equal([none.json.code, none.json.errors[0].pointer], ['INVALID_FIELD', '/git/url'], 'of no repository')
    const done = await stage.operate('POST', `/api/apps/${app.id}/deploy`, { git: { url: served.url, ref: 'main' } })
    assert.is(done.json.operation?.state, 'succeeded', done.text)
  })
  t.after(async () => {
    await served.end()
    await stage.end()
  })

  t(
    'are made of a branch of the repository of the app, private, unlisted, beside what is live',
    async () => {
      const reply = await stage.api('POST', at(''), { ref: BRANCH, ttl: '1h' })
      assert.is(reply.status, 201, reply.text)
      basket = reply.json.preview
      assert.match(reply.json.password, /^\S{12}$/)
      assert.is(basket.hostname, `feature-basket--branched.${stage.host.baseDomain}`)
      assert.is(reply.json.app.preview_of.app, app.id)
      const lastsMs = Date.parse(basket.expires_at) - Date.now()
      assert.ok(lastsMs > 3_400_000 && lastsMs <= 3_600_000, basket.expires_at)
      basket = await ready(basket.id)
      const page = await stage.visit('feature-basket--branched')
      assert.is.not(page.status, 200, page.text)
      assert.is(page.headers['x-robots-tag'], 'noindex, nofollow')
      assert.match((await stage.visit('branched')).text, 'main hello 1')
      assert.is((await stage.visit('branched')).headers['x-robots-tag'], undefined)
      const [event] = await told('app.preview_ready')
      assert.equal(
        [event?.data.app.id, event?.data.app.preview_of],
        [basket.id, { app: app.id, ref: BRANCH, expires_at: basket.expires_at }],
      )
    },
    { timeoutMs },
  )

  t(
    'are replaced by the same branch: the same name and id, its own volume, until another end',
    async () => {
      branch(BRANCH, 'basket-two')
      const reply = await stage.api('POST', at(''), { ref: BRANCH, ttl: '2h', access: 'public' })
      assert.is(reply.status, 200, reply.text)
      assert.is(reply.json.preview.id, basket.id)
      assert.ok(reply.json.preview.expires_at > basket.expires_at)
      await ready(basket.id, 2)
      const page = await stage.visit('feature-basket--branched')
      assert.match(page.text, 'basket-two hello 2')
      assert.is(page.headers['x-robots-tag'], 'noindex, nofollow')
      assert.match((await stage.visit('branched')).text, 'main hello 1')
    },
    { timeoutMs },
  )

  t('are listed, in the app, and by kubectl', async () => {
    const listed = (await stage.api('GET', at(''))).json
    assert.equal([listed.total, listed.previews[0].id, listed.previews[0].state], [1, basket.id, 'ready'])
    await eventually('the app to show it', async () => {
      const { previews } = (await stage.api('GET', `/api/apps/${app.id}`)).json.app
      return previews.length === 1 && previews[0].id === basket.id && previews[0].ref === BRANCH
    })
    const wide = await stage.platform.kubectl(['get', 'bapp', '-o', 'wide'])
    assert.match(wide, new RegExp(`${basket.id} .*feature-basket--branched.* ${app.id} +20`))
    const other = await stage.as('other')
    assert.is((await other.api('GET', at(''))).status, 404)
    assert.is((await other.api('DELETE', at(`/${basket.id}`))).status, 404)
  })

  t('of nothing are refused, and leave nothing behind', async () => {
    const refused = async (body: object, id = app.id) =>
      (await stage.api('POST', `/api/apps/${id}/previews`, body)).json.code
    assert.is(await refused({ ref: 'nothing' }), 'GIT_FAILED')
    assert.is(await refused({ ref: '../x' }), 'INVALID_FIELD')
    assert.is(await refused({ ref: BRANCH, ttl: '4m' }), 'INVALID_FIELD')
    assert.is(await refused({ ref: BRANCH, ttl: '31d' }), 'INVALID_FIELD')
    assert.is(await refused({ ref: BRANCH, expires_at: '2020-01-01T00:00:00Z' }), 'INVALID_FIELD')
    assert.is(await refused({ ref: BRANCH, env: { '9': 'x' } }), 'BAD_ENV')
    assert.is(await refused({ ref: 'main' }, basket.id), 'BAD_PREVIEW')
    assert.is((await stage.api('GET', at(''))).json.total, 1)
  })

  t(
    'end by themselves when their end has come: nothing of them is left, and what is live is as it was',
    async () => {
      const soon = new Date(Date.now() + 1_500).toISOString()
      const patch = JSON.stringify({ spec: { previewOf: { expiresAt: soon } } })
      await stage.platform.kubectl(['patch', 'bapp', basket.id, '--type=merge', '-p', patch])
      assert.is((await ended(basket.id)).reason, 'expired')
      assert.is(onHost('feature-basket--branched'), '')
      const isGone = async () => (await stage.api('GET', `/api/apps/${basket.id}`)).status === 404
      await eventually('its app to be forgotten', isGone)
      assert.match((await stage.visit('branched')).text, 'main hello 1')
      const [event] = await told('app.preview_ended')
      assert.equal([event?.data.app.id, event?.data.app.reason], [basket.id, 'expired'])
      await eventually('the app to forget it', async () => {
        return (await stage.api('GET', `/api/apps/${app.id}`)).json.app.previews.length === 0
      })
    },
    { timeoutMs },
  )

  t(
    'end before that when they are deleted, and with the app that they are of',
    async () => {
      const made = async (ref: string, body: object = {}): Promise<Json> => {
        branch(ref, ref)
        const reply = await stage.api('POST', at(''), { ref, ...body })
        assert.is(reply.status, 201, reply.text)
        return reply.json.preview
      }
      const given = await made('one', { access: 'public', env: { GREETING: 'given' } })
      await ready(given.id)
      assert.match((await stage.visit('one--branched')).text, 'one given 1')
      // of one whose first release is still under way, too
      const { id } = await made('two')
      const gone = await stage.api('DELETE', at(`/${given.id}`))
      assert.ok([202, 204].includes(gone.status), gone.text)
      assert.is((await ended(given.id)).reason, 'deleted')
      assert.is(onHost('one--branched'), '')
      const all = await stage.api('DELETE', `/api/apps/${app.id}?volumes=delete`)
      assert.ok([202, 204].includes(all.status), all.text)
      await eventually(
        'both to be gone',
        async () => {
          const left = await Promise.all([app.id, id].map((one) => stage.api('GET', `/api/apps/${one}`)))
          return left.every(({ status }) => status === 404)
        },
        120_000,
      )
      assert.is(onHost('two--branched'), '')
      assert.is(onHost('branched'), '')
      assert.is((await told('app.preview_ended')).length, 3)
    },
    { timeoutMs },
  )
})
