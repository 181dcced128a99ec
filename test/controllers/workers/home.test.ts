/** Resources in one namespace, and Lease, identities and Secrets in another: who edits the first has no hand in the second. */
import { homeAccess, LEASE_NAME, platformIn } from '../../../crds/kernel/platform.ts'
import { asList } from '../../../hack/platform/kubectl.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { kubectlFor } from '../../support/stage/stage.ts'

const home = `home-${process.pid}`

spec('a platform whose resources live apart', (t) => {
  let platform: Platform
  const kubectl = kubectlFor()

  t.before(async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } }
    // the accounts of the two processes are in `default`, as everywhere on this stage
    await kubectl(['apply', '-f', '-'], asList([namespace, ...homeAccess(home, platformIn('default'))]))
    platform = await startPlatform({ env: { BOTTEGA_HOME_NAMESPACE: home } })
  })
  t.after(async () => {
    await platform?.end()
    await kubectl(['delete', 'lease,role,rolebinding', '--all', '-n', home])
  })

  const send = (reference: string) =>
    call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', order({ external_ref: reference, send: true }))

  t('is led by a Lease beside the pods, and by none beside the resources', async () => {
    assert.is((await send('first')).status, 201)
    const holder = await kubectl(['get', 'lease', LEASE_NAME, '-n', home, '-o', 'jsonpath={.spec.holderIdentity}'])
    assert.ok(holder)
    assert.is((await platform.kubectl(['get', 'lease', '-o', 'name'])).trim(), '')
  })

  t('needs no right on any Lease where the resources are', async () => {
    await platform.kubectl(['delete', 'rolebinding', 'bottega-controllers-home'])
    await platform.controllers.stop()
    await platform.controllers.start()
    await eventually('the next number', async () => (await send('second')).json.invoice?.number)
  })

  t('keeps what an editor of resources may do to where they are', async () => {
    const namespace = platform.namespace.name
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'editors', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bottega-edit' },
      subjects: [{ kind: 'User', name: 'editor', apiGroup: 'rbac.authorization.k8s.io' }],
    }
    await kubectl(['apply', '-f', '-'], binding)
    const may = async (where: string, ...what: string[]) => {
      const asked = kubectl(['auth', 'can-i', ...what, '-n', where, '--as=editor'])
      return (await asked.catch(() => 'no')).trim() === 'yes'
    }
    assert.ok(await may(namespace, 'create', 'invoices.bottega.dev'))
    for (const [verb, what] of [
      ['get', 'secrets'],
      ['create', 'serviceaccounts/token'],
      ['impersonate', 'serviceaccounts'],
      ['create', 'pods/exec'],
      ['patch', 'leases.coordination.k8s.io'],
      ['create', 'invoices.bottega.dev'],
    ] as const)
      assert.not.ok(await may(home, verb, what), `${verb} ${what}`)
    assert.not.ok(await may(namespace, 'patch', 'invoices.bottega.dev', '--subresource=status'))
  })
})
