/** The chart as text: what Helm makes of it, and what it refuses. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { API, CONTROLLERS, LIMITS } from '../../controllers/base/env.ts'
import {
  platformIn,
  platformObjects,
  reconcileHomeRules,
  reconcileRules,
  reconcileTenantAccess,
  setupRules,
} from '../../crds/kernel/platform.ts'
import { USE } from '../../crds/kernel/rights/policies.ts'
import { defaultName } from '../../hack/container/image.ts'
import { createProgress } from '../../hack/lib/progress.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { root } from '../../hack/lib/state.ts'
import { ensureTools } from '../../hack/lib/tools.ts'
import { chartFolder, createHelm, exampleValues, type Helm } from '../../hack/stage/helm.ts'
import { assert, spec } from '../support/runner/spec.ts'

type Rendered = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> }
  [field: string]: unknown
}

const buildMs = 20 * 60_000
const folder = mkdtempSync('/tmp/bottega-test-chart-')
let helm: Helm

const render = (...args: string[]) =>
  helm(['template', 'one', chartFolder, '--namespace', 'shop', '--values', exampleValues, ...args])

const rendered = async (...args: string[]): Promise<Rendered[]> =>
  parseAllDocuments(await render(...args)).map((document) => document.toJS())

/** What helm says no with; fails when it says yes. */
const refusal = async (work: Promise<string>): Promise<string> => {
  const error = await assert.rejects(work, (one) => one instanceof CommandRefusal)
  return error instanceof CommandRefusal ? error.detail : ''
}

const find = (objects: readonly Rendered[], kind: string, name: string): Rendered => {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`There is no ${kind} ${name}`)
  return found
}

type Variable = { name: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }
type Container = { image: string; env?: Variable[] }
const containerOf = (deployment: Rendered): Container => {
  const { template } = deployment.spec as { template: { spec: { containers: Container[] } } }
  const [container] = template.spec.containers
  if (container === undefined) throw new Error('A Deployment without a container')
  return container
}

spec('the chart', (t) => {
  t.before(
    async () => {
      const tools = await ensureTools(['helm'], { progress: createProgress() })
      helm = createHelm({ path: tools.path('helm'), folder })
    },
    { timeoutMs: buildMs },
  )
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  for (const values of [[], ['--values', exampleValues]]) {
    t(`passes helm lint --strict ${values.length === 0 ? 'as it is' : 'with the example values'}`, async () => {
      assert.match(await helm(['lint', '--strict', chartFolder, ...values]), '0 chart(s) failed')
    })
  }

  t('renders the same bytes each time', async () => {
    const [one, two] = [await render(), await render()]
    assert.ok(one.length > 10_000)
    assert.is(one, two)
  })

  t('speaks of the version that the package has, and of the image that hack/image makes', async () => {
    const { version, appVersion } = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8'))
    const { image } = containerOf(find(await rendered(), 'Deployment', 'bottega-api'))
    assert.is(image, defaultName())
    assert.equal([version, appVersion], [image.split(':')[1], image.split(':')[1]])
  })

  t(
    'installs the identities, rights and policies of crds/kernel/platform.ts, and no definition by itself',
    async () => {
      const objects = await rendered()
      const wanted = platformObjects(platformIn('shop')).filter(({ kind }) => kind !== 'CustomResourceDefinition')
      for (const object of wanted) assert.equal(find(objects, object.kind, object.metadata.name), object)
      assert.not.ok(objects.some(({ kind }) => kind === 'CustomResourceDefinition'))
    },
  )

  t('lets those named as editors of an account write for it, and for no other', async () => {
    const who = ['editors[0].account=demo', 'editors[0].subjects[0].kind=Group', 'editors[0].subjects[0].name=team']
    const objects = await rendered(...who.flatMap((one) => ['--set', one]))
    const name = 'bottega-editors-of-demo'
    assert.equal(find(objects, 'Role', name).rules, [
      { apiGroups: ['bottega.dev'], resources: ['accounts'], resourceNames: ['demo'], verbs: ['use'] },
    ])
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team' }]
    const roles = ['', '-edit'].map((of) => find(objects, 'RoleBinding', `${name}${of}`))
    assert.equal(
      roles.map(({ roleRef }) => (roleRef as { name: string }).name),
      [name, 'bottega-edit'],
    )
    for (const role of roles) assert.equal(role.subjects, subjects)
    assert.not.ok((await rendered()).some(({ metadata }) => metadata.name.startsWith('bottega-editors')))
  })

  t('lets who reconciles make again what is of any account, and who plans nothing', async () => {
    const verbs = async (run: string) => {
      const rules = find(await rendered('--set', `reconcile.run=${run}`), 'Role', 'bottega-reconcile').rules
      return (rules as { resources: string[]; verbs: string[] }[])
        .filter(({ resources }) => resources.includes('accounts'))
        .flatMap((rule) => rule.verbs)
    }
    assert.equal(await verbs('apply'), ['list', 'watch', 'create', USE, 'update'])
    assert.equal(await verbs('plan'), ['list', 'watch'])
  })

  t('gives its Jobs what crds/kernel/platform.ts says, as the identities of the tests have it', async () => {
    const role = async (name: string, ...args: string[]) => {
      const objects = await rendered(...args)
      return objects.find((one) => one.kind.endsWith('Role') && one.metadata.name === name)?.rules
    }
    for (const run of ['plan', 'apply'] as const) {
      const [set, applies] = [['--set', `reconcile.run=${run}`], run === 'apply']
      assert.equal(await role('bottega-reconcile', ...set), reconcileRules({ applies }))
      assert.equal(await role('bottega-reconcile-home', ...set), reconcileHomeRules({ applies }))
    }
    for (const removes of [false, true])
      assert.equal(await role('bottega-setup', '--set', `crds.keep=${!removes}`), setupRules({ removes }))
  })

  t('puts rights on resources where those live, and all else beside the pods', async () => {
    const objects = await rendered('--set', 'resourceNamespace=things', '--set', 'reconcile.run=apply')
    const wanted = platformObjects(platformIn('shop', 'things')).filter(
      ({ kind }) => kind !== 'CustomResourceDefinition',
    )
    for (const object of wanted) assert.equal(find(objects, object.kind, object.metadata.name), object)
    const apart = objects.filter(({ metadata }) => metadata.namespace === 'things').map((one) => one.metadata.name)
    const roles = ['bottega-api', 'bottega-controllers', 'bottega-reconcile']
    assert.equal([...new Set(apart)].sort(), roles)
    for (const [kind, name] of [
      ['Deployment', 'bottega-api'],
      ['Deployment', 'bottega-controllers'],
      ['Job', 'bottega-reconcile'],
    ] as const) {
      const { env = [] } = containerOf(find(objects, kind, name))
      const given = env.filter(({ name }) => /^BOTTEGA_(HOME_)?NAMESPACE$/.test(name)).map((one) => Object.values(one))
      assert.equal(given, [
        ['BOTTEGA_NAMESPACE', 'things'],
        ['BOTTEGA_HOME_NAMESPACE', 'shop'],
      ])
    }
  })

  t('gives each tenant a Role of its own, binds its accounts, and nothing in the whole cluster', async () => {
    const list = ['tenantNamespaces[0].name=shop-a', 'tenantNamespaces[0].accounts={demo,more}']
    const second = ['tenantNamespaces[1].name=shop-b', 'tenantNamespaces[1].accounts={other}']
    const who = ['editors[0].account=other', 'editors[0].subjects[0].kind=Group', 'editors[0].subjects[0].name=team']
    const set = [...list, ...second, ...who, 'resourceNamespace=things', 'reconcile.run=apply'].flatMap((one) => [
      '--set',
      one,
    ])
    const objects = await rendered(...set)
    const tenants = [
      { namespace: 'shop-a', accounts: ['demo', 'more'] },
      { namespace: 'shop-b', accounts: ['other'] },
    ]
    const platform = platformIn('shop', 'things', tenants)
    const wanted = [
      ...platformObjects(platform).filter(({ kind }) => kind !== 'CustomResourceDefinition'),
      ...tenants.flatMap(({ namespace }) => reconcileTenantAccess(namespace, platform)),
    ]
    for (const object of wanted) {
      const { kind, metadata } = object
      const found = objects.find(
        (one) =>
          one.kind === kind && one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace,
      )
      const { metadata: _, ...rest } = found ?? { metadata: {} }
      const { metadata: __, ...whole } = object
      assert.equal(rest, whole, `${kind} ${metadata.namespace}/${metadata.name}`)
    }
    const wide = (all: readonly Rendered[]) => all.filter(({ kind }) => kind.startsWith('ClusterRole'))
    assert.equal(
      wide(objects),
      wide(await rendered('--set', 'resourceNamespace=things', '--set', 'reconcile.run=apply')),
    )
    const editors = objects.filter(({ metadata }) => metadata.name.startsWith('bottega-editors-of-other'))
    assert.equal([...new Set(editors.map(({ metadata }) => metadata.namespace))], ['shop-b'])
    for (const [kind, name] of [
      ['Deployment', 'bottega-api'],
      ['Deployment', 'bottega-controllers'],
      ['Job', 'bottega-reconcile'],
    ] as const) {
      const given = containerOf(find(objects, kind, name)).env?.find((one) => one.name === 'BOTTEGA_TENANTS')
      assert.equal(given, { name: 'BOTTEGA_TENANTS', value: 'shop-a=demo,more;shop-b=other' })
    }
    const none = await rendered()
    assert.not.ok(none.some(({ metadata }) => metadata.name.endsWith('-tenant')))
    assert.not.ok(
      containerOf(find(none, 'Deployment', 'bottega-api')).env?.some(({ name }) => name === 'BOTTEGA_TENANTS'),
    )
  })

  for (const [what, ...values] of [
    ['the namespace of the pods', 'tenantNamespaces[0].name=shop', 'tenantNamespaces[0].accounts={demo}'],
    [
      'an account in two',
      ...['tenantNamespaces[0].name=a', 'tenantNamespaces[0].accounts={demo}'],
      ...['tenantNamespaces[1].name=b', 'tenantNamespaces[1].accounts={demo}'],
    ],
  ] as const)
    t(`takes no list of tenants with ${what}`, async () => {
      assert.match(await refusal(render(...values.flatMap((one) => ['--set', one]))), 'tenantNamespaces: ')
    })

  t('lets the hooks change exactly the definitions of the kinds, and remove them only when asked to', async () => {
    const names = platformObjects(platformIn('shop')).flatMap(({ kind, metadata }) =>
      kind === 'CustomResourceDefinition' ? [metadata.name] : [],
    )
    const rules = async (...args: string[]) => find(await rendered(...args), 'ClusterRole', 'bottega-setup').rules
    const of = (verbs: string[], more: object = {}) => ({
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs,
      ...more,
    })
    assert.equal(await rules(), [of(['create']), of(['get', 'patch'], { resourceNames: names })])
    const removing = await rules('--set', 'crds.keep=false')
    assert.equal(removing, [of(['create']), of(['get', 'patch', 'delete'], { resourceNames: names })])
    const jobs = (objects: Rendered[]) =>
      objects.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name)
    assert.equal(jobs(await rendered()), ['bottega-definitions', 'bottega-migrate'])
    assert.ok(jobs(await rendered('--set', 'crds.keep=false')).includes('bottega-remove-definitions'))
  })

  t('gives the processes only settings that they read', async () => {
    const objects = await rendered(
      ...[
        'admin.email=a@b.test',
        'oidc.issuer=https://id.test',
        'oidc.clientId=one',
        'llm.url=https://m.test',
        'llm.model=m',
      ].flatMap((one) => ['--set', one]),
    )
    const known = (fields: Record<string, { name: string }>) => Object.values(fields).map(({ name }) => name)
    const given = (name: string) => containerOf(find(objects, 'Deployment', name)).env?.map((one) => one.name) ?? []
    const unread = (names: string[], read: string[]) => names.filter((name) => !read.includes(name))
    assert.equal(unread(given('bottega-controllers'), known(CONTROLLERS)), [])
    assert.equal(unread(given('bottega-api'), known({ ...API, ...LIMITS })), [])
    assert.ok(given('bottega-api').includes('BOTTEGA_OIDC_CLIENT_SECRET'))
    assert.ok(given('bottega-api').includes('BOTTEGA_LLM_KEY'))
  })

  t('lets the api reach the database by its own role alone, and the migration know both', async () => {
    const objects = await rendered()
    const keyOf = (kind: string, name: string, variable: string) =>
      containerOf(find(objects, kind, name)).env?.find((one) => one.name === variable)?.valueFrom?.secretKeyRef?.key
    assert.is(keyOf('Deployment', 'bottega-api', 'BOTTEGA_DATABASE_URL'), 'api-database-url')
    assert.is(keyOf('Deployment', 'bottega-api', 'BOTTEGA_API_DATABASE_URL'), undefined)
    assert.is(keyOf('Deployment', 'bottega-controllers', 'BOTTEGA_DATABASE_URL'), 'database-url')
    assert.is(keyOf('Job', 'bottega-migrate', 'BOTTEGA_DATABASE_URL'), 'database-url')
    assert.is(keyOf('Job', 'bottega-migrate', 'BOTTEGA_API_DATABASE_URL'), 'api-database-url')
  })

  t('hands further settings to both processes', async () => {
    const objects = await rendered('--set-string', 'settings.BOTTEGA_RATE_PER_SECOND=7')
    for (const name of ['bottega-api', 'bottega-controllers']) {
      const { env = [] } = containerOf(find(objects, 'Deployment', name))
      assert.equal(
        env.find((one) => one.name === 'BOTTEGA_RATE_PER_SECOND'),
        { name: 'BOTTEGA_RATE_PER_SECOND', value: '7' },
      )
    }
  })

  t('keeps secrets that are given as values in Secrets alone, and rolls the pods when they change', async () => {
    const values = join(folder, 'secrets.json')
    const secretKey = Buffer.alloc(32, 7).toString('base64')
    const write = (password: string) => {
      const databaseUrl = `postgresql://bottega:${password}@db:5432/bottega`
      const apiDatabaseUrl = `postgresql://bottega_api:${password}@db:5432/bottega`
      const networkPolicy = { apiServer: { cidrs: ['10.0.0.1/32'] } }
      const secret = { databaseUrl, apiDatabaseUrl, secretKey, smtpUrl: `smtp://u:${password}@mail:587` }
      writeFileSync(
        values,
        JSON.stringify({
          publicUrl: 'https://a.test',
          proxies: 0,
          resourceNamespace: '',
          mail: { from: 'a@b.test' },
          secret,
          networkPolicy,
        }),
      )
      return helm(['template', 'one', chartFolder, '--namespace', 'shop', '--values', values])
    }
    const [first, second] = [await write('canary-one'), await write('canary-two')]
    assert.not.match(first, 'canary')
    const checksum = (text: string) => /checksum\/secret: ([0-9a-f]{64})/.exec(text)?.[1]
    assert.ok(checksum(first))
    assert.is.not(checksum(first), checksum(second))
    const secret = find(
      parseAllDocuments(first).map((one) => one.toJS()),
      'Secret',
      'bottega',
    )
    const { 'database-url': url = '' } = secret.data as Record<string, string>
    assert.match(Buffer.from(url, 'base64').toString(), 'canary-one')
  })

  const provisioner = [
    ...['enabled=true', 'existingSecret=cloud', 'installation=shop', 'ec2.region=eu-central-1'],
    ...['ec2.subnet=subnet-0a', 'ec2.securityGroups[0]=sg-0a', 'ec2.keyName=operator'],
    ...['ec2.images.arm64=ami-0a', 'ec2.images.x86_64=ami-0b'],
  ].flatMap((one) => ['--set', `provisioner.${one}`])

  t('runs the provisioner when it is asked to, without any right in the cluster', async () => {
    assert.not.match(await render(), 'provisioner')
    const objects = await rendered(...provisioner)
    assert.is(find(objects, 'ServiceAccount', 'bottega-provisioner').automountServiceAccountToken, false)
    const bound = objects.filter(({ kind }) => /RoleBinding$/.test(kind))
    assert.ok(bound.length > 0)
    for (const { subjects = [] } of bound as { subjects?: { name: string }[] }[])
      assert.not.ok(subjects.some(({ name }) => name === 'bottega-provisioner'))
    const { template } = find(objects, 'Deployment', 'bottega-provisioner').spec as {
      template: { spec: Record<string, unknown> }
    }
    assert.equal(
      [template.spec.serviceAccountName, template.spec.automountServiceAccountToken],
      ['bottega-provisioner', false],
    )
    const settings = find(objects, 'Deployment', 'bottega-controllers').spec as {
      template: { spec: { securityContext: object; containers: { securityContext: object }[] } }
    }
    assert.equal(template.spec.securityContext, settings.template.spec.securityContext)
    const [container] = template.spec.containers as { securityContext: object; args: string[] }[]
    assert.equal(container?.securityContext, settings.template.spec.containers[0]?.securityContext)
    assert.equal(container?.args, ['api/client/devbox/main.ts', 'run', '--every', '15s'])
  })

  t('lets the provisioner log as much as the others', async () => {
    const objects = await rendered(...provisioner, '--set', 'logLevel=debug')
    for (const name of ['bottega-provisioner', 'bottega-api', 'bottega-controllers']) {
      const { env = [] } = containerOf(find(objects, 'Deployment', name))
      assert.equal(
        env.filter((one) => one.name === 'BOTTEGA_LOG_LEVEL'),
        [{ name: 'BOTTEGA_LOG_LEVEL', value: 'debug' }],
        name,
      )
    }
  })

  t('gives what opens the cloud to the provisioner alone, of a Secret of its own', async () => {
    const objects = await rendered(...provisioner)
    const ofCloud = objects.filter((one) => JSON.stringify(one).includes('"cloud"'))
    assert.equal(
      ofCloud.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      ['Deployment bottega-provisioner'],
    )
    const { env = [] } = containerOf(find(objects, 'Deployment', 'bottega-provisioner'))
    const keys = env.flatMap(({ name, valueFrom }) => (valueFrom?.secretKeyRef ? [[name, valueFrom.secretKeyRef]] : []))
    assert.equal(Object.fromEntries(keys), {
      BOTTEGA_TOKEN: { name: 'cloud', key: 'token' },
      AWS_ACCESS_KEY_ID: { name: 'cloud', key: 'aws-access-key-id' },
      AWS_SECRET_ACCESS_KEY: { name: 'cloud', key: 'aws-secret-access-key' },
    })
    const set = ['--set', 'provisioner.existingSecret=bottega-secrets']
    assert.match(await refusal(render(...provisioner, ...set)), 'provisioner.existingSecret: another Secret')
  })

  t(
    'lets the provisioner reach names, the api, the cloud and machines, and nobody reach it but for metrics',
    async () => {
      const further = ['--set-json', 'networkPolicy.provisioner=[{"to":[{"ipBlock":{"cidr":"10.9.0.0/16"}}]}]']
      const policy = find(await rendered(...provisioner, ...further), 'NetworkPolicy', 'bottega-provisioner')
      const { ingress, egress, policyTypes } = policy.spec as {
        ingress: { ports: { port: string }[]; from: object[] }[]
        egress: { ports?: { port: number | string }[]; to?: unknown[] }[]
        policyTypes: string[]
      }
      assert.equal(ingress, [{ ports: [{ port: 'metrics' }], from: [{ podSelector: {} }] }])
      assert.equal(policyTypes, ['Ingress', 'Egress'])
      assert.equal(
        egress.map(({ ports = [] }) => ports.map(({ port }) => port)),
        [[53, 53], [443], ['http'], [443, 22], []],
      )
      assert.equal(egress[1]?.to, [
        { namespaceSelector: {} },
        { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '100.100.100.200/32'] } },
        { ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128'] } },
      ])
      const literal = await rendered(...provisioner, '--set', 'publicUrl=https://192.0.2.9:8443')
      const named = find(literal, 'NetworkPolicy', 'bottega-provisioner').spec as { egress: typeof egress }
      assert.equal(named.egress[1], {
        ports: [{ port: 8443, protocol: 'TCP' }],
        to: [{ ipBlock: { cidr: '192.0.2.9/32' } }],
      })
      assert.equal(egress[4]?.to, [{ ipBlock: { cidr: '10.9.0.0/16' } }])
      assert.not.match(JSON.stringify(egress[3]), '"10.0.0.0/8"}')
      const off = await rendered(...provisioner, '--set', 'networkPolicy.enabled=false')
      assert.not.ok(off.some(({ kind }) => kind === 'NetworkPolicy'))
    },
  )

  t('names all that the provisioner misses', async () => {
    const told = await refusal(render('--set', 'provisioner.enabled=true'))
    for (const name of ['existingSecret', 'installation', 'ec2.region', 'ec2.subnet', 'ec2.images.arm64'])
      assert.match(told, `\n  provisioner.${name}: `)
  })

  t('alerts by metrics that the processes serve, when it is asked to', async () => {
    assert.is((await rendered()).filter(({ kind }) => kind === 'PrometheusRule').length, 0)
    const rule = find(
      await rendered('--set', 'alerts.enabled=true,alerts.labels.release=prom'),
      'PrometheusRule',
      'bottega',
    )
    assert.is((rule.metadata as { labels?: Record<string, string> }).labels?.release, 'prom')
    const spec = rule.spec as { groups: { rules: Record<string, unknown>[] }[] }
    const rules = spec.groups.flatMap(({ rules }) => rules)
    const sources = globSync('{api,controllers}/**/*.ts', { cwd: root }).map((path) =>
      readFileSync(join(root, path), 'utf8'),
    )
    for (const { alert, expr, annotations } of rules) {
      const names = `${expr}`.match(/\b(?:bottega|nodejs)_[a-z0-9_]+/g) ?? []
      assert.ok(names.length > 0, `${alert}`)
      assert.match(`${expr}`, 'namespace="shop"')
      for (const name of names)
        assert.ok(
          name === 'nodejs_eventloop_lag_max_seconds' ||
            sources.some((text) => text.includes(`'${name.replace(/_count$/, '')}'`)),
          `${alert} asks for ${name}, which nobody serves`,
        )
      assert.equal(Object.keys(annotations as object).sort(), ['description', 'summary'])
    }
    assert.ok(rules.some(({ alert }) => alert === 'BottegaLoopBlocked'))
  })

  t('names everything that is missing at once', async () => {
    const told = await refusal(helm(['template', 'one', chartFolder]))
    const secrets = ['databaseUrl', 'apiDatabaseUrl', 'secretKey', 'smtpUrl'].map((name) => `secret.${name}`)
    for (const name of [
      'publicUrl',
      'proxies',
      'resourceNamespace',
      'mail.from',
      'networkPolicy.apiServer.cidrs',
      ...secrets,
    ]) {
      assert.match(told, `\n  ${name}: `)
    }
  })

  const refused: [string, string, RegExp][] = [
    ['replicas=3', 'an unknown key', /additional properties 'replicas' not allowed/],
    ['api.replica=3', 'an unknown key further in', /at '\/api': additional properties 'replica' not allowed/],
    ['api.replicas=0', 'no api at all', /at '\/api\/replicas': minimum: got 0, want 1/],
    ['controllers.standbys=-1', 'fewer than no standby', /at '\/controllers\/standbys': minimum/],
    ['publicUrl=ftp://a.test', 'another scheme', /at '\/publicUrl': 'ftp:\/\/a.test' does not match pattern/],
    ['publicUrl=https://a.test/', 'a slash at the end', /at '\/publicUrl'/],
    ['logLevel=loud', 'an unknown level', /at '\/logLevel': value must be one of/],
    ['mail.from=nobody', 'a sender without an address', /at '\/mail\/from'/],
    ['mail.lanes=9', 'too many lanes', /at '\/mail\/lanes': maximum: got 9, want 4/],
    ['image.tag=a b', 'a tag with a space', /at '\/image\/tag'/],
    ['api.service.type=ExternalName', 'a Service without pods', /at '\/api\/service\/type'/],
    ['api.resources.limits.memory=lots', 'no quantity', /at '\/api\/resources\/limits\/memory'/],
    ['settings.RATE=1', 'a setting that is none of ours', /at '\/settings': additional properties 'RATE' not allowed/],
    ['provisioner.every=soon', 'a pause that is none', /at '\/provisioner\/every'/],
    ['provisioner.secretKey=x', 'a key of the cloud as a value', /'secretKey' not allowed/],
    ['signUp=maybe', 'a third way to sign up', /at '\/signUp'/],
    ['crds.keep=perhaps', 'neither yes nor no', /at '\/crds\/keep': got string, want boolean/],
    ['secret.secretKey=short', 'a key that is too short', /at '\/secret\/secretKey'/],
    ['llm.url=https://m.test', 'half of a language model', /llm: url and model go together/],
    ['oidc.issuer=https://id.test', 'half of OpenID Connect', /oidc: issuer and clientId go together/],
    ['secret.smtpUrl=smtp://m', 'two sources of a secret', /secret\.smtpUrl: not together with secret\.existingSecret/],
  ]
  for (const [set, what, words] of refused) {
    t(`refuses ${what} (${set})`, async () => {
      assert.match(await refusal(render('--set', set)), words)
    })
  }
})
