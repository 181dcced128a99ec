/** Resources in one namespace, and Lease, identities and Secrets in another: who edits the first has no hand in the second. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeAccess, LEASE_NAME, platformIn, usernameOf } from '../../../crds/kernel/platform.ts'
import { CommandRefusal } from '../../../hack/lib/refusal.ts'
import { asList, type Kubectl } from '../../../hack/platform/kubectl.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { kubectlFor, scratchFolder, sharedKubeconfig } from '../../support/stage/stage.ts'

const home = `home-${process.pid}`
const rbac = 'rbac.authorization.k8s.io'

/** kubectl as whoever a token names, and as nobody else. */
const kubectlOf = (token: string, name: string): Kubectl => {
  const config = JSON.parse(readFileSync(sharedKubeconfig(), 'utf8'))
  config.users[0].user = { token: token.trim() }
  const path = join(scratchFolder('editor'), `${name}.kubeconfig`)
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return kubectlFor(path)
}

/** Without rules: one that is put together of others. */
type Aggregated = { metadata: { labels?: Record<string, string> }; rules: object[] | null }

/** The built-in role edit, as the cluster's controller puts it together; none runs here. */
const builtInEdit = async (kubectl: Kubectl, name: string) => {
  const { items } = JSON.parse(await kubectl(['get', 'clusterroles', '-o', 'json'])) as { items: Aggregated[] }
  const added = items.filter(({ metadata: { labels = {} } }) =>
    ['edit', 'view'].some((role) => labels[`${rbac}/aggregate-to-${role}`] === 'true'),
  )
  assert.ok(added.length >= 4, 'those of Kubernetes and ours')
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules: added.flatMap(({ rules }) => rules ?? []),
  }
}

spec('a platform whose resources live apart', (t) => {
  let platform: Platform
  const kubectl = kubectlFor()

  t.before(async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } }
    // the accounts of the two processes are in `default`, as everywhere on this stage
    await kubectl(['apply', '-f', '-'], asList([namespace, ...homeAccess(home, platformIn('default'))]))
    platform = await startPlatform({ env: { BOTTEGA_HOME_NAMESPACE: home } })
  })
  const ends: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const end of ends) await end()
    await platform?.end()
    await kubectl(['delete', 'lease,role,rolebinding', '--all', '-n', home])
  })

  /** Somebody's GitOps: an account where resources live, with the built-in role. */
  const makeEditor = async (namespace: string) => {
    const role = `edit-${home}`
    const subject = { kind: 'ServiceAccount', name: 'editor', namespace }
    await kubectl(
      ['create', '-f', '-'],
      asList([
        await builtInEdit(kubectl, role),
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'editor', namespace } },
        {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { name: role, namespace },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
          subjects: [subject],
        },
      ]),
    )
    const token = await kubectl(['create', 'token', 'editor', '-n', namespace])
    return {
      kubectl: kubectlOf(token, 'editor'),
      remove: async () => {
        await kubectl(['delete', 'clusterrole', role])
        await kubectl(['delete', `rolebinding/${role}`, 'serviceaccount/editor', '-n', namespace])
        await kubectl(['delete', 'serviceaccount/bottega-controllers', '-n', namespace, '--ignore-not-found'])
      },
    }
  }

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

  t('lets who holds the built-in role edit there become no process, by no token and by no impersonation', async () => {
    const namespace = platform.namespace.name
    const editor = await makeEditor(namespace)
    ends.push(editor.remove)
    const inv = (await send('third')).json.invoice.id
    const where = ['-n', namespace]
    // so far the role goes, or the refusals below say nothing
    assert.match(await editor.kubectl(['get', `inv/${inv}`, ...where, '-o', 'name']), inv)
    await editor.kubectl(['get', 'secrets', ...where])
    await editor.kubectl(['create', 'serviceaccount', 'bottega-controllers', ...where])
    const namesake = kubectlOf(await editor.kubectl(['create', 'token', 'bottega-controllers', ...where]), 'namesake')

    const lie = ['--subresource=status', '--type=merge', '-p', '{"status":{"number":"INV-026-6666"}}']
    const status = ['patch', 'inv', inv, ...where, ...lie]
    const as = (user: string, ...groups: string[]) => [`--as=${user}`, ...groups.map((group) => `--as-group=${group}`)]
    const operator = usernameOf('default', 'bottega-controllers')
    const tries: [Kubectl, string[]][] = [
      [editor.kubectl, status],
      [namesake, status],
      [namesake, ['get', 'inv', ...where]],
      // of the identities' own namespace
      ...['bottega-controllers', 'bottega-api', 'bottega-reconcile', 'bottega-setup'].flatMap(
        (name): [Kubectl, string[]][] => [
          [editor.kubectl, ['create', 'token', name, '-n', 'default']],
          [editor.kubectl, ['get', 'inv', ...where, ...as(usernameOf('default', name))]],
        ],
      ),
      [editor.kubectl, [...status, ...as(operator)]],
      [editor.kubectl, [...status, ...as(usernameOf(namespace, 'bottega-controllers'))]],
      [editor.kubectl, [...status, ...as('admin', 'system:masters')]],
      [editor.kubectl, [...status, ...as(usernameOf(namespace, 'editor'), 'system:serviceaccounts:default')]],
      ...['default', home].flatMap((other): [Kubectl, string[]][] => [
        [editor.kubectl, ['get', 'secrets', '-n', other]],
        [editor.kubectl, ['create', 'configmap', 'mine', '-n', other]],
        [editor.kubectl, ['annotate', 'lease', LEASE_NAME, 'a=b', '-n', other]],
        [
          editor.kubectl,
          [
            'run',
            'mine',
            '--image=x',
            '-n',
            other,
            '--overrides={"spec":{"serviceAccountName":"bottega-controllers"}}',
          ],
        ],
      ]),
      [editor.kubectl, ['create', 'rolebinding', 'mine', '--role=bottega-controllers', '--user=me', ...where]],
      [editor.kubectl, ['create', 'role', 'mine', '--verb=patch', '--resource=invoices.bottega.dev/status', ...where]],
    ]
    for (const [who, args] of tries) {
      const error = await assert.rejects(who(args), (one) => one instanceof CommandRefusal)
      assert.match(error instanceof CommandRefusal ? error.detail : '', /forbidden/i, args.join(' '))
    }
  })
})
