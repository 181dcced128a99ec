/** What an editor and an administrator of one tenant's namespace can do to another's account, on the real API server: nothing. */
import { GROUP } from '../../../crds/kernel/object.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { TENANTS_NAME, USE } from '../../../crds/kernel/rights/policies.ts'
import { CommandRefusal } from '../../../hack/lib/refusal.ts'
import { asList, type Kubectl } from '../../../hack/platform/kubectl.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import {
  ensurePlatform,
  kubectlFor,
  makeNamespace,
  makeTenantNamespace,
  type Namespace,
} from '../../support/stage/stage.ts'

const RBAC = 'rbac.authorization.k8s.io'
/** Where the stage has the pods, and the Accounts of its platform. */
const PLATFORM = 'default'
const KINDS = ['Invoice', 'Site', 'App', 'DevInstance'] as const
const SPECS: Record<(typeof KINDS)[number], object> = {
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
let [home, a, b]: Namespace[] = []
/** Accounts and people of this test alone: the list of tenants is the stage's. */
let [own, others, editor, admin] = ['', '', '', '']
const nameOf = (namespace: Namespace | undefined) => namespace?.name ?? ''

const object = (kind: (typeof KINDS)[number], name: string, account: string, namespace: string) => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind,
  metadata: { name, namespace },
  spec: { account, ...SPECS[kind] },
})
const binding = (name: string, user: string, role: { kind: string; name: string }) => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name, namespace: nameOf(a) },
  roleRef: { apiGroup: RBAC, ...role },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
})
const clusterRole = (name: string) => ({ kind: 'ClusterRole', name })

/** What the built-in roles hold that ours are added to, as far as it matters here: all that a namespace has of the cluster's own. */
const builtIn = {
  apiVersion: `${RBAC}/v1`,
  kind: 'Role',
  rules: [
    { apiGroups: ['', 'coordination.k8s.io', 'events.k8s.io'], resources: ['*'], verbs: ['*'] },
    { apiGroups: [GROUP], resources: ['accounts'], verbs: [USE] },
  ],
}

const setUp = async () => {
  await ensurePlatform()
  kubectl = kubectlFor()
  ;[home, a, b] = await Promise.all([makeNamespace(), makeTenantNamespace(), makeTenantNamespace()])
  ;[own, others, editor, admin] = ['own', 'others', 'editor', 'admin'].map((one) => `${one}-${nameOf(a)}`) as [
    string,
    string,
    string,
    string,
  ]
  const data = { [nameOf(a)]: own, [nameOf(b)]: others }
  await kubectl(['patch', 'cm', TENANTS_NAME, '-n', PLATFORM, '--type=merge', '-p', JSON.stringify({ data })])
  await kubectl(
    ['create', '-f', '-'],
    asList([
      { ...builtIn, metadata: { name: 'built-in', namespace: nameOf(a) } },
      ...[editor, admin].flatMap((user, index) => [
        binding(`edit-${index}`, user, clusterRole('bottega-edit')),
        binding(`view-${index}`, user, clusterRole('bottega-view')),
        binding(`core-${index}`, user, { kind: 'Role', name: 'built-in' }),
      ]),
      binding('admin', admin, clusterRole('bottega-admin')),
      ...KINDS.map((kind) => object(kind, 'of-others', others, nameOf(b))),
    ]),
  )
}

const as = (user: string, args: string[], input?: unknown) => kubectl([...args, `--as=${user}`], input)
const refusalOf = async (work: Promise<string>): Promise<string> => {
  const error = await assert.rejects(work, (one) => one instanceof CommandRefusal)
  return error instanceof CommandRefusal ? error.detail : ''
}
const REFUSED = /forbidden|FORBIDDEN|ACCOUNT_ELSEWHERE|fixed at creation/
/** Names of all that the other tenant has, with versions: what was touched is another one. */
const whole = () =>
  kubectl([
    'get',
    'bottega',
    '-n',
    nameOf(b),
    '-o',
    'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
  ])

type Try = [what: string, args: (kind: string) => string[], input?: (kind: (typeof KINDS)[number]) => object]
const merge = (body: object) => ['--type=merge', '-p', JSON.stringify(body)]

/** On each kind. */
const tries = (): Try[] => [
  [
    'makes one for the other account at his own place',
    () => ['create', '-f', '-'],
    (kind) => object(kind, 'forged', others, nameOf(a)),
  ],
  [
    'makes one for the other account at its place',
    () => ['create', '-f', '-'],
    (kind) => object(kind, 'forged', others, nameOf(b)),
  ],
  [
    'makes one of his own at the place of the other',
    () => ['create', '-f', '-'],
    (kind) => object(kind, 'mine', own, nameOf(b)),
  ],
  ['makes one at home', () => ['create', '-f', '-'], (kind) => object(kind, 'mine', own, nameOf(home))],
  ['reads one', (kind) => ['get', kind, 'of-others', '-n', nameOf(b)]],
  ['lists those of all', (kind) => ['get', kind, '-A']],
  [
    'changes one',
    (kind) => ['patch', kind, 'of-others', '-n', nameOf(b), ...merge({ metadata: { labels: { by: 'a' } } })],
  ],
  ['takes one over', (kind) => ['patch', kind, 'of-others', '-n', nameOf(b), ...merge({ spec: { account: own } })]],
  [
    'gives one of his own to the other',
    (kind) => ['patch', kind, 'of-own', '-n', nameOf(a), ...merge({ spec: { account: others } })],
  ],
  [
    'states what is true',
    (kind) => ['patch', kind, 'of-own', '-n', nameOf(a), '--subresource=status', ...merge({ status: {} })],
  ],
  ['deletes one', (kind) => ['delete', kind, 'of-others', '-n', nameOf(b), '--wait=false']],
  ['deletes all', (kind) => ['delete', kind, '--all', '-n', nameOf(b), '--wait=false']],
]

spec('whoever works in the namespace of one tenant', (t) => {
  t.before(setUp)
  t.after(async () => {
    const data = { [nameOf(a)]: null, [nameOf(b)]: null }
    await kubectl(['patch', 'cm', TENANTS_NAME, '-n', PLATFORM, '--type=merge', '-p', JSON.stringify({ data })])
    await Promise.all([home?.remove(), a?.remove(), b?.remove()])
  })

  t('writes there for the account that is bound to it', async () => {
    const made = () =>
      as(editor, ['create', '-f', '-'], asList(KINDS.map((kind) => object(kind, 'of-own', own, nameOf(a)))))
    // rights and the list of tenants come into force a moment later
    await eventually(
      'the list and the rights',
      () =>
        made().then(
          () => true,
          () => false,
        ),
      20_000,
    )
    const forged = object('Invoice', 'probe', others, nameOf(a))
    await eventually('the list', () =>
      as(editor, ['create', '--dry-run=server', '-f', '-'], forged).then(
        () => false,
        () => true,
      ),
    )
    await as(editor, ['patch', 'inv', 'of-own', '-n', nameOf(a), ...merge({ metadata: { labels: { by: 'a' } } })])
  })

  for (const who of ['editor', 'admin'] as const)
    t(`has no hand in what is another's, as ${who}: ${12 * KINDS.length} tries`, async () => {
      const user = who === 'editor' ? editor : admin
      const before = await whole()
      assert.is(before.trim().split('\n').length, KINDS.length)
      for (const kind of KINDS)
        await Promise.all(
          tries().map(async ([what, args, input]) => {
            const said = await refusalOf(as(user, args(kind), input?.(kind))).catch((error: unknown) => {
              throw new Error(`${user} ${what} (${kind}): ${error instanceof Error ? error.message : error}`)
            })
            assert.match(said, REFUSED, `${what} (${kind}): ${said}`)
          }),
        )
      assert.is(await whole(), before)
    })

  t('says whose resources live where as little as an account says it, nor moves the lease', async () => {
    const list = ['patch', 'cm', TENANTS_NAME, '-n', PLATFORM, ...merge({ data: { [nameOf(a)]: `${own},${others}` } })]
    // one of the same name beside his own things is read by nobody
    await as(admin, ['create', 'cm', TENANTS_NAME, '-n', nameOf(a), `--from-literal=${nameOf(a)}=${others}`])
    const account = {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'Account',
      metadata: { name: others, namespace: nameOf(a) },
    }
    await as(admin, ['create', '-f', '-'], {
      ...account,
      spec: { email: 'a@b.test', name: 'Another', plan: 'team', role: 'admin' },
    })
    for (const user of [editor, admin]) {
      assert.match(await refusalOf(as(user, list)), /forbidden/)
      assert.match(await refusalOf(as(user, ['get', 'cm', TENANTS_NAME, '-n', PLATFORM])), /forbidden/)
      assert.match(
        await refusalOf(as(user, ['create', '-f', '-'], object('Invoice', 'still', others, nameOf(a)))),
        REFUSED,
      )
      const lease = ['patch', 'lease', LEASE_NAME, '-n', PLATFORM, ...merge({ spec: { holderIdentity: 'me' } })]
      assert.match(await refusalOf(as(user, lease)), /forbidden/)
    }
  })

  t('is refused also where he may write ConfigMaps beside the pods, being no administrator', async () => {
    const role = { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: nameOf(a), namespace: PLATFORM } }
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch', 'delete'] }]
    const bound = { ...binding(nameOf(a), editor, { kind: 'Role', name: nameOf(a) }), metadata: role.metadata }
    await kubectl(['create', '-f', '-'], asList([{ ...role, rules }, bound]))
    try {
      await eventually('the right', () =>
        as(editor, ['get', 'cm', TENANTS_NAME, '-n', PLATFORM]).then(
          () => true,
          () => false,
        ),
      )
      const list = ['patch', 'cm', TENANTS_NAME, '-n', PLATFORM, ...merge({ data: { [nameOf(a)]: others } })]
      const why = /FORBIDDEN: bottega-tenants is written by administrators/
      assert.match(await refusalOf(as(editor, list)), why)
      assert.match(await refusalOf(as(editor, ['delete', 'cm', TENANTS_NAME, '-n', PLATFORM])), why)
    } finally {
      await kubectl(['delete', 'role,rolebinding', nameOf(a), '-n', PLATFORM])
    }
  })

  t('is bound as everybody is: not even who runs the cluster makes one elsewhere', async () => {
    for (const namespace of [home, a])
      assert.match(
        await refusalOf(kubectl(['create', '-f', '-'], object('Site', 'stray', others, nameOf(namespace)))),
        /ACCOUNT_ELSEWHERE/,
      )
    await kubectl(['create', '-f', '-'], object('Site', 'unbound', 'nobody-in-particular', nameOf(home)))
    assert.match(
      await refusalOf(kubectl(['create', '-f', '-'], object('Site', 'unbound', 'nobody-in-particular', nameOf(a)))),
      /ACCOUNT_ELSEWHERE/,
    )
  })
})
