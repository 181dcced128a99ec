import { addAccount } from '../../../support/stage/callers.ts'
import { eventually, order } from '../../../support/stage/invoicing.ts'
import type { TableCall, TableStage } from './row.ts'

const WEBHOOKS = '/api/webhooks'
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/hooks'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** `by`: null where a page is opened by its cookie. */
export type QueuedCall = Omit<TableCall, 'by'> & { by: string | null }

const endpoint = async ({ sure, owner }: TableStage, tag: string): Promise<string> =>
  (await sure(owner, 'POST', WEBHOOKS, { url: `${NOWHERE}/${tag}`, events: ['invoice.*'] })).endpoint.id

const pinged = async (stage: TableStage, tag: string) => {
  const id = await endpoint(stage, tag)
  const { json } = await stage.ask(stage.owner, 'POST', `${WEBHOOKS}/${id}/test`, undefined, {
    prefer: 'respond-async',
  })
  return { id, delivery: json.delivery.id }
}

/** The page of an invoice as its client has opened it. */
const openPage = async ({ platform, ask, sure }: TableStage, by: string, tag: string) => {
  const ordered = order({ client_email: `${tag}@acme.test` })
  const { invoice, url, password } = await sure(by, 'POST', '/api/invoices', ordered)
  const path = url.slice(platform.baseUrl.length)
  const { headers } = await ask(null, 'POST', path, `password=${password}`, FORM)
  return { id: invoice.id, path, cookie: headers.get('set-cookie')?.split(';')[0] ?? '' }
}

/** A token of an account that collects by card. */
const collecting = async ({ platform, sure }: TableStage, tag: string): Promise<string> => {
  const token = await addAccount(platform, tag, {})
  await sure(token, 'POST', '/api/invoices/settings/rails', { rail: 'stripe', enabled: true })
  return token
}

/** Calls that are answered 202 with what is queued, and have no operation. */
export const queuedCalls = (stage: TableStage): Record<string, (tag: string) => Promise<QueuedCall>> => ({
  'POST /api/webhooks/:id/test': async (tag) => ({
    path: `${WEBHOOKS}/${await endpoint(stage, tag)}/test`,
    by: stage.owner,
  }),
  'POST /api/webhooks/:id/deliveries/:delivery/redeliver': async (tag) => {
    const { id, delivery } = await pinged(stage, tag)
    return { path: `${WEBHOOKS}/${id}/deliveries/${delivery}/redeliver`, by: stage.owner }
  },
  'POST /api/webhooks/:id/redeliver': async (tag) => ({
    path: `${WEBHOOKS}/${await endpoint(stage, tag)}/redeliver`,
    body: { after: 0 },
    by: stage.owner,
  }),
  'POST /i/:token/claim': async (tag) => {
    const { path, cookie } = await openPage(stage, stage.owner, tag)
    const headers = { cookie, accept: 'application/json' }
    return { path: `${path}/claim`, body: { reference: tag }, headers, by: null }
  },
  'POST /i/:token/pay': async (tag) => {
    const by = await collecting(stage, tag)
    const { id, path, cookie } = await openPage(stage, by, tag)
    const isOffered = async () => (await stage.sure(by, 'GET', `/api/invoices/${id}`)).invoice.collect.offered
    await eventually('Pay now', isOffered)
    return { path: `${path}/pay`, headers: { cookie, accept: 'application/json' }, by: null }
  },
})
