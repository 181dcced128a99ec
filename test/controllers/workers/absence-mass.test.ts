/** Much is deleted by kubectl while nobody leads: that wants a person, and what the person is told to do works. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createStack } from '../../../hack/platform/stack.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { scratchFolder, serviceKubeconfig } from '../../support/stage/stage.ts'

/** More than what is taken for deleted without a word. */
const DRAFTS = 25
const root = join(import.meta.dirname, '..', '..', '..')

let platform: Platform
const drafts: string[] = []
const ends: (() => Promise<unknown>)[] = []
type Leader = Pick<Platform, 'metricsUrls'>

const api = (method: string, path: string, body?: unknown) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body)
const there = async () => {
  const names = (await platform.kubectl(['get', 'inv', '-o', 'name'])).trim().split('\n')
  return names.map((name) => name.split('/')[1] ?? '').sort()
}
const pageOf = async ({ metricsUrls }: Leader, path: string, process: 'api' | 'controllers' = 'controllers') =>
  await (await fetch(metricsUrls[process].replace('/metrics', path))).text()
const leads = (leader: Leader) =>
  eventually('somebody to lead', async () => /^bottega_epoch [1-9]/m.test(await pageOf(leader, '/metrics')))
/** @returns the whole sentence */
const said = (leader: Leader) =>
  eventually(
    'it to be said',
    async () => /^failed cluster (CLUSTER_UNKNOWN: .*)$/m.exec(await pageOf(leader, '/readyz'))?.[1],
  )
/** While nobody leads, and past the api. */
const deleteDrafts = async () => {
  await platform.controllers.stop()
  await platform.kubectl(['delete', ...drafts.map((name) => `inv/${name}`)])
}
/** The api asks for itself: what is sent to it before that is taken, and waits. */
const refused = async () => {
  const noted = async () => (await pageOf(platform, '/readyz', 'api')).includes('noted writes CLUSTER_UNKNOWN')
  await eventually('the api to know', noted)
  const { status, json } = await api('POST', '', order())
  assert.equal([status, json.code], [503, 'CLUSTER_UNKNOWN'])
}
const written = () => eventually('a send', async () => (await api('POST', '', order())).status === 201)

/** As hack/reconcile and the chart's job run it. */
const reconcile = (...args: string[]): string => {
  const script = [join(root, 'controllers', 'setup.ts'), 'reconcile', ...args]
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...script], {
    encoding: 'utf8',
    env: {
      ...process.env,
      KUBECONFIG: serviceKubeconfig('reconcile'),
      BOTTEGA_DATABASE_URL: platform.database.url,
      BOTTEGA_NAMESPACE: platform.namespace.name,
      BOTTEGA_SECRET_KEY: platform.secretKey,
    },
  })
  assert.is(status, 0, stderr)
  return stdout
}

/** The controllers once more, with what a person has set. */
const accepting = async (token: string): Promise<Leader> => {
  const stack = await createStack({
    folder: scratchFolder('accepting'),
    owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
    namespace: platform.namespace.name,
    databaseUrl: platform.database.url,
    kubeconfigs: { api: serviceKubeconfig('api'), controllers: serviceKubeconfig('controllers') },
    env: { BOTTEGA_SECRET_KEY: platform.secretKey, BOTTEGA_ACCEPT_CLUSTER: token },
  })
  ends.push(stack.controllers.stop)
  await stack.controllers.start()
  return stack
}

spec('more than a few that were deleted while nobody led', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    for (let n = 0; n < DRAFTS; n++) {
      const made = await api('POST', '', order({ send: false, external_ref: `draft-${n}` }))
      assert.is(made.status, 201, made.text)
      drafts.push(made.json.invoice.id)
    }
    drafts.sort()
    await written()
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await platform?.end()
  })

  t(
    'are missed and not forgotten, and the command that is named makes them again',
    async () => {
      const before = await there()
      await deleteDrafts()
      await platform.controllers.start()
      const sentence = await said(platform)
      assert.match(sentence, `${DRAFTS} of ${DRAFTS + 3} known resources are absent in this cluster`)
      assert.match(sentence, 'setup.ts reconcile --plan')
      await refused()
      for (const id of drafts) assert.is((await api('GET', `/${id}`)).status, 200)

      const plan = reconcile('--plan')
      assert.match(plan, `CLUSTER_UNKNOWN: ${DRAFTS} of ${DRAFTS + 3} known resources are absent`)
      assert.match(plan, `make ${DRAFTS} resources again`)
      assert.equal(
        await there(),
        before.filter((name) => !drafts.includes(name)),
        'a plan writes nothing',
      )
      assert.match(reconcile('--apply'), 'Done:')
      assert.equal(await there(), before)
      await leads(platform)
      await written()
      assert.match(reconcile('--plan'), 'There is nothing to do.')
    },
    { timeoutMs: 240_000 },
  )

  t(
    'stay away by a word of a person, which is good for these and no others; their views stay',
    async () => {
      await deleteDrafts()
      const left = await there()
      await platform.controllers.start()
      const token = /BOTTEGA_ACCEPT_CLUSTER=(\S+)/.exec(await said(platform))?.[1] ?? ''
      await platform.controllers.stop()

      const other = await accepting(token.replace(/.$/, (last) => (last === '0' ? '1' : '0')))
      assert.match(await said(other), `BOTTEGA_ACCEPT_CLUSTER=${token}`)
      await ends.pop()?.()
      await leads(await accepting(token))
      await written()
      assert.equal(
        (await there()).filter((name) => drafts.includes(name)),
        [],
      )
      assert.ok((await there()).length > left.length)
      for (const id of drafts) assert.is((await api('GET', `/${id}`)).status, 200)

      await ends.pop()?.()
      await platform.controllers.start()
      await leads(platform)
      await written()
    },
    { timeoutMs: 240_000 },
  )
})
