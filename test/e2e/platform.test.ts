/** The definitions, rights and policies on a real API server, as administrators, the two processes and others meet them. */
import fc from 'fast-check'
import { makeKube } from '../../controllers/kube/kube.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { spec as invoiceSchema } from '../../crds/invoice/schema.ts'
import { GROUP, VERSION } from '../../crds/kernel/object.ts'
import { LEASE_NAME, usernameOf } from '../../crds/kernel/platform.ts'
import { withDefaults } from '../../crds/kernel/schema.ts'
import { KINDS } from '../../crds/kinds.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { asList, type Kubectl } from '../../hack/platform/kubectl.ts'
import { schemaFits } from '../support/judges/schemafits.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { ensurePlatform, kubectlFor, makeNamespace, type Namespace, serviceKubeconfig } from '../support/stage/stage.ts'

const HOME = 'default'
const platform = { namespace: HOME, controllersAccount: 'bottega-controllers', apiAccount: 'bottega-api' }
const OPERATOR = usernameOf(HOME, platform.controllersAccount)
const API = usernameOf(HOME, platform.apiAccount)
const PERSON = 'somebody'

let kubectl: Kubectl
let namespace: Namespace
const operator = makeKube({ kubeconfig: serviceKubeconfig('controllers') })

type Spec = Record<string, unknown>
const invoice = (name: string, spec: Spec) => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind: 'Invoice',
  metadata: { name, namespace: namespace.name },
  spec,
})
const plain: Spec = {
  account: 'demo',
  send: true,
  clientName: 'ACME',
  clientEmail: 'billing@acme.test',
  dueDate: '2026-12-20',
  taxRateBp: 2000,
  items: [{ description: 'October retainer', qty: '1.5', unitCents: 80_000 }],
}
const within = (args: string[]) => [...args, '-n', namespace.name]
const create = (object: object, ...args: string[]) =>
  kubectl(['create', '--validate=strict', '-f', '-', ...args], object)
const patch = (name: string, body: object, ...args: string[]) =>
  kubectl(within(['patch', 'invoice', name, '--type=merge', '-p', JSON.stringify(body), ...args]))
/** As the controllers do it: kubectl would look at it before, which is no right of theirs. */
const state = (name: string, status: Spec) => operator.patchStatus(INVOICE, { namespace: namespace.name, name }, status)

/** What the API server said no with; fails when it said yes. */
const refusal = async (work: Promise<string>): Promise<string> => {
  const error = await assert.rejects(work, (one) => one instanceof CommandRefusal)
  return error instanceof CommandRefusal ? error.detail : ''
}

const setUp = async () => {
  await ensurePlatform()
  kubectl = kubectlFor()
  namespace = await makeNamespace()
  const role = {
    apiGroups: [GROUP],
    resources: ['invoices', 'invoices/status', 'accounts'],
    verbs: ['get', 'patch', 'create', 'use'],
  }
  const metadata = { name: PERSON, namespace: namespace.name }
  const api = 'rbac.authorization.k8s.io'
  await kubectl(
    ['create', '-f', '-'],
    asList([
      { apiVersion: `${api}/v1`, kind: 'Role', metadata, rules: [role] },
      {
        apiVersion: `${api}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: api, kind: 'Role', name: PERSON },
        subjects: [{ apiGroup: api, kind: 'User', name: PERSON }],
      },
    ]),
  )
}

spec('the definitions on a real API server', (t) => {
  t.before(setUp)
  t.after(() => namespace.remove())

  for (const kind of KINDS) {
    t(`${kind.kind} is established and structural`, async () => {
      const name = `${kind.plural}.${GROUP}`
      const read: { status: { conditions: { type: string; status: string }[] } } = JSON.parse(
        await kubectl(['get', 'crd', name, '-o', 'json']),
      )
      const conditions = new Map(read.status.conditions.map((one) => [one.type, one.status]))
      assert.equal([conditions.get('Established'), conditions.get('NonStructuralSchema')], ['True', undefined])
    })

    t(`${kind.kind} is found by its short name and by the category`, async () => {
      const listed = await kubectl(['api-resources', `--api-group=${GROUP}`, '--categories=bottega', '--no-headers'])
      assert.match(listed, new RegExp(`^${kind.plural} +${kind.shortNames.join(',')} `, 'm'))
    })
  }

  t('explain tells what a field is for', async () => {
    const text = await kubectl(['explain', 'invoice.spec.items'])
    assert.match(text, /How many\./)
    assert.match(text, /Price of one, in hundredths of the currency unit/)
  })

  t('defaults are filled in as our own code fills them in', async () => {
    const bare = { account: 'demo', paid: { method: 'cash' }, send: true, metadata: { some_key: 1.5, b: 'x', c: true } }
    const made = JSON.parse(await create(invoice('defaults', bare), '--dry-run=server', '-o', 'json'))
    assert.equal(made.spec, withDefaults(invoiceSchema, bare))
  })

  const refused: [string, Spec, RegExp][] = [
    ['no account', { account: undefined }, /spec\.account: Required/],
    ['an unknown field', { foo: 1 }, /unknown field "spec\.foo"/],
    ['a float in money', { discountCents: 1.5 }, /spec\.discountCents/],
    ['a number for a quantity', { items: [{ description: 'x', qty: 1, unitCents: 1 }] }, /spec\.items\[0\]\.qty/],
    ['seven decimals', { items: [{ description: 'x', qty: '0.0000001', unitCents: 1 }] }, /spec\.items\[0\]\.qty/],
    ['a day that the calendar does not have', { dueDate: '2026-02-30' }, /spec\.dueDate/],
    ['a list for a day', { dueDate: [null] }, /spec\.dueDate/],
    ['two addresses', { clientEmail: 'a@b.test, c@d.test' }, /spec\.clientEmail/],
    ['a newline in a name', { clientName: 'ACME\nBcc: x' }, /spec\.clientName/],
    ['a bidi override', { clientName: '\u202Egpj' }, /spec\.clientName/],
    ['a NUL', { terms: 'a\u0000' }, /spec\.terms/],
    ['a bad reference', { externalRef: 'a b' }, /spec\.externalRef/],
    [
      '21 keys of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, i])) },
      /spec\.metadata/,
    ],
    [
      '501 items',
      { items: Array.from({ length: 501 }, () => ({ description: 'x', qty: '1', unitCents: 1 })) },
      /spec\.items/,
    ],
    ['paid without send', { send: false, paid: { method: 'cash' } }, /PAID_REQUIRES_SEND/],
  ]
  for (const [name, changes, message] of refused) {
    t(`an invoice is refused with ${name}`, async () => {
      assert.match(await refusal(create(invoice('refused', { ...plain, ...changes }), '--dry-run=server')), message)
    })
  }

  t('judge generated invoices as REST judges them', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('a\nb', 'é', '\u2066'),
    )
    const spec = fc.record({
      clientName: text,
      terms: text,
      clientEmail: fc.constantFrom(
        'a@b.test',
        'a@b',
        'a@-b.test',
        'a b@c.test',
        "o'x+y@mail.acme.test",
        `${'x'.repeat(65)}@a.test`,
      ),
      dueDate: fc.constantFrom('2026-12-20', '2028-02-29', '2026-02-29', '2026-1-1'),
      items: fc
        .constantFrom('1', '0.5', '01', '1e3', '-1', '1.', '999999999.999999')
        .map((qty) => [{ description: 'x', qty, unitCents: 1 }]),
    })
    const samples = fc
      .sample(spec, { numRuns: 150, seed: 7 })
      .map((one, index) => invoice(`sample-${index}`, { account: 'demo', ...one }))
    const said = await kubectl(['create', '--validate=strict', '--dry-run=server', '-f', '-'], asList(samples)).catch(
      (error: CommandRefusal) => error.detail,
    )
    const fits = schemaFits(INVOICE)
    const byName = (name: string) => said.includes(`"${name}" is invalid`)
    const wrong = samples.filter((one) => fits(one.spec) === byName(one.metadata.name))
    assert.equal(
      wrong.map((one) => one.spec),
      [],
    )
    const refusedCount = samples.filter((one) => byName(one.metadata.name)).length
    assert.ok(refusedCount > 20 && refusedCount < samples.length - 5, `${refusedCount} of ${samples.length} refused`)
  })

  t('a list shows number, status, total, due, readiness and age, and can be searched by them', async () => {
    await create(invoice('shown', { ...plain, account: 'columns' }))
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Sent',
        message: 'sent',
        observedGeneration: 1,
        lastTransitionTime: '2026-11-21T12:00:00Z',
      },
    ]
    await state('shown', { number: 'INV-026-0001', phase: 'sent', total: '1,440.00 EUR', conditions })
    const [header = '', row = ''] = (await kubectl(within(['get', 'inv', 'shown']))).split('\n')
    assert.equal(header.trim().split(/ {2,}/), ['NAME', 'NUMBER', 'STATUS', 'TOTAL', 'DUE', 'READY', 'AGE'])
    assert.equal(row.trim().split(/ {2,}/).slice(0, 6), [
      'shown',
      'INV-026-0001',
      'sent',
      '1,440.00 EUR',
      '2026-12-20',
      'True',
    ])
    assert.match(await kubectl(within(['get', 'inv', '-o', 'wide'])), /CLIENT +REASON/)
    for (const selector of ['spec.account=columns', 'status.number=INV-026-0001', 'status.phase=sent']) {
      assert.is(
        await kubectl(within(['get', 'inv', '-o', 'name', `--field-selector=${selector}`])),
        `invoice.${GROUP}/shown\n`,
      )
    }
    await kubectl(within(['wait', '--for=condition=Ready', 'inv/shown', '--timeout=5s']))
  })
})

spec('what is fixed', (t) => {
  t.before(setUp)
  t.after(() => namespace.remove())

  t('at creation may not change, be added or be taken away', async () => {
    await create(invoice('fixed', { ...plain, externalRef: 'order-1' }))
    await create(invoice('bare', plain))
    const cases: [string, Spec, string][] = [
      ['fixed', { externalRef: 'order-2' }, 'REF_IMMUTABLE'],
      ['fixed', { externalRef: null }, 'REF_IMMUTABLE'],
      ['bare', { externalRef: 'order-1' }, 'REF_IMMUTABLE'],
      ['fixed', { test: true }, 'TEST_IMMUTABLE'],
      ['fixed', { account: 'other' }, 'INVALID_FIELD: account'],
    ]
    for (const [name, spec, code] of cases) assert.match(await refusal(patch(name, { spec })), new RegExp(code))
    await patch('fixed', { spec: { clientName: 'Acme Inc.', externalRef: 'order-1', test: false } })
  })

  t('with the number are issuer, currency, send and receipt', async () => {
    await create(invoice('numbered', { ...plain, paid: { method: 'cash' } }))
    const spec: Spec = { issuerId: 'iss-2' }
    await patch('numbered', { spec }, '--dry-run=server')
    await state('numbered', { number: 'INV-026-0002' })
    const cases: [Spec, string][] = [
      [spec, 'LOCKED_NUMBERED: issuerId'],
      [{ currency: 'GBP' }, 'LOCKED_NUMBERED: currency'],
      [{ send: false, paid: null }, 'INVALID_FIELD: send'],
      [{ paid: { method: 'card' } }, 'INVALID_FIELD: paid'],
      [{ paid: null }, 'INVALID_FIELD: paid'],
    ]
    for (const [change, message] of cases)
      assert.match(await refusal(patch('numbered', { spec: change })), new RegExp(message))
    await patch('numbered', { spec: { issuerId: 'iss-default', discountCents: 5 } })
  })

  t('what was written beside the taking of the number can be put back, and made nothing else', async () => {
    await create(invoice('beside', { ...plain, currency: 'GBP', issuerId: 'iss-2' }))
    await state('beside', { number: 'INV-026-0004', currency: 'EUR', issuerId: 'iss-default' })
    assert.match(await refusal(patch('beside', { spec: { currency: 'USD' } })), /LOCKED_NUMBERED: currency/)
    assert.match(await refusal(patch('beside', { spec: { issuerId: 'iss-3' } })), /LOCKED_NUMBERED: issuerId/)
    await patch('beside', { spec: { currency: 'EUR', issuerId: null } })
    assert.match(await refusal(patch('beside', { spec: { currency: 'GBP' } })), /LOCKED_NUMBERED: currency/)
  })

  t('is a paid invoice, for administrators too, down to a word', async () => {
    const items = Array.from({ length: 500 }, (_, index) => ({
      description: `${index} ${'x'.repeat(1500)}`,
      qty: '1',
      unitCents: 1,
    }))
    for (const [name, paidCents, code] of [
      ['paid', 600, 'LOCKED_PAID'],
      ['partial', 1, 'LOCKED_PARTIAL'],
    ] as const) {
      await create(invoice(name, { ...plain, items }))
      await patch(name, { spec: { terms: 'before' } })
      await state(name, { number: 'INV-026-0003', totalCents: 600, paidCents })
      assert.match(await refusal(patch(name, { spec: { terms: 'after' } })), new RegExp(`${code}: `))
      assert.match(await refusal(patch(name, { spec: { metadata: { a: 1 } } })), new RegExp(`${code}: `))
      await patch(name, { metadata: { annotations: { [`${GROUP}/paused`]: 'true' } } })
      await state(name, { phase: 'paid' })
      await kubectl(within(['delete', 'invoice', name]))
    }
  })
})

spec('who may do what', (t) => {
  t.before(setUp)
  t.after(() => namespace.remove())

  t('a status is written by the operator and by nobody else, whatever their rights', async () => {
    await create(invoice('status', plain))
    for (const user of ['admin', PERSON]) {
      const groups = user === 'admin' ? ['--as-group=system:masters'] : []
      const tried = patch(
        'status',
        { status: { number: 'INV-026-6666' } },
        '--subresource=status',
        `--as=${user}`,
        ...groups,
      )
      assert.match(await refusal(tried), /only system:serviceaccount:default:bottega-controllers may write the status/)
    }
    await state('status', { number: 'INV-026-0009' })
  })

  t('a status that comes with a new object is dropped', async () => {
    await create({ ...invoice('forged', plain), status: { number: 'INV-026-6666', paidCents: 1 } }, `--as=${PERSON}`)
    assert.is(await kubectl(within(['get', 'invoice', 'forged', '-o', 'jsonpath={.status}'])), '')
  })

  /** Every right of a user on resources of this namespace, as `resources: verbs (names)`. */
  const rightsOf = async (user: string): Promise<string[]> => {
    const table = await kubectl(within(['auth', 'can-i', '--list', '--no-headers', `--as=${user}`]))
    const rows = table.matchAll(/^(\S+) +\[\] +\[(.*?)\] +\[(.*?)\]$/gm)
    return [...rows]
      .map(([, resource, names, verbs]) => `${resource}: ${verbs}${names === '' ? '' : ` (${names})`}`)
      .filter((line) => !line.startsWith('self'))
      .sort()
  }

  t('the controllers read, write statuses, hold one lease and record events, and that is all', async () => {
    assert.equal(await rightsOf(OPERATOR), [
      `accounts.${GROUP}/status: patch`,
      `accounts.${GROUP}: get list watch`,
      // `patch` for the finalizers alone
      `apps.${GROUP}/status: patch`,
      `apps.${GROUP}: get list watch patch delete`,
      // whether they are being removed, with all that is of them
      ...KINDS.map(({ plural }) => `customresourcedefinitions.apiextensions.k8s.io: get (${plural}.${GROUP})`).sort(),
      `devinstances.${GROUP}/status: patch`,
      `devinstances.${GROUP}: get list watch patch delete`,
      'events.events.k8s.io: create patch',
      `hosts.${GROUP}/status: patch`,
      `hosts.${GROUP}: get list watch`,
      `invoices.${GROUP}/status: patch`,
      // an invoice is repeated, and leaves when it is finished
      `invoices.${GROUP}: get list watch create delete`,
      `leases.coordination.k8s.io: create`,
      `leases.coordination.k8s.io: get patch (${LEASE_NAME})`,
      // which cluster this is, and whether their own namespace is being removed
      'namespaces: get (kube-system)',
      `namespaces: get (${namespace.name})`,
      `sites.${GROUP}/status: patch`,
      `sites.${GROUP}: get list watch patch`,
    ])
  })

  t('the API writes what accounts own, makes and changes accounts, approves hosts, and that is all', async () => {
    assert.equal(await rightsOf(API), [
      `accounts.${GROUP}: get create list patch`,
      `apps.${GROUP}: get create patch delete`,
      `devinstances.${GROUP}: get create patch`,
      `hosts.${GROUP}: get create list patch delete approve`,
      `invoices.${GROUP}: get create patch delete`,
      'namespaces: get (kube-system)',
      `sites.${GROUP}: get create patch delete`,
    ])
  })

  t('neither process has rights in a namespace that was not given to it', async () => {
    const answer = await kubectl(['auth', 'can-i', 'list', 'invoices', '-n', 'kube-system', `--as=${OPERATOR}`]).catch(
      () => 'no',
    )
    assert.is(answer.trim(), 'no')
  })
})
