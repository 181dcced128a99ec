/** A start that fails half-way, whichever step it is, leaves nothing running: the next one must not find a second set of everything. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { OperatorDeps } from '../../controllers/operator.ts'
import type { OutboxWorker } from '../../controllers/workers/outbox-worker.ts'
import type { WebhookSender } from '../../controllers/workers/webhook-sender.ts'
import { query } from '../../hack/platform/postgres.ts'
import { type Life, makeLife } from '../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../support/crash/process.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { eventually } from '../support/stage/invoicing.ts'
import { type Database, kubectlFor, makeDatabase, makeNamespace, type Namespace } from '../support/stage/stage.ts'

/** Every loop and every look of the operator comes back sooner. */
const QUIET_MS = 3_000

/** In the order of the start: what it asks, and what it begins. */
const STEPS = [
  'sql observe_all_lives',
  'sql observe_known',
  'the webhook sender',
  'the mail sender',
  'the payment worker',
  'sql mirror_known',
] as const
type Step = (typeof STEPS)[number]

type Counted = { begun: string[]; ended: string[] }

/** Fails at the step, in every try until it is mended. */
const makeFailing = (step: Step) => {
  const counted: Counted = { begun: [], ended: [] }
  const state = { isMended: false }
  const stumble = (at: string) => {
    if (!state.isMended && at === step) throw new Error(`failed at ${at}`)
  }
  const worker = (name: string): OutboxWorker & WebhookSender => {
    stumble(name)
    counted.begun.push(name)
    return { wake: () => {}, queued: () => {}, stop: async () => void counted.ended.push(name) }
  }
  const plain = makeLife()
  const life: Life = {
    ...plain,
    around: (call, run) =>
      plain.around(call, async () => {
        stumble(`sql ${call.name}`)
        return run()
      }),
  }
  const deps: Partial<OperatorDeps> = {
    webhookSender: () => worker('the webhook sender'),
    mailSender: () => worker('the mail sender'),
    paymentWorker: () => worker('the payment worker'),
  }
  return { life, deps, counted, state }
}

spec('the start of the operator', (t) => {
  let database: Database
  let namespace: Namespace
  let process: OneProcess | undefined
  t.before.each(async () => {
    ;[database, namespace] = await Promise.all([makeDatabase(), makeNamespace()])
  })
  t.after.each(async () => {
    await process?.end()
    process = undefined
    await namespace.remove()
    await database.drop()
  })
  const account = (name: string) =>
    kubectlFor(namespace.kubeconfig)(['apply', '-n', namespace.name, '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name, namespace: namespace.name },
      spec: { email: `owner@${name}.test`, name, plan: 'team' },
    })
  const lead = async ({ life, deps }: ReturnType<typeof makeFailing>) => {
    const tools = () => ({ deps, close: async () => {} })
    process = await startOneProcess({ databaseUrl: database.url, namespace: namespace.name, mailPort: 9, tools }, life)
    return process
  }
  /** No call is made, whatever happens to the resources. */
  const isQuiet = async ({ calls }: Life) => {
    let before = -1
    await eventually('what was under way to end', async () => {
      const isStill = before === calls.length
      before = calls.length
      await sleep(300)
      return isStill
    })
    await account('late')
    await sleep(QUIET_MS)
    return calls.slice(before)
  }

  for (const step of STEPS) {
    t(`that fails at ${step} leaves nothing running`, async () => {
      await account('early')
      const failing = makeFailing(step)
      const running = await lead(failing)
      await assert.rejects(running.operator(), new RegExp(`failed at ${step}`))
      assert.equal(await isQuiet(failing.life), [])
      const { begun, ended } = failing.counted
      assert.equal(ended.toSorted(), begun.toSorted())
    })
  }

  t('that succeeds, and its end, leave nothing running either', async () => {
    const failing = makeFailing('sql mirror_known')
    failing.state.isMended = true
    const running = await lead(failing)
    const operator = await running.operator()
    await eventually('the account', async () => {
      await account('early')
      return (await query(database.url, "select 1 from mirror where name = 'early'")).length === 1
    })
    await operator.stop(5_000)
    assert.equal(await isQuiet(failing.life), [])
    assert.equal(failing.counted.ended.toSorted(), failing.counted.begun.toSorted())
  })
})
