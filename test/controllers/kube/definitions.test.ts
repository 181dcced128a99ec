/** The definitions as the chart's hook installs and removes them, on a control plane of their own. */
import { applyDefinitions, removeDefinitions } from '../../../controllers/kube/definitions.ts'
import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { KINDS } from '../../../crds/kinds.ts'
import type { Kubectl } from '../../../hack/platform/kubectl.ts'
import { applyJobs } from '../../../hack/platform/platform.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { kubectlFor, ownControlPlane, ownKubeconfig } from '../../support/stage/stage.ts'

spec('the definitions', (t) => {
  let plane: Awaited<ReturnType<typeof ownControlPlane>>
  let kube: Kube
  let kubectl: Kubectl

  t.before(async () => {
    plane = await ownControlPlane()
    kubectl = kubectlFor(plane.kubeconfig)
    await applyJobs(kubectl)
    kube = makeKube({ kubeconfig: await ownKubeconfig('setup', plane.kubeconfig), fieldManager: 'bottega-setup' })
  })
  t.after(async () => {
    await kube?.close()
    await plane?.end()
  })

  const generations = async () =>
    (
      await kubectl(['get', 'crds', '-o', 'jsonpath={range .items[*]}{.metadata.name}={.metadata.generation} {end}'])
    ).trim()
  const described = () => kubectl(['get', 'crd', 'invoices.bottega.dev', '-o', 'jsonpath={.spec.names.shortNames}'])

  t('are served when the hook has ended', async () => {
    assert.is((await applyDefinitions(kube)).length, KINDS.length)
    assert.match(await kubectl(['api-resources', '--api-group=bottega.dev', '-o', 'name']), 'invoices.bottega.dev')
  })

  t('do not change when they are applied again', async () => {
    const before = await generations()
    await applyDefinitions(kube)
    assert.is(await generations(), before)
  })

  t('are put right when somebody has edited one', async () => {
    const edit = ['--type=merge', '-p', '{"spec":{"names":{"shortNames":["bill"]}}}']
    await kubectl(['patch', 'crd', 'invoices.bottega.dev', ...edit])
    assert.is(await described(), '["bill"]')
    await applyDefinitions(kube)
    assert.is(await described(), '["inv"]')
  })

  t(
    'go with their resources when they are removed, and a second removal is no fault',
    async () => {
      const account = { email: 'a@demo.test', name: 'Demo', plan: 'free' }
      const metadata = { name: 'demo', namespace: 'default' }
      await kubectl(['create', '-f', '-'], {
        apiVersion: 'bottega.dev/v1alpha1',
        kind: 'Account',
        metadata,
        spec: account,
      })
      await removeDefinitions(kube)
      assert.is(await generations(), '')
      await removeDefinitions(kube)
    },
    // the API server takes resources away before their definition, and waits ever longer between tries that meet its own caches
    { timeoutMs: 300_000 },
  )
})
