import { mkdirSync, rmSync } from 'node:fs'
import type { Answer } from '../../../../api/http/route.ts'
import { createInvoice } from '../../../../api/invoice/create.ts'
import { pageRoutes } from '../../../../api/invoice/page/routes.ts'
import { PAGE_COOKIE } from '../../../../api/invoice/page/show.ts'
import { invoiceRoutes } from '../../../../api/invoice/routes.ts'
import { INVOICE } from '../../../../crds/invoice/kind.ts'
import { startMailCatcher } from '../../../../hack/commands/mailcatcher.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { viewIn } from '../../judges/viewin.ts'
import { assert } from '../../runner/spec.ts'
import { makeDemoNamespace } from '../../stage/demo.ts'
import { mailsIn, order } from '../../stage/invoicing.ts'
import { kubectlFor, type Namespace, scratchFolder } from '../../stage/stage.ts'
import { type Asked, askBy, requestBy } from '../ask.ts'
import { keys, type OneProcess, type ProcessOptions, refNamed } from '../process.ts'
import { resourcesIn } from '../rest.ts'
import type { Asking, Story } from '../story.ts'

/** What sellers, clients and kubectl do with one invoice: a story is how it begins, what is asked, and where that may end. */

export const REF = 'the-swept-order'
const SESSION_MS = 3_600_000
export const NAME = refNamed('inv', 'demo', REF)

const byInvoices = askBy(invoiceRoutes)
const byPage = askBy(pageRoutes)

/** One call about the invoice, by its seller. */
export const askInvoice = ({ api }: OneProcess, what: string, asked: Asked, asking?: Asking): Promise<Answer> =>
  byInvoices(api, what, { params: { id: NAME }, ...asked }, asking)

/** One call by whoever has the link, and has entered the password of its first send. */
export const askPage = ({ api }: OneProcess, what: string, asked: Asked, asking?: Asking): Promise<Answer> => {
  const cookie = `${PAGE_COOKIE}=${keys.pageSession({ name: NAME, n: 1, link: 1, password: 1 }, Date.now() + SESSION_MS)}`
  const page = { account: null, params: { token: keys.linkToken(NAME, 1) }, headers: { cookie } }
  return byPage(api, what, { ...page, ...asked }, asking)
}

/** Where an invoice stands, in what may not happen twice. */
export type Stand = {
  status: string | null
  sends: number
  /** Kinds of the numbers in the register, each with what became of it. */
  register: string
  /** Facts by their kinds, with those that were refused. */
  facts: string
  told: string
  mails: string
}

const STAND = `
select
  (select case when archived then 'archived' else view ->> 'status' end from mirror where kind = 'Invoice' and name = $1) as status,
  (select count(*)::int from sends where resource = $1) as sends,
  (select coalesce(string_agg(case step when 0 then kind else entry end, ' ' order by kind, number, step), '') from register) as register,
  (select coalesce(string_agg(case state when 'accepted' then kind else kind || ' ' || state end, ' ' order by kind, state), '')
    from facts where resource = $1) as facts,
  (select coalesce(string_agg(payload ->> 'type', ' ' order by id), '') from outbox where channel = 'event') as told,
  (select coalesce(string_agg(purpose || case state when 'sent' then '' else ' ' || state end, ' ' order by id), '')
    from outbox where channel = 'mail') as mails`

export const standIn = async (url: string, name = NAME): Promise<Stand> => (await query(url, STAND, [name]))[0] as Stand

export const NOTHING: Stand = { status: null, sends: 0, register: '', facts: '', told: '', mails: '' }
export const SENT: Stand = {
  status: 'sent',
  sends: 1,
  register: 'invoice',
  facts: '',
  told: 'invoice.sent',
  mails: 'invoice:1',
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

export type InvoiceStage = {
  namespace: Namespace
  folder: string
  mailPort: number /** Rows of the mirror. */
  rows(url: string): Promise<number>
  end(): Promise<void>
}

export const openInvoiceStage = async (folderName: string): Promise<InvoiceStage> => {
  const folder = scratchFolder(folderName)
  const namespace = await makeDemoNamespace()
  const catcher = await startMailCatcher({ dir: folder, port: 0 })
  return {
    ...{ namespace, folder, mailPort: catcher.port },
    rows: async (url) => (await query(url, "select 1 from mirror where kind = 'Invoice'")).length,
    async end() {
      await catcher.stop()
      await namespace.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A second delivery is allowed only where the outcome of the first was counted as unknown. */
const noMailTwice = async (url: string, folder: string): Promise<void> => {
  const rows = await query(
    url,
    "select purpose, unknowns::int, message_id as id, state from outbox where channel = 'mail'",
  )
  const caught = (await mailsIn(folder)).map(({ messageId }) => messageId)
  for (const { id, purpose, unknowns, state } of rows) {
    const times = caught.filter((one) => one === id).length
    const least = state === 'sent' ? 1 : 0
    assert.ok(times >= least && times <= 1 + Number(unknowns), `${purpose}: ${times} times, ${unknowns} unknown`)
  }
}

const MAY_DO = /^(get|list) |^sql (mirror_|observe_|issuer_profiles|turn_outbox|take_epoch|put_mirror)/

/** What is the story's own. Every stand that a crash may leave behind, and nobody comes back to, has a name. */
export type InvoiceTale = {
  /** Makes what stands before the client begins: an order over REST, or whatever else; null: nothing. */
  given: object | (() => Promise<unknown>) | null
  play(process: OneProcess, asking: Asking): Promise<unknown>
  whole: Stand
  /** By their names; where nothing was asked yet it stands as it was `given`. */
  others?: Record<string, Stand>
  options?: Partial<ProcessOptions>
  /** Of each life of the world. */
  prepare?(): void
  /** More that must hold in the end. */
  look?(url: string): Promise<void>
}

export const invoiceStory = (stage: InvoiceStage, tale: InvoiceTale): Story<unknown> => {
  const { namespace, folder, mailPort } = stage
  let begun: Stand | undefined
  const isReady = async () =>
    (await resourcesIn(namespace.name)).every(
      ({ kind, status }) =>
        kind !== 'Invoice' || status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    )
  let databaseUrl = ''
  const look = async (url: string) => {
    assert.equal(await standIn(url), tale.whole)
    await noMailTwice(url, folder)
    await tale.look?.(url)
  }
  return {
    options: { namespace: namespace.name, mailPort, ...tale.options },
    prepare: async (url) => {
      databaseUrl = url
      begun = undefined
      tale.prepare?.()
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
    },
    setUp: async ({ api }) => {
      if (tale.given === null) return
      if (typeof tale.given === 'function') return void (await tale.given())
      const { status } = await createInvoice(
        api,
        requestBy(invoiceRoutes, 'POST /api/invoices', { body: order({ external_ref: REF, ...tale.given }) }),
      )
      assert.is(status, 201)
    },
    play: async (process, asking) => {
      begun ??= await standIn(databaseUrl)
      return tale.play(process, asking)
    },
    isSettled: async (url) => same(await standIn(url), tale.whole) && isReady(),
    look,
    stand: (url) => standIn(url),
    alone: async (url) => {
      const stand = await standIn(url)
      await noMailTwice(url, folder)
      const named = { nothing: begun, 'all of it': tale.whole, ...tale.others }
      const end = Object.entries(named).find(([, one]) => same(one, stand))
      assert.ok(end, `it stands where no request ends: ${JSON.stringify(stand)}`)
      if (end?.[0] === 'all of it') await look(url)
      return end?.[0] ?? ''
    },
    fingerprint: async (url) => [
      (await resourcesIn(namespace.name)).map(({ metadata }) => metadata),
      await query(url, 'select kind, name, archived, xmin::text from mirror order by 1, 2'),
      await query(url, 'select count(*) from facts'),
    ],
    mayDo: MAY_DO,
    looked: /^sql (observe_invoices|mirror_unknown)/,
    clear: async () => {
      await kubectlFor(namespace.kubeconfig)(['delete', 'inv', '--all', '-n', namespace.name])
    },
  }
}

export const viewOf = (url: string) => viewIn(url, INVOICE, NAME)
