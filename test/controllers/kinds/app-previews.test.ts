import { makePreviewActs } from '../../../controllers/kinds/app/acts/previews.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { APP } from '../../../crds/app/kind.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { anApp } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeNamespace, type Namespace, serviceKubeconfig } from '../../support/stage/stage.ts'

/** The end of a preview against the API server: what a pass has seen of its date may be over by the time it deletes. */

const LATER = '2026-12-24T10:00:00.000Z'

spec('a preview whose end has come', (t) => {
  let namespace: Namespace
  const api = makeKube({ kubeconfig: serviceKubeconfig('api') })
  const kube = makeKube({ kubeconfig: serviceKubeconfig('controllers') })
  const create = async (name: string): Promise<AppResource> => {
    const previewOf = { app: 'app-2', ref: 'basket', expiresAt: '2026-11-22T10:00:00.000Z' }
    const { apiVersion, kind, spec } = anApp({ previewOf, hostId: 'local' })
    return api.create<AppResource>(APP, { apiVersion, kind, metadata: { name, namespace: namespace.name }, spec })
  }
  // all that the act takes of its context
  const acts = () => makePreviewActs({ kube } as unknown as Parameters<typeof makePreviewActs>[0])
  const end = (object: AppResource) => acts().deletePreview({ do: 'deletePreview', app: object.metadata.name }, object)
  const stands = async (name: string): Promise<boolean> => {
    const { items } = await kube.list<AppResource>(APP, { namespace: namespace.name })
    return items.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined)
  }

  t.before(async () => {
    namespace = await makeNamespace()
  })
  t.after(async () => {
    await Promise.all([api.close(), kube.close()])
    await namespace.remove()
  })

  t('is deleted as it was seen', async () => {
    const seen = await create('app-ended')
    await end(seen)
    assert.not(await stands('app-ended'))
    // and again, by whoever did not see that it is gone
    await end(seen)
  })

  t('stands where somebody has given it another end since it was seen', async () => {
    const seen = await create('app-renewed')
    const change = { spec: { previewOf: { ...seen.spec.previewOf, expiresAt: LATER } } }
    await api.patchSpec(APP, { namespace: namespace.name, name: 'app-renewed' }, change)
    await end(seen)
    assert.ok(await stands('app-renewed'))
  })
})
