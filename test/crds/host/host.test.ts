import { type AddressRule, hostFaults } from '../../../crds/host/faults.ts'
import { archOf, type Findings, type Inspection, problemsOf, worstFirst } from '../../../crds/host/inspect.ts'
import { fingerprintOf, hostKeyBytes } from '../../../crds/host/key.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { type HostResource, type HostWorld, planHost } from '../../../crds/host/plan.ts'
import { budgetOf, partsOf, proxyOf, withOurs } from '../../../crds/host/proxy.ts'
import type { HostSpec } from '../../../crds/host/schema.ts'
import { type HostView, viewHost, withoutWayIn } from '../../../crds/host/view.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJGBKPLVDkvmhYVTxzG8FyAQA7PvB1VyjeSGkW9dyz2v'
const now = new Date('2026-11-22T10:00:00Z')

const good: Findings = {
  arch: 'x86_64',
  versions: { kernel: '6.1.0', docker: '20.10.24+dfsg1', compose: '2.40.3', caddy: '2.11.9' },
  disk: { totalGib: 250, freeGib: 60 },
  processors: 4,
  memoryMib: 8_192,
  missing: [],
  siteRootOk: true,
  proxyFault: '',
  guard: { says: 'ok 0', digest: 'd' },
  users: 'remapped',
  restart: { livesOn: true, hasLinks: true },
}
const found = (change: Partial<Findings> = {}): Inspection => ({ reach: 'ok', findings: { ...good, ...change } })

const host = (change: Partial<HostSpec> = {}, status?: HostResource['status']): HostResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Host',
  metadata: {
    name: 'host-a',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    generation: 3,
    creationTimestamp: '2026-11-01T00:00:00Z',
  },
  spec: withDefaults<HostSpec>(HOST.spec, {
    address: '192.0.2.7',
    user: 'deploy',
    hostKey: KEY,
    approved: true,
    ...change,
  }),
  ...(status && { status }),
})

const world = (change: Partial<HostWorld> = {}): HostWorld => ({
  hasCredential: true,
  addressRule: 'any',
  inspection: found(),
  drift: 'none',
  certificates: [],
  guard: { state: 'stands' },
  factSeq: 0,
  ...change,
})
const otherKey = (shown: string | null = 'SHA256:shown') => world({ inspection: { reach: 'key', shown } })

const plan = (object: HostResource, of: HostWorld) => planHost(object, of, now)
const conditionOf = (object: HostResource, of: HostWorld) =>
  plan(object, of).conditions?.map(({ type, status }) => `${type}=${status}`)

spec('the plan of a host', (t) => {
  t('says what its operator decided, for as long as it holds', () => {
    const of = (spec: Partial<HostResource['spec']>) => {
      const object = host()
      return { ...object, spec: { ...object.spec, ...spec } }
    }
    assert.ok(conditionOf(of({ cordoned: true }), world())?.includes('Cordoned=True'))
    assert.is(plan(of({ cordoned: true }), world()).verdict.state, 'ready')
    const withdrawn = of({ approved: false, withdrawn: 'its disk fails' })
    assert.ok(conditionOf(withdrawn, world())?.includes('Withdrawn=True'))
    const { verdict } = plan(withdrawn, world())
    assert.match(verdict.state === 'stalled' ? verdict.message : '', /its approval was withdrawn: its disk fails/)
    const again = conditionOf(of({ withdrawn: 'its disk fails' }), world())
    assert.is(
      again?.some((one) => /Cordoned|Withdrawn/.test(one)),
      false,
    )
  })

  t('is ready when it is approved, well, and its proxy is as wanted', () => {
    const { steps, verdict, status, wakeAt } = plan(host(), world())
    assert.equal(steps, [])
    assert.is(verdict.state, 'ready')
    assert.is(status.phase, 'approved')
    assert.is(status.arch, 'amd64')
    assert.is(wakeAt, '2026-11-22T10:01:00.000Z')
  })

  t('says what a restart of its Docker does to apps, and serves all the same', () => {
    const whole = host({ siteRoot: '/srv/sites' })
    const on = (change: Partial<Findings>) => world({ inspection: found(change) })
    const said = (object: HostResource, of: HostWorld): [string | undefined, string] => {
      const { status, verdict } = plan(object, of)
      assert.is(verdict.state, 'ready')
      assert.is(viewHost(object, of, plan(object, of)).inspection?.engine_restart.does, status.engineRestart)
      return [status.engineRestart, verdict.state === 'ready' ? verdict.message : '']
    }
    assert.equal(said(whole, world()), ['whole', '0 hostnames are served'])
    const [ends, why] = said(whole, on({ restart: { livesOn: false, hasLinks: true } }))
    assert.is(ends, 'ends')
    assert.match(why, /stops all apps until it is back: put "live-restore": true into/)
    const [cut, what] = said(whole, on({ restart: { livesOn: true, hasLinks: false } }))
    assert.is(cut, 'cut')
    assert.match(what, /cuts WebSockets, event streams and uploads, and lets visitors wait: install iproute2/)
    assert.match(said(host(), world())[1], /give it a site_root/)
    const known = host({ siteRoot: '/srv/sites' }, plan(whole, world()).status as HostResource['status'])
    assert.is(plan(known, otherKey()).status.engineRestart, 'whole', 'what was known stays said')
  })

  t('puts back what strayed, and only on an approved host', () => {
    for (const drift of ['routes', 'config'] as const) {
      assert.equal(plan(host(), world({ drift })).steps, [{ do: 'restoreProxy', told: false }])
      assert.equal(plan(host({ approved: false }), world({ drift })).steps, [])
    }
  })

  t('tells that its proxy was changed where all was right before with the same settings', () => {
    const said = (status: 'True' | 'False', reason: string, observedGeneration: number): HostResource['status'] => {
      const condition = { type: 'Ready', status, reason, message: '', observedGeneration }
      const conditions = [{ ...condition, lastTransitionTime: now.toISOString() }]
      return { ...plan(host(), world()).status, observedGeneration, conditions }
    }
    const isTold = (...of: Parameters<typeof said>) =>
      plan(host({}, said(...of)), world({ drift: 'routes' })).steps.map((step) => 'told' in step && step.told)
    assert.equal(isTold('True', 'Approved', 3), [true])
    assert.equal(isTold('True', 'Approved', 2), [false], 'its settings are new')
    assert.equal(isTold('False', 'RestoringProxy', 3), [true], 'changed again a moment after it was put back')
    assert.equal(isTold('False', 'HostUnreachable', 3), [false])
  })

  t('puts the guard of its apps in place before anything else, and only on an approved host', () => {
    const of = world({ guard: { state: 'missing' }, drift: 'routes' })
    assert.equal(plan(host(), of).steps, [{ do: 'restoreGuard' }])
    assert.is(plan(host(), of).verdict.state, 'waiting')
    assert.equal(plan(host(), of).status.isolation, { network: 'open', users: 'remapped', builds: 'cells' })
    assert.equal(plan(host({ approved: false }), of).steps, [])
  })

  t(
    "has nothing run on a host that cannot keep its apps apart, but where one account is alone on the platform's own",
    () => {
      const of = world({ guard: { state: 'faulty', detail: 'iptables is missing' } })
      for (const approved of [true, false]) {
        for (const spec of [
          { class: 'shared' },
          { class: 'platform' },
          { class: 'isolated', account: 'demo' },
        ] as const) {
          const { steps, verdict } = plan(host({ ...spec, approved }), of)
          assert.equal(steps, [])
          assert.match(verdict.state === 'stalled' ? verdict.message : '', /^HOST_NOT_ISOLATED: iptables/, spec.class)
        }
      }
      assert.is(plan(host({ class: 'platform', account: 'demo' }), of).verdict.state, 'ready')
    },
  )

  const stalls: [string, HostResource, HostWorld, string, string][] = [
    ['a host that nobody approved', host({ approved: false }), world(), 'HOST_NOT_APPROVED', 'inspected'],
    ['a host with another key', host(), otherKey(), 'HOST_KEY_CHANGED', 'key_changed'],
    [
      'a host that refuses the login',
      host(),
      world({ inspection: { reach: 'login' } }),
      'HOST_LOGIN_REFUSED',
      'unreachable',
    ],
    [
      'a host without a private key',
      host(),
      world({ hasCredential: false, inspection: null }),
      'NO_CREDENTIAL',
      'registered',
    ],
    [
      'a host without Docker',
      host(),
      world({ inspection: found({ versions: { ...good.versions, docker: '' } }) }),
      'HOST_UNFIT',
      'registered',
    ],
    [
      "an owner's private address",
      host({ address: '10.0.0.1' }),
      world({ addressRule: 'public' }),
      'BAD_HOST_ADDRESS',
      'registered',
    ],
    ['a key that is none', host({ hostKey: 'ssh-ed25519 AAAA' }), world(), 'BAD_HOST_KEY', 'registered'],
  ]
  for (const [what, object, of, code, phase] of stalls) {
    t(`stalls ${what} with ${code}`, () => {
      const { verdict, status, steps } = plan(object, of)
      assert.equal(steps, [])
      assert.ok(verdict.state === 'stalled' && verdict.code === code && verdict.message.startsWith(`${code}: `))
      assert.is(status.phase, phase)
    })
  }

  t('waits for a host that does not answer, and keeps what was known of it', () => {
    const before = plan(host(), world()).status
    const lost = world({ inspection: { reach: 'unreachable', detail: 'ECONNREFUSED' } })
    const { verdict, status } = plan(host({}, before), lost)
    assert.is(verdict.state, 'waiting')
    assert.is(status.phase, 'unreachable')
    assert.equal([status.arch, status.versions, status.disk], [before.arch, before.versions, before.disk])
  })

  t('shows both keys when they differ, and says that work stopped where there was any', () => {
    const said = (object: HostResource, shown: string | null) => {
      const { verdict } = plan(object, otherKey(shown))
      return verdict.state === 'stalled' ? verdict.message : ''
    }
    assert.match(
      said(host(), 'SHA256:shown'),
      /pinned is SHA256:.*shows SHA256:shown; all work on the host has stopped/,
    )
    assert.match(said(host({ approved: false }), 'SHA256:shown'), /SHA256:shown; nothing is done on it/)
    assert.match(said(host(), null), /no key of that type/)
  })

  t('states whether the key changed, and of a silent host what was last known', () => {
    assert.equal(conditionOf(host(), world()), ['HostKeyChanged=False', 'BuildsApart=True'])
    assert.equal(conditionOf(host(), otherKey()), ['HostKeyChanged=True'])
    const silent = world({ inspection: { reach: 'unreachable', detail: '' } })
    assert.equal(conditionOf(host(), silent), [])
    const condition = {
      type: 'HostKeyChanged',
      status: 'True' as const,
      reason: 'AnotherKey',
      message: 'm',
      observedGeneration: 3,
      lastTransitionTime: '2026-11-01T00:00:00Z',
    }
    assert.equal(conditionOf(host({}, { conditions: [condition] }), silent), ['HostKeyChanged=True'])
  })

  t('states that nothing is built where root in a container is root, and what to do; it is ready all the same', () => {
    const of = world({ inspection: found({ users: 'plain' }) })
    const { verdict, status, conditions } = plan(host(), of)
    assert.is(verdict.state, 'ready')
    assert.equal(status.isolation, { network: 'guarded', users: 'plain', builds: 'refused' })
    const [, builds] = conditions ?? []
    assert.equal([builds?.type, builds?.status], ['BuildsApart', 'False'])
    assert.match(builds?.message ?? '', /userns-remap/)
    assert.is(viewHost(host(), of, plan(host(), of)).inspection?.isolation.builds, 'refused')
    const condition = { ...builds, observedGeneration: 3, lastTransitionTime: '2026-11-01T00:00:00Z' }
    const silent = world({ inspection: { reach: 'unreachable', detail: '' } })
    const known = host({}, { conditions: [condition as never] })
    assert.equal(conditionOf(known, silent), ['BuildsApart=False'])
    assert.equal(conditionOf(known, world({ inspection: { reach: 'login' } })), [
      'HostKeyChanged=False',
      'BuildsApart=False',
    ])
  })

  t('tells of a disk only when it is news', () => {
    const known = host({}, plan(host(), world()).status)
    const freeAt = (freeGib: number) =>
      plan(known, world({ inspection: found({ disk: { totalGib: 250, freeGib } }) })).status.disk
    assert.equal(
      [60, 58, 64, 55, 65, 2].map((free) => freeAt(free)?.freeGib),
      [60, 60, 60, 55, 65, 2],
    )
  })

  t('says the same twice of the same world', () => {
    assert.equal(plan(host(), world()), plan(host(), world()))
  })
})

spec('an inspection', (t) => {
  const problems: [string, Partial<Findings>, RegExp][] = [
    ['Caddy before 2.11.5', { versions: { ...good.versions, caddy: '2.11.2' } }, /caddy is 2\.11\.2; 2\.11\.5/],
    ['Docker before 20.10', { versions: { ...good.versions, docker: '19.03.15' } }, /docker is 19/],
    ['Compose that is missing', { versions: { ...good.versions, compose: '' } }, /compose is missing/],
    ['a processor that nothing is built for', { arch: 'riscv64' }, /riscv64/],
    ['a missing program', { missing: ['flock'] }, /flock/],
    ['a folder that cannot be written', { siteRootOk: false }, /folder of the sites/],
    ['a proxy that is silent', { proxyFault: 'ECONNREFUSED' }, /admin endpoint/],
    ['a full disk', { disk: { totalGib: 10, freeGib: 1 } }, /1 GiB left/],
  ]
  for (const [what, change, says] of problems) {
    t(`names ${what}`, () => {
      const sentences = problemsOf({ ...good, ...change })
      assert.is(sentences.length, 1)
      assert.match(sentences[0] ?? '', says)
    })
  }
  t('finds nothing wrong with a good host, nor with newer versions', () => {
    assert.equal(problemsOf(good), [])
    assert.equal(problemsOf({ ...good, versions: { ...good.versions, docker: '28.2.2', caddy: '2.20.0' } }), [])
  })
  t('knows processors by all their names', () => {
    assert.equal(['x86_64', 'aarch64', 'arm64', 'mips'].map(archOf), ['amd64', 'arm64', 'arm64', null])
  })
  t('shows what needs a person first', () => {
    const of = (hostname: string, state: 'valid' | 'missing' | 'expired', notAfter?: string) => ({
      hostname,
      state,
      ...(notAfter && { notAfter }),
    })
    const sorted = worstFirst([
      of('a', 'valid', '2027'),
      of('b', 'missing'),
      of('c', 'valid', '2026'),
      of('d', 'expired', '2025'),
    ])
    assert.equal(
      sorted.map(({ hostname }) => hostname),
      ['b', 'd', 'c', 'a'],
    )
  })
})

spec('a host key', (t) => {
  t('has the fingerprint that ssh-keygen prints', () => {
    assert.is(fingerprintOf(KEY), 'SHA256:DUKmQxK8Mqqy/eWOIop7FWJQ+uYQbKGj7s3eRd4Ny+M')
  })
  const bad = [
    'ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIJGBKPLVDkvmhYVTxzG8FyAQA7PvB1VyjeSGkW9dyz2v',
    'ssh-ed25519',
    'ssh-ed25519 !!!!',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5',
  ]
  for (const line of bad) t(`${line.slice(0, 30)} is none`, () => assert.is(hostKeyBytes(line), null))
})

spec('the faults of a host', (t) => {
  const cases: [string, string, 'any' | 'public' | 'public-or-loopback', boolean][] = [
    ['an admin may name a private address', '10.0.0.1', 'any', true],
    ['an owner may not', '10.0.0.1', 'public', false],
    ['an owner may name a public one', '1.1.1.1', 'public', true],
    ['an owner may not name loopback', '127.0.0.1', 'public', false],
    ['nor by its name', 'localhost', 'public', false],
    ['an owner may under the development exception', '127.0.0.1', 'public-or-loopback', true],
    ['which opens no other private address', '192.168.0.1', 'public-or-loopback', false],
    ['nothing hides in a number', '2130706433', 'public', false],
    ['a name is judged when it is used', 'apps.example.net', 'public', true],
  ]
  for (const [sentence, address, rule, ok] of cases) {
    t(sentence, () => assert.is(hostFaults({ address }, rule).length, ok ? 0 : 1))
  }
})

spec('the base domain of a host', (t) => {
  const CASES: [sentence: string, baseDomain: string, rule: AddressRule, ok: boolean][] = [
    ['is a domain that somebody registered', 'apps.shop.co.uk', 'public', true],
    ['is no public suffix', 'co.uk', 'public', false],
    ['is no public suffix, for an administrator either', 'co.uk', 'any', false],
    ['is nothing below which strangers have names', 'github.io', 'public', false],
    ['is in the public DNS', 'apps.test', 'public', false],
    ['has a suffix that there is', 'apps.nosuchsuffix', 'public', false],
    ['may be a test name under the development exception', 'apps.test', 'public-or-loopback', true],
    ['may be of a network of its own, for an administrator', 'apps.corp.internal', 'any', true],
  ]
  for (const [sentence, baseDomain, rule, ok] of CASES) {
    t(sentence, () =>
      assert.equal(
        hostFaults({ baseDomain }, rule).map(({ code }) => code),
        ok ? [] : ['BAD_DOMAIN'],
      ),
    )
  }
})

spec("the configuration of a host's proxy", (t) => {
  const settings = proxyOf({
    proxy: {
      admin: '/run/admin.sock',
      httpPort: 8080,
      httpsPort: 8443,
      bind: '127.0.0.1',
      acme: { directory: 'https://ca.test/dir' },
    },
  })
  const routes = [{ id: 'app-a', owner: 'App/a', hostnames: ['a.test'], handle: [{ handler: 'static_response' }] }]

  t('is the same when it is made from itself', () => {
    const made = withOurs(null, settings, routes)
    assert.equal(withOurs(made, settings, routes), made)
  })
  t('keeps what others put there, and takes back what is ours', () => {
    const theirs = { listen: [':9000'], routes: [] }
    const policy = { subjects: ['x.test'], issuers: [{ module: 'internal' }] }
    const seen = {
      admin: { listen: 'unix//a' },
      apps: {
        http: { servers: { theirs, bottega: { listen: [':1'] } } },
        tls: { automation: { policies: [policy, { on_demand: true }] } },
        pki: { x: 1 },
      },
    }
    const made = JSON.parse(JSON.stringify(withOurs(seen, settings, routes)))
    assert.equal(made.admin, seen.admin)
    assert.equal(made.apps.pki, { x: 1 })
    assert.equal(made.apps.http.servers.theirs, theirs)
    assert.equal(made.apps.http.servers.bottega.listen, ['127.0.0.1:8443'])
    assert.equal(
      made.apps.tls.automation.policies.map((one: { '@id'?: string }) => one['@id']),
      [undefined, 'bottega-tls'],
    )
  })
  t('serves exactly the names of the routes, and 404 for the rest', () => {
    const { routes: served } = partsOf(withOurs({}, settings, routes))
    assert.equal([...served.keys()], ['app-a', 'bottega-nobody'])
    assert.equal(JSON.parse(JSON.stringify(served.get('app-a'))).match, [
      { host: ['a.test'], not: [{ header: { Host: ['*:*'] } }] },
      { host: ['a.test'], header: { Host: ['*:8443'] } },
    ])
  })
  t('has settings and a budget also when the spec has none', () => {
    assert.equal(proxyOf({}), { admin: '127.0.0.1:2019', httpPort: 80, httpsPort: 443 })
    assert.equal(budgetOf({}), { cpuMillis: 1000, memoryMib: 1024, diskGib: 10 })
  })
})

spec('the view of a host', (t) => {
  const object = host({ name: 'Green' })
  const view: HostView = viewHost(object, world(), plan(object, world()))
  t('shows what was found', () => {
    assert.equal(view.inspection?.ok, true)
    assert.is(view.host_key_status, 'pinned')
    assert.is(view.name, 'Green')
    assert.is(view.state, 'approved')
  })
  t('tells those who only use it nothing of how to get in', () => {
    const text = JSON.stringify(withoutWayIn(view))
    for (const secret of ['192.0.2.7', 'deploy', 'AAAAC3', 'admin']) assert.not.ok(text.includes(`"${secret}`), secret)
  })
})
