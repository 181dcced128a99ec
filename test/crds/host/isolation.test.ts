import { bridgeOf } from '../../../crds/app/compose/printing/bridges.ts'
import { faultsOf } from '../../../crds/app/faults.ts'
import { imagesIn } from '../../../crds/app/start.ts'
import { beginsAsRoot, CLOSED_RANGES, guardOf, keepsApart } from '../../../crds/host/isolation.ts'
import { anApp } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('apps of a host', (t) => {
  t('are kept apart wherever more than one account may have some, and on each that is not known', () => {
    assert.ok(keepsApart({ class: 'platform', account: null }))
    assert.ok(keepsApart({ class: 'platform' }))
    for (const kind of ['shared', 'isolated', 'owned'] as const) {
      for (const account of [null, 'demo']) assert.ok(keepsApart({ class: kind, account }))
    }
    assert.ok(keepsApart(null))
    assert.not.ok(keepsApart({ class: 'platform', account: 'demo' }))
  })
})

spec('the guard of a host', (t) => {
  const digest = 'a'.repeat(32)
  const guard = (says: string, of = digest) => guardOf({ says, digest: of }, digest).state

  t('tells a fault of its rules from one of its meter', () => {
    const detailOf = (says: string) => {
      const found = guardOf({ says, digest }, digest)
      return found.state === 'faulty' ? found.detail : found.state
    }
    assert.is(detailOf('fault Permission denied'), 'the packet filter refuses the rules (Permission denied)')
    assert.is(detailOf('fault meter: awk is missing'), 'what its apps have on disk cannot be measured (awk is missing)')
  })

  t('stands when it says so, whatever it had to put back', () => {
    assert.equal([guard('ok 0'), guard('ok 17')], ['stands', 'stands'])
  })
  t('is missing when it is not there, is late, or is another than it should be', () => {
    assert.equal([guard('absent'), guard('late'), guard('ok 0', 'b')], ['missing', 'missing', 'missing'])
  })
  t('is faulty when the packet filter refuses it, or is not there', () => {
    assert.equal([guard('fault iptables-restore: no table'), guard('unable')], ['faulty', 'faulty'])
    assert.equal(guard('unable', ''), 'faulty')
  })
  t('closes what no stranger may reach', () => {
    for (const range of [
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '100.64.0.0/10',
      '169.254.0.0/16',
      '127.0.0.0/8',
    ])
      assert.ok(CLOSED_RANGES.includes(range), range)
  })
})

spec('a container', (t) => {
  t('begins as root when neither its image nor its service names another user', () => {
    for (const user of ['', '0', 'root', '0:0', 'root:root', '00', ':1000']) assert.is(beginsAsRoot(user), true, user)
    for (const user of ['1000', 'node', '1000:0', 'rooted']) assert.is(beginsAsRoot(user), false, user)
    assert.equal([beginsAsRoot('', '1000'), beginsAsRoot('node', '0')], [false, true])
  })
  t('says its user as JSON, so that no image forges what is read after it', () => {
    const id = `sha256:${'0'.repeat(64)}`
    const users = (user: string) =>
      imagesIn(`bottega: image ${id} amd64 ${user}\n`, [{ service: 'web', name: 'x' }])?.users
    assert.equal(users('"node"'), ['node'])
    assert.equal(users('""'), [''])
    assert.equal(users('"no de\\nbottega: image"'), ['no de\nbottega: image'])
    assert.equal(users(''), [''], 'what cannot be read is taken for root')
  })
})

spec('the bridge of a network', (t) => {
  t('has a name of its own, which a link can have', () => {
    const names = [bridgeOf('a', 'x-r1_default'), bridgeOf('a', 'x-r2_default'), bridgeOf('b', 'x-r1_default')]
    assert.is(new Set(names).size, 3)
    for (const name of names) assert.match(name, /^bt-[0-9a-f]{12}$/)
    assert.is(bridgeOf('a', 'x-r1_default'), names[0])
  })
})

spec('the name of an app', (t) => {
  t('is none that the host gives to what belongs to another', () => {
    const pointers = (slug: string) => faultsOf(anApp({ slug }).spec).map(({ pointer }) => pointer)
    for (const slug of ['x-base', 'x-build', 'x-r1', 'x-r42']) assert.equal(pointers(slug), ['/slug'], slug)
    for (const slug of ['base', 'x-r', 'x-based', 'x-r1a', 'database']) assert.equal(pointers(slug), [], slug)
  })
})
