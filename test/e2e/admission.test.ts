/** What an editor of the namespace may write with kubectl: for the accounts that he was given, and no record away. */
import { makeKube } from '../../controllers/kube/kube.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { GROUP } from '../../crds/kernel/object.ts'
import { LEASE_NAME, usernameOf } from '../../crds/kernel/platform.ts'
import { USE } from '../../crds/kernel/rights/policies.ts'
import { KINDS } from '../../crds/kinds.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { asList, type Kubectl } from '../../hack/platform/kubectl.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { eventually } from '../support/stage/invoicing.ts'
import { ensurePlatform, kubectlFor, makeNamespace, type Namespace, serviceKubeconfig } from '../support/stage/stage.ts'

const [OPERATOR, API] = ['bottega-controllers', 'bottega-api'].map((name) => usernameOf('default', name)) as [
  string,
  string,
]
/** Holds bottega-edit, and `use` on the account demo. */
const EDITOR = 'editor-of-demo'
/** Holds bottega-edit and bottega-admin, this one also where the platform's Accounts are. */
const ADMIN = 'admin-of-the-namespace'
const RBAC = 'rbac.authorization.k8s.io'

type Fields = Record<string, unknown>
const SPECS: Record<string, Fields> = {
  Invoice: {
    clientName: 'ACME',
    clientEmail: 'billing@acme.test',
    items: [{ description: 'October', qty: '1', unitCents: 100 }],
  },
  Site: { content: { meta: { companyName: 'ACME' } } },
  App: { slug: 'shop', hostId: 'local' },
  DevInstance: { name: 'box', sizeClass: 'XS' },
}

let kubectl: Kubectl
let namespace: Namespace
const operator = makeKube({ kubeconfig: serviceKubeconfig('controllers') })

const within = (args: string[]) => [...args, '-n', namespace.name]
const object = (kind: string, name: string, account: string, metadata: Fields = {}) => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind,
  metadata: { name, namespace: namespace.name, ...metadata },
  spec: { account, ...SPECS[kind] },
})
const create = (made: object, user?: string) =>
  kubectl(['create', '-f', '-', ...(user === undefined ? [] : [`--as=${user}`])], made)
const patch = (kind: string, name: string, body: object, user?: string, ...args: string[]) =>
  kubectl(
    within([
      'patch',
      kind.toLowerCase(),
      name,
      '--type=merge',
      '-p',
      JSON.stringify(body),
      ...args,
      ...(user === undefined ? [] : [`--as=${user}`]),
    ]),
  )
/** As the controllers do it: kubectl would look at it before, which is no right of theirs. */
const state = (name: string, status: Fields) =>
  operator.patchStatus(DEVINSTANCE, { namespace: namespace.name, name }, status)
const remove = (kind: string, name: string, user: string) =>
  kubectl(within(['delete', kind.toLowerCase(), name, '--wait=false', `--as=${user}`]))
const refused = async (work: Promise<string>, why: RegExp): Promise<void> => {
  const error = await assert.rejects(work, (one) => one instanceof CommandRefusal)
  assert.match(error instanceof CommandRefusal ? error.detail : '', why)
}
const OTHERS = /FORBIDDEN: writing for the account other needs the verb use on it/
const PAUSING = /FORBIDDEN: the annotation bottega.dev\/paused is for administrators/
const KEPT = /FORBIDDEN: a finalizer of bottega.dev goes when nothing is left outside/

/** Holds the same in a namespace that is not the platform's. */
const TENANT_ADMIN = 'admin-of-a-tenant'

const bind = (name: string, user: string, role: { kind: string; name: string }, at = namespace.name) => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name, namespace: at },
  roleRef: { apiGroup: RBAC, ...role },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
})

const setUp = async () => {
  await ensurePlatform()
  kubectl = kubectlFor()
  namespace = await makeNamespace()
  const metadata = { name: 'writes-for-demo', namespace: namespace.name }
  const rules = [{ apiGroups: [GROUP], resources: ['accounts'], resourceNames: ['demo'], verbs: [USE] }]
  const leases = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'patch', 'delete'] }]
  await kubectl(
    ['create', '-f', '-'],
    asList([
      { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules: [...rules, ...leases] },
      bind('editor', EDITOR, { kind: 'ClusterRole', name: 'bottega-edit' }),
      bind('editor-for-demo', EDITOR, { kind: 'Role', name: 'writes-for-demo' }),
      bind('editor-looks', EDITOR, { kind: 'ClusterRole', name: 'bottega-view' }),
      bind('admin-looks', ADMIN, { kind: 'ClusterRole', name: 'bottega-view' }),
      bind('admin', ADMIN, { kind: 'ClusterRole', name: 'bottega-admin' }),
      bind('admin-edits', ADMIN, { kind: 'ClusterRole', name: 'bottega-edit' }),
      bind(namespace.name, ADMIN, { kind: 'ClusterRole', name: 'bottega-admin' }, 'default'),
      bind('tenant', TENANT_ADMIN, { kind: 'ClusterRole', name: 'bottega-admin' }),
      bind('tenant-edits', TENANT_ADMIN, { kind: 'ClusterRole', name: 'bottega-edit' }),
      bind('tenant-looks', TENANT_ADMIN, { kind: 'ClusterRole', name: 'bottega-view' }),
    ]),
  )
  await eventually('the rights', () =>
    create(object('Invoice', 'probe', 'demo'), EDITOR).then(
      () => true,
      () => false,
    ),
  )
}

spec('an editor of the namespace', (t) => {
  t.before(setUp)
  t.after(async () => {
    await kubectl(['delete', 'rolebinding', namespace.name, '-n', 'default'])
    await namespace.remove()
  })
  const kinds = KINDS.filter(({ writers }) => writers === 'edit')

  t('has a sample of each kind here', () => {
    assert.equal(kinds.map(({ kind }) => kind).sort(), Object.keys(SPECS).sort())
  })

  for (const { kind } of kinds) {
    t(`writes a ${kind} of the account that was given, and none of another`, async () => {
      await create(object(kind, `own-${kind.toLowerCase()}`, 'demo'), EDITOR)
      await patch(kind, `own-${kind.toLowerCase()}`, { metadata: { labels: { by: 'editor' } } }, EDITOR)
      await remove(kind, `own-${kind.toLowerCase()}`, EDITOR)

      await refused(create(object(kind, `new-${kind.toLowerCase()}`, 'other'), EDITOR), OTHERS)
      const name = `of-other-${kind.toLowerCase()}`
      await create(object(kind, name, 'other'))
      await refused(patch(kind, name, { metadata: { labels: { by: 'editor' } } }, EDITOR), OTHERS)
      // two policies refuse it, and the API server tells of the one that it came to first
      const paused = { metadata: { annotations: { [`${GROUP}/paused`]: 'true' } } }
      await refused(patch(kind, name, paused, EDITOR), new RegExp(`${OTHERS.source}|${PAUSING.source}`))
      await refused(remove(kind, name, EDITOR), OTHERS)
      await refused(kubectl(within(['delete', kind.toLowerCase(), '--all', `--as=${EDITOR}`])), OTHERS)
      assert.is(await kubectl(within(['get', kind.toLowerCase(), name, '-o', 'jsonpath={.metadata.labels}'])), '')
    })

    t(`moves no ${kind} to another account, nor away from one`, async () => {
      const name = `stays-${kind.toLowerCase()}`
      await create(object(kind, name, 'demo'))
      await refused(patch(kind, name, { spec: { account: 'other' } }, EDITOR), /fixed at creation|FORBIDDEN/)
      await refused(patch(kind, name, { spec: { account: 'other' } }), /account is fixed at creation/)
    })
  }

  t('voids no invoice of another account, and puts no site of another live', async () => {
    await create(object('Invoice', 'to-void', 'other'))
    await refused(patch('Invoice', 'to-void', { spec: { void: true } }, EDITOR), OTHERS)
    await create(object('Site', 'to-publish', 'other'))
    await refused(patch('Site', 'to-publish', { spec: { publish: true } }, EDITOR), OTHERS)
  })

  t('strips no finalizer, whether the resource is paused, deleted or both; an administrator may', async () => {
    const held = { finalizers: [`${GROUP}/devinstance`, 'example.org/own'] }
    await create(object('DevInstance', 'held', 'demo', held))
    const status = { instanceId: 'i-1', state: 'running' }
    await state('held', status)
    const strip = { metadata: { finalizers: null } }
    await refused(patch('DevInstance', 'held', strip, EDITOR), KEPT)
    const paused = { metadata: { annotations: { [`${GROUP}/paused`]: 'true' } } }
    await refused(patch('DevInstance', 'held', paused, EDITOR), PAUSING)
    await refused(create(object('Site', 'paused', 'demo', paused.metadata), EDITOR), PAUSING)
    await patch('DevInstance', 'held', paused, ADMIN)
    await refused(patch('DevInstance', 'held', strip, EDITOR), KEPT)
    await refused(patch('DevInstance', 'held', { metadata: { finalizers: ['example.org/own'] } }, EDITOR), KEPT)
    await refused(patch('DevInstance', 'held', { metadata: { annotations: null } }, EDITOR), PAUSING)
    await refused(remove('DevInstance', 'held', EDITOR), /INSTANCE_LIVE/)
    // one's own may go
    await patch('DevInstance', 'held', { metadata: { finalizers: [`${GROUP}/devinstance`] } }, EDITOR)
    await state('held', { ...status, state: 'terminated' })
    await remove('DevInstance', 'held', EDITOR)
    await refused(patch('DevInstance', 'held', strip, EDITOR), KEPT)
    assert.match(await kubectl(within(['get', 'dbx', 'held', '-o', 'jsonpath={.metadata.finalizers}'])), /devinstance/)
    await patch('DevInstance', 'held', strip, ADMIN)
  })

  t('says nothing of what the api was asked', async () => {
    const forged = { annotations: { [`${GROUP}/created-from`]: '{"total":1}' } }
    const why = /FORBIDDEN: the annotation bottega.dev\/created-from is written by the api alone/
    await refused(create(object('Invoice', 'forged', 'demo', forged), EDITOR), why)
    await create(object('Invoice', 'asked', 'demo', forged), API)
    await refused(patch('Invoice', 'asked', { metadata: { annotations: null } }, EDITOR), why)
    const other = { metadata: { annotations: { [`${GROUP}/created-from`]: '{}' } } }
    await refused(patch('Invoice', 'asked', other, EDITOR), why)
    await patch('Invoice', 'asked', { metadata: { annotations: { note: 'mine' } } }, EDITOR)
  })

  t('leaves the lease of the leader as it is; leases of his own are his', async () => {
    const lease = (name: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: namespace.name },
    })
    const why = /FORBIDDEN: the lease bottega-controllers is written by/
    const marks = { metadata: { annotations: { [`${GROUP}/epoch`]: '999' } } }
    for (const name of [LEASE_NAME, 'mine']) await create(lease(name))
    await refused(patch('Lease', LEASE_NAME, marks, EDITOR), why)
    await refused(remove('Lease', LEASE_NAME, EDITOR), why)
    await patch('Lease', 'mine', marks, EDITOR)
    await patch('Lease', LEASE_NAME, marks, OPERATOR)
  })

  t('is no administrator of the platform by being one of a namespace: marks and finalizers are not his', async () => {
    const paused = { metadata: { annotations: { [`${GROUP}/paused`]: 'true' } } }
    const held = { finalizers: [`${GROUP}/devinstance`] }
    await create(object('DevInstance', 'held-in-tenant', 'demo', held))
    await refused(patch('DevInstance', 'held-in-tenant', paused, TENANT_ADMIN), PAUSING)
    await refused(patch('DevInstance', 'held-in-tenant', { metadata: { finalizers: null } }, TENANT_ADMIN), KEPT)
  })

  t('is what an administrator of the namespace is for every account', async () => {
    await create(object('Invoice', 'by-admin', 'other'), ADMIN)
    await patch('Invoice', 'by-admin', { metadata: { labels: { by: 'admin' } } }, ADMIN)
    await remove('Invoice', 'by-admin', ADMIN)
  })
})

/** Holds what the built-in role edit holds where the pods are; that itself is put together by a controller which is not here. */
const NEIGHBOUR = 'neighbour-of-the-platform'
const KUBELET = 'system:node:somewhere'

spec('a neighbour of the pods', (t) => {
  const names = ['neighbour', 'kubelet'].map((name) => `${name}-${process.pid}`) as [string, string]
  const token = (name: string, ...as: string[]) => kubectl(['create', 'token', name, '-n', 'default', ...as])
  t.before(async () => {
    await ensurePlatform()
    kubectl = kubectlFor()
    const rules = [{ apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] }]
    await kubectl(
      ['create', '-f', '-'],
      asList([
        { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: names[1], namespace: 'default' }, rules },
        bind(names[0], NEIGHBOUR, { kind: 'Role', name: names[1] }, 'default'),
        bind(names[1], KUBELET, { kind: 'Role', name: names[1] }, 'default'),
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: names[0], namespace: 'default' } },
      ]),
    )
  })
  t.after(async () => {
    await kubectl(['delete', 'rolebinding,role,serviceaccount', ...names, '-n', 'default', '--ignore-not-found'])
  })

  for (const name of ['bottega-controllers', 'bottega-api'])
    t(`gets no token of ${name}, and of another service account as ever`, async () => {
      await eventually('the rights', () =>
        token(names[0], `--as=${NEIGHBOUR}`).then(
          () => true,
          () => false,
        ),
      )
      await refused(token(name, `--as=${NEIGHBOUR}`), /FORBIDDEN: tokens of the platform are for its pods/)
    })

  t('hinders neither the kubelet nor whoever runs the platform', async () => {
    const kubelet = [`--as=${KUBELET}`, '--as-group=system:nodes']
    for (const as of [kubelet, []]) assert.ok((await token('bottega-controllers', ...as)).length > 100)
  })
})
