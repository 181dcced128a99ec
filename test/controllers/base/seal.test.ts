import { randomBytes } from 'node:crypto'
import { EnvError, readSecretKeys } from '../../../controllers/base/env.ts'
import { KeyMissing, keyIdOf, makeKeyRing, parseRingKeys } from '../../../controllers/base/keyring.ts'
import { type keysOfOne, makeKeys, type Roots, soleRoot } from '../../../controllers/base/keys.ts'
import {
  BadSeal,
  HEAD_BYTES,
  headOf,
  keyOfSealed,
  makePlainSealer,
  makeSealer,
} from '../../../controllers/base/seal.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const [OLD, NEW, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
const PLAIN = Buffer.from('ssh-ed25519 private')

/** Every single bit of a value turned over, one at a time. */
const altered = function* (value: Buffer) {
  for (let at = 0; at < value.length; at++) {
    const other = Buffer.from(value)
    other.writeUInt8(other.readUInt8(at) ^ 1, at)
    yield other
  }
}
const fails = (open: () => unknown): boolean => {
  try {
    open()
    return false
  } catch (error) {
    return error instanceof BadSeal || error instanceof KeyMissing
  }
}

spec('a sealed value', (t) => {
  t('names the newest key of the ring at its head, and nothing of the key', () => {
    const sealed = makeSealer(makeKeyRing([NEW, OLD]), 'app-env').seal(PLAIN, 'app-1')
    assert.equal(sealed.subarray(0, HEAD_BYTES), headOf(keyIdOf(NEW)))
    assert.is(keyOfSealed(sealed), keyIdOf(NEW))
    for (const secret of [OLD, NEW, PLAIN]) assert.is(sealed.indexOf(secret), -1)
  })

  t('opens by an old key and by a new one side by side, in either order', () => {
    const [byOld, byNew] = [OLD, NEW].map((key) => makeSealer(makeKeyRing([key]), 'app-env').seal(PLAIN, 'app-1'))
    for (const ring of [makeKeyRing([NEW, OLD]), makeKeyRing([OLD, NEW])])
      for (const sealed of [byOld, byNew])
        assert.equal(makeSealer(ring, 'app-env').open(sealed as Buffer, 'app-1'), PLAIN)
  })

  t('says which key is missing where the ring does not hold it', () => {
    const sealed = makeSealer(makeKeyRing([OLD]), 'app-env').seal(PLAIN, 'app-1')
    let thrown: unknown
    try {
      makeSealer(makeKeyRing([NEW]), 'app-env').open(sealed, 'app-1')
    } catch (error) {
      thrown = error
    }
    assert.instance(thrown, KeyMissing)
    assert.is((thrown as KeyMissing).id, keyIdOf(OLD))
  })

  t('of before there were data keys opens by any key of the ring', () => {
    const before = makePlainSealer(OLD, 'app-env').seal(PLAIN, 'app-1')
    assert.is(keyOfSealed(before), null)
    assert.equal(makeSealer(makeKeyRing([NEW, OLD]), 'app-env').open(before, 'app-1'), PLAIN)
    assert.ok(fails(() => makeSealer(makeKeyRing([NEW]), 'app-env').open(before, 'app-1')))
  })

  t('opens for no other purpose, about nothing else, and not when one bit is another', () => {
    const ring = makeKeyRing([NEW])
    const sealed = makeSealer(ring, 'app-env').seal(PLAIN, 'app-1')
    assert.ok(fails(() => makeSealer(ring, 'webhook-secret').open(sealed, 'app-1')))
    assert.ok(fails(() => makeSealer(ring, 'app-env').open(sealed, 'app-2')))
    for (const other of altered(sealed)) assert.ok(fails(() => makeSealer(ring, 'app-env').open(other, 'app-1')))
    for (let length = 0; length < sealed.length; length++)
      assert.ok(fails(() => makeSealer(ring, 'app-env').open(sealed.subarray(0, length), 'app-1')))
  })

  t('shares its data key with no other', () => {
    const sealer = makeSealer(makeKeyRing([NEW]), 'app-env')
    const wrapped = Array.from({ length: 50 }, () => sealer.seal(PLAIN, 'app-1').toString('hex', HEAD_BYTES, 52))
    assert.is(new Set(wrapped).size, wrapped.length)
  })
})

spec('the keys that are given', (t) => {
  const text = (...keys: Buffer[]) => keys.map((key) => key.toString('base64'))

  t('are one or several, by commas or by lines, the newest first', () => {
    for (const given of [text(NEW, OLD).join(','), `${text(NEW, OLD).join('\n')}\n`, text(NEW, OLD).join(' , ')])
      assert.equal(parseRingKeys(given), [NEW, OLD])
    assert.equal(readSecretKeys(text(OLD).join()), [OLD])
  })

  t('are refused where one is no key, stands twice, or there are too many', () => {
    const many = Array.from({ length: 9 }, () => randomBytes(32))
    for (const given of ['', ',', `${text(NEW)},hunter2`, text(NEW, NEW).join(), text(...many).join()])
      assert.throws(
        () => readSecretKeys(given),
        (error: unknown) => error instanceof EnvError && !error.message.includes('hunter2'),
      )
  })
})

spec('what is derived', (t) => {
  const names = (keys: ReturnType<typeof keysOfOne>) => ({
    link: keys.linkToken('inv-1'),
    preview: keys.capability('preview', 'site-1'),
    password: keys.password('inv-1', 1),
    form: keys.formToken('session'),
    name: keys.resourceName('a reference').toString('hex'),
    installation: keys.installation,
    token: keys.tokenHash('secret').toString('hex'),
  })

  t('is the same under every ring', () => {
    const under = (...keys: Buffer[]) => names(makeKeys({ roots: soleRoot(OTHER), ring: makeKeyRing(keys) }))
    assert.equal(under(OLD), under(NEW, OLD))
    assert.equal(under(OLD), under(NEW))
  })

  t('by a second root is new for what is made, and what the first made holds until it is retired', () => {
    let [making, holding] = [OLD, [OLD]]
    const roots: Roots = { first: OLD, making: () => making, holding: () => holding }
    const keys = makeKeys({ roots, ring: makeKeyRing([OTHER]) })
    const before = names(keys)
    const session = keys.pageSession('inv-1', 1, 1_900_000_000_000)
    making = NEW
    holding = [OLD, NEW]
    const after = names(keys)
    for (const one of ['link', 'preview', 'password', 'form'] as const) assert.not.equal(after[one], before[one])
    for (const one of ['name', 'installation', 'token'] as const)
      assert.is(after[one], before[one], 'it names for ever')
    const opens = ({ link, preview, password, form }: typeof before) => [
      keys.nameOfLink(link) === 'inv-1',
      keys.nameOfCapability('preview', preview) === 'site-1',
      keys.passwordOpens(password, 'inv-1', 1),
      keys.formTokenFits(form, 'session'),
    ]
    assert.equal(opens(before), [true, true, true, true])
    assert.equal(opens(after), [true, true, true, true])
    assert.ok(keys.pageSessionOpens(session, 'inv-1', 1, 1_800_000_000_000))
    holding = [NEW]
    assert.equal(opens(before), [false, false, false, false])
    assert.equal(opens(after), [true, true, true, true])
    assert.not(keys.pageSessionOpens(session, 'inv-1', 1, 1_800_000_000_000))
  })

  t('from a visit comes back under another ring', () => {
    const by = (ring: Buffer) => makeKeys({ roots: soleRoot(OTHER), ring: makeKeyRing([ring]) }).visitSealer('oidc')
    assert.equal(by(NEW).open(by(OLD).seal(PLAIN, 'visit'), 'visit'), PLAIN)
  })
})
