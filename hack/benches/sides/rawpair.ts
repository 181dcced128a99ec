import { KubeConfig } from '@kubernetes/client-node'
import { Pool } from 'undici'
import { CREATED_FROM } from '../../../crds/kernel/object.ts'

/**
 * The limit that invoices are measured against: a bare keep-alive client that creates an Invoice and patches its status,
 * in a namespace that no controller watches. Object and status are those that a send writes, field by field.
 */

export const RAW_NAMESPACE = 'raw'

/** The lines of the measured invoice, in REST names. */
export const ITEMS = Array.from({ length: 3 }, (_, index) => ({
  description: `Consulting, week ${index + 1}`,
  qty: 1.5,
  unit_cents: 80_000,
}))

/** A bare client of the API server under one service account. */
export const rawClient = (kubeconfigPath: string, connections: number) => {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfigPath)
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  if (!cluster || !user) throw new Error('the kubeconfig names no cluster or user')
  const ca = Buffer.from(cluster.caData ?? '', 'base64')
  const pool = new Pool(cluster.server, { connect: { ca }, connections })
  const call = async (method: 'POST' | 'PATCH', path: string, type: string, body: object) => {
    const answer = await pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${user.token}`, 'content-type': type },
      body: JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 300)}`)
  }
  return { call, close: () => pool.close() }
}

const RAW_PATH = `/apis/bottega.dev/v1alpha1/namespaces/${RAW_NAMESPACE}/invoices`
/** What is asked of the measured invoice, in the names of its resource. */
export const RAW_SPEC = {
  account: 'demo',
  send: true,
  clientName: 'ACME',
  clientEmail: 'billing@acme.test',
  currency: 'EUR',
  dueDate: '2027-12-20',
  taxRateBp: 2000,
  discountCents: 0,
  lang: 'en',
  test: false,
  void: false,
  items: ITEMS.map(({ description, unit_cents }) => ({ description, qty: '1.5', unitCents: unit_cents })),
}
/** What the api notes of what it was asked for, as it writes it. */
const ASKED = {
  ...{ total_cents: 432_000, currency: 'EUR', client_email: 'billing@acme.test' },
  ...{ issuer_id: 'iss-default', test: false, send: true },
}
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Sent',
  message: 'INV-026-0001 sent, 4,320.00 EUR due 2027-12-20',
  observedGeneration: 1,
  lastTransitionTime: '2026-11-21T00:00:00Z',
}
const status = {
  observedGeneration: 1,
  factSeq: 0,
  phase: 'sent',
  number: 'INV-026-0001',
  total: '4,320.00 EUR',
  totalCents: 432_000,
  currency: 'EUR',
  paidCents: 0,
  creditedCents: 0,
  issuerId: 'iss-default',
  balanceCents: 432_000,
  issuedOn: '2026-11-21',
  url: 'http://127.0.0.1:8080/i/inv-0123456789abcdef0123456789abcdef.0123456789abcdef012345',
  conditions: [condition],
}

let rawCount = 0
type Raw = ReturnType<typeof rawClient>
export const rawPair = (api: Raw, controllers: Raw) => async () => {
  const name = `raw-${process.pid}-${++rawCount}`
  const metadata = { name, annotations: { [CREATED_FROM]: JSON.stringify(ASKED) } }
  const object = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Invoice', metadata, spec: RAW_SPEC }
  await api.call('POST', RAW_PATH, 'application/json', object)
  await controllers.call('PATCH', `${RAW_PATH}/${name}/status`, 'application/merge-patch+json', { status })
}
