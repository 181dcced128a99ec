/** Rights used and rights given, on calls as the API server's audit tells them, and with faults that are planted. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askedOf, type Call, callOf, type Grant, grantsOf, makeRightsJudge } from '../judges/rights.ts'
import { judgeCalls } from './calls.ts'
import { assert, spec } from './spec.ts'

const event = (fields: object, user = 'system:serviceaccount:shop:bottega-controllers', agent = 'bottega'): string =>
  JSON.stringify({
    kind: 'Event',
    level: 'Metadata',
    stage: 'ResponseComplete',
    requestURI: '/apis/bottega.dev/v1alpha1/namespaces/things/invoices/inv-1/status?fieldManager=bottega-controllers',
    verb: 'patch',
    user: { username: user, groups: ['system:serviceaccounts'] },
    userAgent: agent,
    objectRef: {
      resource: 'invoices',
      namespace: 'things',
      name: 'inv-1',
      apiGroup: 'bottega.dev',
      apiVersion: 'v1alpha1',
      subresource: 'status',
    },
    responseStatus: { metadata: {}, code: 200 },
    ...fields,
  })
const taken = (fields: object, user?: string): Call => {
  const call = callOf(event(fields, user))
  if (call === null) throw new Error('no call of ours')
  return call
}
const refusedOf = (call: Call): string[] => {
  const judge = makeRightsJudge()
  judge.take(call)
  return judge.refused()
}
const crds = { resource: 'customresourcedefinitions', apiGroup: 'apiextensions.k8s.io' }
const api = 'system:serviceaccount:shop:bottega-api'
const setup = 'system:serviceaccount:shop:bottega-setup'
const namespaces = (name: string) => ({ verb: 'get', objectRef: { resource: 'namespaces', namespace: name, name } })

spec('rights that are used', (t) => {
  t('are read from the audit, by identity, verb, resource and subresource', () => {
    const { uri, ...call } = taken({})
    assert.match(uri, '/status')
    assert.equal(call, {
      ...{ identity: 'bottega-controllers', verb: 'patch', group: 'bottega.dev', resource: 'invoices/status' },
      ...{ namespace: 'things', name: 'inv-1', made: false },
    })
    assert.is(callOf(event({}, undefined, 'kubectl/v1.34.0 (linux/amd64)')), null)
  })

  const given: [string, Call][] = [
    ['a status by the controllers', taken({})],
    ['the namespace that they serve', taken(namespaces('things'))],
    ['which cluster it is', taken(namespaces('kube-system'), api)],
    [
      'what the server publishes of itself',
      taken({ verb: 'get', requestURI: '/openapi/v3/apis', objectRef: undefined }),
    ],
    [
      'a definition that an apply made',
      taken({ objectRef: { ...crds, name: 'invoices.bottega.dev' }, responseStatus: { code: 201 } }, setup),
    ],
  ]
  for (const [what, call] of given) t(`are given: ${what}`, () => assert.equal(refusedOf(call), []))

  const refused: [string, Call, RegExp][] = [
    [
      'a status by the api',
      taken({}, api),
      /bottega-api needs what no Role gives: patch invoices\/status.bottega.dev \(inv-1\), asked as \/apis\//,
    ],
    [
      'resources of every namespace',
      taken({ verb: 'list', objectRef: { resource: 'invoices', apiGroup: 'bottega.dev' } }),
      /needs .* list invoices/,
    ],
    [
      'another group of the same name',
      taken({ verb: 'get', objectRef: { resource: 'invoices', namespace: 'things', apiGroup: 'other.dev' } }),
      /get invoices.other.dev/,
    ],
    [
      'another lease',
      taken({ objectRef: { resource: 'leases', namespace: 'things', name: 'mine', apiGroup: 'coordination.k8s.io' } }),
      /patch leases.coordination.k8s.io \(mine\)/,
    ],
    [
      'another definition',
      taken({ verb: 'get', objectRef: { ...crds, name: 'pods.example.org' } }),
      /\(pods.example.org\)/,
    ],
    [
      'another namespace, from afar',
      taken({ verb: 'get', objectRef: { resource: 'namespaces', namespace: 'default', name: 'default' } }, api),
      /get namespaces \(default\)/,
    ],
    [
      'a path that is none of discovery',
      taken({ verb: 'get', requestURI: '/metrics', objectRef: undefined }),
      /get path, asked as \/metrics/,
    ],
    [
      'a Secret',
      taken({ verb: 'get', objectRef: { resource: 'secrets', namespace: 'things', name: 'all' } }),
      /get secrets/,
    ],
  ]
  for (const [what, call, why] of refused)
    t(`are told when they are not given: ${what}`, () => {
      const [fault = '', ...more] = refusedOf(call)
      assert.match(fault, why)
      assert.equal(more, [])
    })
})

spec('rights that are given', (t) => {
  const grants = grantsOf()
  const callFor = ({ identity, verb, group, resource, name, isCluster }: Grant): Call => ({
    ...{ identity, verb, group, resource, made: false, uri: '/' },
    namespace: isCluster ? '' : 'resources',
    name: name ?? '',
  })

  t('are of four identities, and none is a wildcard', () => {
    assert.equal([...new Set(grants.map(({ identity }) => identity))].sort(), [
      'bottega-api',
      'bottega-controllers',
      'bottega-reconcile',
      'bottega-setup',
    ])
    assert.not.ok(grants.some(({ verb, resource }) => [verb, resource].includes('*')))
  })

  t('are told where nothing used them, with the role, each rule by itself', () => {
    const judge = makeRightsJudge(grants)
    for (const grant of grants.filter(({ verb }) => verb !== 'delete')) judge.take(callFor(grant))
    const told = (identity: string, what: string, role = identity) =>
      `the role ${role} gives ${identity} what nothing used: delete ${what}`
    assert.equal(judge.idle(), [
      ...['apps', 'hosts', 'invoices', 'sites'].map((one) => told('bottega-api', `${one}.bottega.dev`)),
      ...['apps', 'invoices', 'sites'].map((one) => told('bottega-api', `${one}.bottega.dev`, 'bottega-api-tenant')),
      ...['bottega-controllers', 'bottega-controllers-tenant'].flatMap((role) =>
        ['apps', 'devinstances', 'invoices'].map((one) => told('bottega-controllers', `${one}.bottega.dev`, role)),
      ),
      // one rule for all: which of them is asked for is all the same
      told('bottega-setup', 'customresourcedefinitions.apiextensions.k8s.io (accounts.bottega.dev) and 5 more'),
    ])
  })

  t('are not told where all were used', () => {
    const judge = makeRightsJudge(grants)
    for (const grant of grants) judge.take(callFor(grant))
    assert.equal([...judge.idle(), ...judge.refused()], [])
  })

  t('are used where an admission policy asks for them, and not by whom it lets through', () => {
    const host = (identity: string): Call => ({
      ...{ identity, verb: 'create', group: 'bottega.dev', resource: 'hosts', namespace: 'things', name: '' },
      ...{ made: false, uri: '' },
    })
    const verbsOf = (call: Call) => askedOf(call).map(({ verb, resource }) => `${verb} ${resource}`)
    assert.equal([...new Set(verbsOf(host('bottega-api')))], ['approve hosts'])
    assert.ok(verbsOf(host('bottega-reconcile')).includes('update accounts'))
    assert.equal(verbsOf({ ...host('bottega-api'), resource: 'invoices' }), [])
    assert.ok(verbsOf({ ...host('bottega-reconcile'), resource: 'invoices' }).includes('use accounts'))
  })
})

spec('the calls of a run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-calls-'))
  const printed: string[] = []
  const judged = (isWhole: boolean) => judgeCalls(folder, isWhole, (line) => void printed.push(line))
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('are judged over all files, by what was used alone where not everything was run', async () => {
    assert.equal(await judged(false), { passed: 0, failed: 0, skipped: 0 }, 'nothing was asked')
    writeFileSync(join(folder, 'one.jsonl'), `${event({})}\n${event({})}\n`)
    assert.equal(await judged(false), { passed: 1, failed: 0, skipped: 0 })
    assert.is(printed.at(-1), '✓ rights used are given: 2 calls, 1 that differ')
    assert.ok((await judged(true)).failed > 20)
    writeFileSync(join(folder, 'two-2026.jsonl'), `${event({}, api)}\n`)
    assert.equal(await judged(false), { passed: 0, failed: 1, skipped: 0, bad: ['rights used are given'] })
    assert.match(printed.at(-1) ?? '', /^ {4}bottega-api needs what no Role gives: patch invoices\/status/)
  })
})
