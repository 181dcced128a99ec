import type { Kube } from '../../../controllers/kube/kube.ts'
import type { AnyObject, WatchEvent } from '../../../controllers/kube/objects.ts'

/** More resources than a control plane of a test could be given in time: an API server that lists them, and tells what changes. */
export type Crowd = {
  kube: Pick<Kube, 'list' | 'watch'>
  /** Tells a watch that one was changed. */
  change(kind: string, name: string, change: (object: AnyObject) => object): void
}

export type CrowdSize = { namespace: string; accounts: number; invoices: number }

export const accountName = (n: number): string => `acct-${n}`
export const invoiceName = (n: number): string => `inv-${n}`

const metadataOf = (namespace: string, name: string, version: number) => ({
  ...{ name, namespace, uid: `uid-${name}`, generation: 1, resourceVersion: String(version) },
  creationTimestamp: '2026-11-01T00:00:00Z',
})

const ready = { type: 'Ready', status: 'True', reason: 'Sent', message: 'sent', observedGeneration: 1 }

const accountOf = (namespace: string, n: number): AnyObject => {
  const name = accountName(n)
  const spec = { email: `${name}@demo.test`, name, plan: 'team' }
  return Object.assign(
    { metadata: metadataOf(namespace, name, n + 1) },
    { spec, status: { observedGeneration: 1, key: name } },
  )
}

/** Settled, numbered, of the accounts in turn. */
const invoiceOf = ({ namespace, accounts }: CrowdSize, n: number): AnyObject => {
  const items = Array.from({ length: 4 }, (_, i) => ({ description: `line ${i} of ${n}`, qty: 1.5, unitCents: 80_000 }))
  const spec = { account: accountName(n % accounts), clientName: `Client ${n}`, currency: 'EUR', items, send: true }
  const number = `INV-026-${String(n + 1).padStart(4, '0')}`
  const status = { observedGeneration: 1, factSeq: 3, phase: 'sent', number, conditions: [ready] }
  return Object.assign({ metadata: metadataOf(namespace, invoiceName(n), n + 1) }, { spec, status })
}

export const makeCrowd = (size: CrowdSize): Crowd => {
  const objects: Record<string, AnyObject[]> = {
    Account: Array.from({ length: size.accounts }, (_, n) => accountOf(size.namespace, n)),
    Invoice: Array.from({ length: size.invoices }, (_, n) => invoiceOf(size, n)),
  }
  const watches = new Map<string, (event: WatchEvent) => void>()
  let version = Math.max(size.accounts, size.invoices)
  return {
    kube: {
      // in pages, each of fresh objects, as they come out of an answer
      list: (async (kind, { limit = 500, continue: next = '0' } = {}) => {
        await new Promise(setImmediate)
        const all = objects[kind.kind] ?? []
        const end = Number(next) + limit
        const items = structuredClone(all.slice(Number(next), end))
        return { resourceVersion: String(version), continue: end < all.length ? String(end) : '', items }
      }) as Kube['list'],
      watch: (kind, { onEvent, signal }) =>
        new Promise((resolve) => {
          watches.set(kind.kind, onEvent)
          signal.addEventListener('abort', () => resolve(), { once: true })
        }),
    },
    change: (kind, name, change) => {
      const list = objects[kind] ?? []
      const place = list.findIndex(({ metadata }) => metadata.name === name)
      const held = list[place]
      if (!held) throw new Error(`there is no ${kind} ${name}`)
      version += 1
      const changed = change(structuredClone(held)) as AnyObject
      changed.metadata.resourceVersion = String(version)
      list[place] = changed
      watches.get(kind)?.({ type: 'MODIFIED', object: structuredClone(changed) })
    },
  }
}
