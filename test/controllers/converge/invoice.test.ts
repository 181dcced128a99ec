import { mkdirSync, rmSync } from 'node:fs'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { refNamed } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { lags, sweep, sweepAlone, sweeps } from '../../support/crash/sweep.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { mailsIn, order } from '../../support/stage/invoicing.ts'
import { kubectlFor, makeNamespace, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/** One create-and-send, killed at every call: one number, one mail, Ready, and nothing left to do (support/sweep.ts). */

const folder = scratchFolder('converge')
const name = refNamed('inv', 'demo', 'the-order')
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

const object = async (): Promise<InvoiceResource | undefined> => {
  const text = await kubectlFor(namespace.kubeconfig)([
    'get',
    'inv',
    name,
    '-n',
    namespace.name,
    '-o',
    'json',
    '--ignore-not-found',
  ])
  return text === '' ? undefined : JSON.parse(text)
}
const isReady = (found: InvoiceResource | undefined) =>
  found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const mailState = async (url: string) =>
  (
    await query(url, "select state, attempts::int, unknowns::int, message_id as id from outbox where channel = 'mail'")
  )[0]

const view = (url: string) => viewIn(url, INVOICE)

const isSentOnce = async (url: string) => {
  const numbers = await query(url, 'select number from register')
  assert.is(numbers.length, 1, 'one number')
  assert.match(String(numbers[0]?.number), /^INV-\d{3}-0001$/)
  const [series] = await query(url, 'select id from series')
  const [verified] = await query(url, 'select count::int, first_bad from verify_series($1)', [series?.id])
  assert.equal(verified, { count: 1, first_bad: null })
  assert.is((await query(url, 'select 1 from sends')).length, 1, 'one send')
  const told = "select payload ->> 'type' as type from outbox where channel = 'event'"
  assert.equal(await query(url, told), [{ type: 'invoice.sent' }], 'told once')
  assert.equal(await query(url, 'select used from send_days'), [{ used: 1 }], 'one place under the cap')

  const mail = await mailState(url)
  const caught = (await mailsIn(folder)).filter(({ messageId }) => messageId === mail?.id)
  // A second delivery is allowed only where the outcome of the first was counted as unknown.
  assert.ok(
    caught.length >= 1 && caught.length <= 1 + Number(mail?.unknowns),
    `${caught.length} mails, ${mail?.unknowns} unknown`,
  )
}

const lookedAt = async (url: string, answer: Answer) => {
  assert.ok(answer.status === 200 || answer.status === 201, `answered ${answer.status}`)
  await isSentOnce(url)
  const [given] = await query(url, 'select number from register')
  assert.is((answer.body as { number: string }).number, given?.number)
}

/** Nobody came back: it was never asked for, or all of it was done. */
const alone = async (url: string): Promise<string> => {
  if ((await object()) !== undefined) {
    await isSentOnce(url)
    return 'all of it'
  }
  const text =
    'select (select count(*) from register)::int as numbers, (select count(*) from mirror where kind = $1)::int as rows'
  assert.equal(await query(url, text, [INVOICE.kind]), [{ numbers: 0, rows: 0 }])
  return 'nothing'
}

/** A turn without a settlement takes what is due: nothing is. The epoch is each life's own. */
const MAY_DO = /^(get|list) |^sql (mirror_|observe_|issuer_profiles|turn_outbox|take_epoch|put_mirror)/

const request = {
  caller: { account: 'demo', profile: { plan: 'team' } },
  body: order({ external_ref: 'the-order' }),
  headers: {},
  route: { method: 'POST', scope: { kind: 'token' } },
  url: '/api/invoices',
} as unknown as ApiRequest

const story = (): Story<Answer> => ({
  options: { namespace: namespace.name, mailPort: catcher.port },
  prepare: async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
  },
  play: ({ api }, { headers }) => createInvoice(api, { ...request, headers }),
  isSettled: async (url) =>
    (await mailState(url))?.state === 'sent' &&
    isReady(await object()) &&
    (await view(url))?.delivery?.state === 'accepted',
  look: lookedAt,
  alone,
  fingerprint: async (url) => [
    (await object())?.metadata.resourceVersion,
    await query(
      url,
      'select (select count(*) from sends) as sends, (select max(xmin::text::bigint) from mirror) as mirror',
    ),
  ],
  mayDo: MAY_DO,
  looked: /^sql observe_invoices/,
  clear: async () => {
    await kubectlFor(namespace.kubeconfig)(['delete', 'inv', name, '-n', namespace.name, '--ignore-not-found'])
  },
  deathsMin: 15,
  every: 14,
})

spec('a process that dies at any call', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    const kubectl = kubectlFor(namespace.kubeconfig)
    const account = { email: 'owner@demo.test', name: 'Demo', plan: 'team' }
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: account,
    })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  t('without a crash, one create-and-send is as it should be', async () => {
    const { calls } = await live(story())
    assert.is(calls.filter((call) => call.startsWith('create ')).length, 1)
    const patches = calls.filter((call) => call.startsWith('patch ') && call.includes('/invoices/'))
    assert.is(patches.length, 1, 'one status patch')
    // what is asked is kept by the statement that writes the view
    assert.equal(
      calls.filter((call) => /^sql (keep_desires|observe_origins|observe_stored|see_deletions)/.test(call)),
      [],
    )
  })

  sweeps(t, 'one number, one mail, Ready', story)
  sweepAlone(t, 'one number, one mail, Ready', story)
  sweep(t, { what: 'one number, though the next life dies too', callsMin: 15, points: 2, diesAgain: true }, story)
  lags(t, 'one number, one mail, Ready', story)
})
