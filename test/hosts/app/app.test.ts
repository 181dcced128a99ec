import { query } from '../../../hack/platform/postgres.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppStage, project, settled, startAppStage } from '../../support/stage/apps.ts'
import { eventually, type Json, type Reply } from '../../support/stage/invoicing.ts'

/** An app from its first deploy on, over real SSH, Docker and Caddy. */

/** Builds, starts and waits, on a machine that does other things too. */
const timeoutMs = 240_000
const GREETING = canaryValue('greeting')

/** Answered with the end, or with where to poll when the wait runs out. */
const isTaken = ({ status, headers }: Reply) => status === 200 || (status === 202 && headers.has('location'))

spec('an app on a host', (t) => {
  let stage: AppStage
  let app: Json
  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('first', { application_policy: 'none' })
  })
  t.after(() => stage.end())

  t(
    'is released and reached under its own name',
    async () => {
      const reply = await stage.deploy(app.id, project('one'))
      assert.ok(isTaken(reply), reply.text)
      const { operation, release } = reply.json
      assert.is(operation.state, 'succeeded', reply.text)
      assert.is(release.number, 1)
      assert.is(release.state, 'live')
      assert.is((await stage.visit('first')).text.trim(), 'one')
    },
    { timeoutMs },
  )

  t(
    'takes its env with a new release that keeps the images, and shows names only',
    async () => {
      const reply = await stage.operate('PATCH', `/api/apps/${app.id}/env`, { env: { GREETING } })
      assert.ok(isTaken(reply), reply.text)
      assert.is(reply.json.operation.state, 'succeeded', reply.text)
      assert.is(reply.json.release.number, 2)
      assert.is((await stage.visit('first')).text.trim(), `one ${GREETING}`)
      const env = await stage.api('GET', `/api/apps/${app.id}/env`)
      assert.equal(env.json.env, { stored_version: 1, applied_version: 1, keys: ['GREETING'] })
      assert.not.match(JSON.stringify(reply.json), GREETING)
    },
    { timeoutMs },
  )

  t(
    'goes back to a release, with the env of then or of now, without a build',
    async () => {
      const then = await stage.operate('POST', `/api/apps/${app.id}/rollback`, { release: 1 })
      assert.is(then.json.operation.state, 'succeeded', then.text)
      assert.equal(then.json.env_diff, { added: [], removed: ['GREETING'], changed: [] })
      assert.is(then.json.release.restored_from, 1)
      assert.is((await stage.visit('first')).text.trim(), 'one')
      const images = then.json.release.images
      const now = await stage.operate('POST', `/api/apps/${app.id}/rollback`, { release: 2, env: 'release' })
      assert.equal(now.json.release.images, images)
      assert.is((await stage.visit('first')).text.trim(), `one ${GREETING}`)
    },
    { timeoutMs },
  )

  t(
    'leaves the old release serving when the new one exits, and says why',
    async () => {
      const reply = await stage.deploy(app.id, project('two', { command: 'echo no such file; exit 3' }))
      const { operation, release } = reply.json
      assert.is(operation.state, 'failed', reply.text)
      assert.is(operation.result.code, 'RELEASE_FAILED')
      assert.match(release.reason, /exited|restarts/)
      assert.match(release.log_tail, /no such file/)
      assert.is((await stage.visit('first')).text.trim(), `one ${GREETING}`)
      assert.is((await stage.api('GET', `/api/apps/${app.id}`)).json.app.release.number, 4)
    },
    { timeoutMs },
  )

  t(
    'leaves the old release serving when the build fails',
    async () => {
      const sent = project('three')
      sent.files.Dockerfile = Buffer.from('FROM scratch\nCOPY nothing /\n').toString('base64')
      const reply = await stage.deploy(app.id, sent)
      assert.is(reply.json.operation.state, 'failed', reply.text)
      assert.is(reply.json.operation.result.code, 'BUILD_FAILED')
      assert.is((await stage.visit('first')).text.trim(), `one ${GREETING}`)
    },
    { timeoutMs },
  )

  t(
    'hands out its log, without values of the env',
    async () => {
      const sent = project('four', {
        command:
          'echo secret is $GREETING; echo "$VERSION" > /tmp/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp',
      })
      assert.is((await stage.deploy(app.id, sent)).json.operation.state, 'succeeded')
      const { status, text } = await stage.api('GET', `/api/apps/${app.id}/logs?tail=10`)
      assert.is(status, 200, text)
      assert.match(text, /secret is \[redacted\]/)
    },
    { timeoutMs },
  )

  t(
    'follows the log as it is written, each line once, until the reader leaves',
    async () => {
      const ticks = 'n=0; while :; do n=$((n+1)); echo tick $n; sleep 1; done & '
      const sent = project('five', {
        command: `${ticks}echo "$VERSION" > /tmp/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp`,
      })
      assert.is((await stage.deploy(app.id, sent)).json.operation.state, 'succeeded')
      const leave = new AbortController()
      const { platform } = stage
      const response = await fetch(`${platform.baseUrl}/api/apps/${app.id}/logs?follow=1&tail=2`, {
        headers: { authorization: `Bearer ${platform.owner}` },
        signal: leave.signal,
      })
      assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      const ticked: number[] = []
      const endMs = performance.now() + 90_000
      let text = ''
      const reading = async () => {
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          ticked.splice(0, ticked.length, ...[...text.matchAll(/tick (\d+)\n\n/g)].map(([, n]) => Number(n)))
          if (ticked.length >= 6 || performance.now() > endMs) return
        }
      }
      await reading()
      const reason = ['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}']
      // A look that takes long, on a busy machine, is told while it takes.
      await eventually('following to be no work of its own', async () => (await platform.kubectl(reason)) === 'Live')
      leave.abort()
      const [first = 0] = ticked
      assert.ok(ticked.length >= 6, text)
      assert.equal(
        ticked,
        Array.from({ length: ticked.length }, (_, place) => first + place),
        text,
      )
      assert.ok(
        text.split('\n').every((line) => line === '' || /^(data|id): /.test(line)),
        text,
      )
      const requests = () => query(platform.database.url, 'select id from app_log_requests')
      await eventually('the request to be forgotten', async () => (await requests()).length === 0, 60_000)
    },
    { timeoutMs },
  )

  t(
    'is private behind a password when it is told to be',
    async () => {
      const change = { access: 'private', password: 'correct horse battery' }
      const changed = await stage.api('PATCH', `/api/apps/${app.id}`, change)
      assert.is(changed.status, 200, changed.text)
      const shut = await stage.visit('first', '/index.html?a=1', { headers: { accept: 'text/html' } })
      assert.is(shut.status, 303, shut.text)
      assert.is(shut.headers.location, '/_bottega/access?next=%2Findex.html%3Fa%3D1')
      assert.is((await stage.visit('first')).status, 401)
      const page = await stage.visit('first', '/_bottega/access?next=%2F')
      assert.match(page.text, /type="password"/)
      const form = (password: string) => ({
        method: 'POST',
        body: new URLSearchParams({ password, next: '/' }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      assert.is((await stage.visit('first', '/_bottega/access', form('wrong'))).status, 403)
      const opened = await stage.visit('first', '/_bottega/access', form('correct horse battery'))
      assert.is(opened.status, 303, opened.text)
      const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? ''
      assert.match(String(opened.headers['set-cookie']), /^__Host-.*Path=\/;.*HttpOnly; SameSite=Lax; Secure$/)
      assert.is((await stage.visit('first', '/', { headers: { cookie } })).text.trim(), 'five')
    },
    { timeoutMs },
  )

  t(
    'leaves its host when it is deleted',
    async () => {
      const reply = await settled(stage, await stage.api('DELETE', `/api/apps/${app.id}`))
      assert.is(reply.status, 204, reply.text)
      assert.is((await stage.api('GET', `/api/apps/${app.id}`)).status, 404)
      assert.is((await stage.visit('first').catch(() => ({ status: 404 }))).status, 404)
    },
    { timeoutMs },
  )
})
