import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlreadyExists } from '../../../controllers/base/errors.ts'
import type { KindRef, Kube } from '../../../controllers/kube/kube.ts'
import type { CommonStatus, Resource } from '../../../crds/kernel/object.ts'
import { patience } from '../runner/patience.ts'

/** A tiny kind for tests of the runtime: nothing of Bottega's own, so that nobody else touches its objects. */

export type WidgetSpec = { size?: number; colour?: string }
export type WidgetStatus = CommonStatus & { made?: number; note?: string }
export type Widget = Resource<WidgetSpec, WidgetStatus>

export const WIDGET: KindRef = { kind: 'Widget', plural: 'widgets', group: 'runtime-test.bottega.dev', version: 'v1' }
const GROUP_VERSION = `${WIDGET.group}/${WIDGET.version}`

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${WIDGET.plural}.${WIDGET.group}` },
  spec: {
    group: WIDGET.group,
    scope: 'Namespaced',
    names: { kind: WIDGET.kind, plural: WIDGET.plural, singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: WIDGET.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer', maximum: 99 }, colour: { type: 'string' } },
              },
              status: open,
            },
          },
        },
      },
    ],
  },
}

/** Other test files may be doing the same. */
export async function ensureWidgets(kube: Kube): Promise<void> {
  const crds: KindRef = {
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    group: 'apiextensions.k8s.io',
  }
  await kube.create(crds, definition).catch((error) => {
    if (!isAlreadyExists(error)) throw error
  })
  await until('the widget kind is served', () =>
    kube.list(WIDGET, { namespace: 'default', limit: 1 }).then(
      () => true,
      () => false,
    ),
  )
}

/** A namespace of its own; no controller removes namespaces here, so a few empty ones stay until the server goes. */
export async function makeSpace(kube: Kube): Promise<string> {
  const name = `rt-${randomBytes(5).toString('hex')}`
  await kube.raw('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return name
}

export const makeWidget = (
  kube: Kube,
  namespace: string,
  name: string,
  spec: WidgetSpec = {},
  metadata = {},
): Promise<Widget> =>
  kube.create<Widget>(WIDGET, {
    apiVersion: GROUP_VERSION,
    kind: WIDGET.kind,
    metadata: { name, namespace, ...metadata },
    spec,
  })

/** Waits for a state of the world, not for a time. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, givenMs = 60_000): Promise<void> {
  const limitMs = patience(givenMs)
  const endAt = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > endAt) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(15)
  }
}
