import { parse } from 'yaml'
import { COMMON_STATUS, type Kind } from '../../../crds/kernel/kind.ts'
import { type Manifest, manifestOf } from '../../../crds/kernel/manifest.ts'
import { LEASE_NAME, platformObjects } from '../../../crds/kernel/platform.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { drifted, generatedFiles } from '../../../hack/commands/generate.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const objects = platformObjects({
  namespace: 'bottega',
  resources: 'things',
  tenants: [],
  controllersAccount: 'controllers',
  apiAccount: 'api',
})
const ofKind = (kind: string): Manifest[] => objects.filter((one) => one.kind === kind)
type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }
const rulesOf = (manifest: Manifest | undefined) => (manifest?.rules ?? []) as Rule[]

const widget: Kind = {
  writers: 'edit',
  apiVerbs: [],
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  listKind: 'WidgetList',
  shortNames: ['wg'],
  description: 'A widget.',
  spec: {
    type: 'object',
    description: 'What is wanted.',
    required: ['size'],
    properties: {
      size: { type: 'integer', description: 'Size.', 'x-immutable': 'INVALID_FIELD' },
      label: { type: 'string', description: 'Label.', maxLength: 9, 'x-text': 'line', 'x-immutable': 'REF_IMMUTABLE' },
      parts: {
        type: 'array',
        description: 'Parts.',
        maxItems: 3,
        'x-list': { map: 'id' },
        items: {
          type: 'object',
          description: 'Part.',
          required: ['id'],
          properties: { id: { type: 'string', description: 'Id.', maxLength: 9 } },
        },
      },
      tags: {
        type: 'map',
        description: 'Tags.',
        maxProperties: 2,
        values: { type: 'string', description: 'Tag.', maxLength: 9 },
      },
      open: { type: 'object', description: 'Open.', 'x-open': true, maxProperties: 2 },
    },
  },
  status: { type: 'object', description: 'What is.', properties: COMMON_STATUS },
  columns: [{ name: 'Size', type: 'integer', path: '.spec.size', description: 'Size.', wide: true }],
  selectable: ['.spec.size'],
  rules: [],
}

spec('the definition of a kind', (t) => {
  const made = manifestOf(widget).spec as {
    versions: { schema: { openAPIV3Schema: { properties: { spec: Manifest } } } }[]
  }
  const specNode = made.versions[0]?.schema.openAPIV3Schema.properties.spec as unknown as {
    properties: Record<string, object>
    [word: string]: unknown
  }

  t('turns each schema word into what the API server knows', () => {
    assert.equal(specNode.properties.size, { type: 'integer', description: 'Size.', format: 'int64' })
    assert.match(String(Reflect.get(specNode.properties.label ?? {}, 'pattern')), /x\{202E\}/)
    assert.equal(Reflect.get(specNode.properties.parts ?? {}, 'x-kubernetes-list-map-keys'), ['id'])
    assert.equal(specNode.properties.tags, {
      type: 'object',
      description: 'Tags.',
      maxProperties: 2,
      additionalProperties: { type: 'string', description: 'Tag.', maxLength: 9 },
    })
    assert.is(
      Reflect.get(
        Reflect.get(specNode.properties.open ?? {}, 'additionalProperties'),
        'x-kubernetes-preserve-unknown-fields',
      ),
      true,
    )
  })

  t('guards what is fixed on the parent, so that adding and taking away is seen', () => {
    assert.equal(specNode['x-kubernetes-validations'], [
      {
        reason: 'FieldValueInvalid',
        rule: 'self.size == oldSelf.size',
        message: 'INVALID_FIELD: size is fixed at creation',
        fieldPath: '.size',
      },
      {
        reason: 'FieldValueInvalid',
        rule: 'has(self.label) ? has(oldSelf.label) && self.label == oldSelf.label : !has(oldSelf.label)',
        message: 'REF_IMMUTABLE: label is fixed at creation',
        fieldPath: '.label',
      },
    ])
  })

  t('declares AGE, because declaring any column takes it away, and at most six columns besides the name', () => {
    for (const kind of KINDS) {
      assert.ok(kind.columns.some((column) => column.name === 'Age' && !column.wide))
      assert.ok(kind.columns.filter((column) => !column.wide).length <= 6)
    }
  })

  t('has short names of which no two are alike', () => {
    const names = KINDS.flatMap((kind) => [...kind.shortNames, kind.singular, kind.plural])
    assert.is(new Set(names).size, names.length)
  })
})

spec('the platform', (t) => {
  t('grants nothing by wildcard', () => {
    const rules = [...ofKind('Role'), ...ofKind('ClusterRole')].flatMap(rulesOf)
    assert.ok(rules.length > 8)
    for (const rule of rules) assert.is([...rule.apiGroups, ...rule.resources, ...rule.verbs].includes('*'), false)
  })

  t('lets nobody but the controllers write a status', () => {
    for (const role of [...ofKind('Role'), ...ofKind('ClusterRole')]) {
      const writes = rulesOf(role).some((rule) => rule.resources.some((name) => name.endsWith('/status')))
      assert.is(writes, role.metadata.name === 'controllers', role.metadata.name)
    }
    const [policy] = ofKind('ValidatingAdmissionPolicy')
    assert.match(JSON.stringify(policy), 'system:serviceaccount:bottega:controllers')
  })

  t('narrows the lease to its name, except for create, which RBAC cannot narrow', () => {
    const leases = rulesOf(ofKind('Role').find((role) => role.metadata.name === 'controllers-home')).filter((rule) =>
      rule.resources.includes('leases'),
    )
    assert.equal(
      leases.map((rule) => [rule.verbs, rule.resourceNames]),
      [
        [['create'], undefined],
        [['get', 'patch'], [LEASE_NAME]],
      ],
    )
  })

  t('keeps resources apart from identities, Lease and whatever else lies with the pods', () => {
    const whereOf = (kind: string) =>
      Object.fromEntries(ofKind(kind).map(({ metadata }) => [metadata.name, metadata.namespace]))
    const apart = { controllers: 'things', api: 'things', 'controllers-home': 'bottega' }
    assert.equal(whereOf('Role'), apart)
    assert.equal(whereOf('RoleBinding'), apart)
    assert.equal(whereOf('ServiceAccount'), { controllers: 'bottega', api: 'bottega' })
    assert.equal(whereOf('Lease'), { [LEASE_NAME]: 'bottega' })
    const atHome = ofKind('Role').filter(({ metadata }) => metadata.namespace === 'bottega')
    assert.not.ok(atHome.flatMap(rulesOf).some(({ apiGroups }) => apiGroups.includes('bottega.dev')))
    for (const binding of ofKind('RoleBinding')) assert.match(JSON.stringify(binding.subjects), '"namespace":"bottega"')
  })

  t('adds to the built-in roles what is said of resources alone: no Secret, no token, no status, nobody else', () => {
    const added = ofKind('ClusterRole').filter(({ metadata }) =>
      Object.keys(metadata.labels ?? {}).some((label) => label.includes('aggregate-to-')),
    )
    assert.is(added.length, 3)
    const plurals = KINDS.flatMap(({ plural, scale }) => (scale ? [plural, `${plural}/scale`] : [plural]))
    const guarded = KINDS.flatMap(({ guardedVerbs = [] }) => [...guardedVerbs])
    const allowed = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', ...guarded]
    for (const { apiGroups, resources, verbs } of added.flatMap(rulesOf)) {
      assert.equal(apiGroups, ['bottega.dev'])
      assert.equal(
        resources.filter((name) => !plurals.includes(name)),
        [],
      )
      assert.equal(
        verbs.filter((verb) => !allowed.includes(verb)),
        [],
      )
    }
    assert.not.ok(['impersonate', 'bind', 'escalate'].some((verb) => guarded.includes(verb)))
  })

  t('adds to the built-in roles, and lets only admin write accounts', () => {
    const roles = ofKind('ClusterRole')
    assert.equal(
      roles.flatMap((role) => Object.keys(role.metadata.labels ?? {}).filter((label) => label.includes('aggregate'))),
      [
        'rbac.authorization.k8s.io/aggregate-to-view',
        'rbac.authorization.k8s.io/aggregate-to-edit',
        'rbac.authorization.k8s.io/aggregate-to-admin',
      ],
    )
    const writers = roles.filter((role) =>
      rulesOf(role).some((rule) => rule.resources.includes('accounts') && rule.verbs.includes('patch')),
    )
    assert.equal(
      writers.map((role) => role.metadata.name),
      ['bottega-admin'],
    )
  })

  t('binds each policy, and fails closed', () => {
    const policies = ofKind('ValidatingAdmissionPolicy')
    assert.equal(
      policies.map((one) => one.metadata.name),
      ofKind('ValidatingAdmissionPolicyBinding').map((one) => one.metadata.name),
    )
    for (const policy of policies) assert.is(Reflect.get(policy.spec as object, 'failurePolicy'), 'Fail')
  })
})

spec('generated files', (t) => {
  t('are what the schemas say', () => assert.equal(drifted(), []))
  t('hold one definition per kind that reads back as the same object', () => {
    const files = generatedFiles()
    for (const kind of KINDS)
      assert.equal(parse(files.get(`crds/${kind.singular}.yaml`) ?? ''), JSON.parse(JSON.stringify(manifestOf(kind))))
  })
})
