import { createHmac, randomBytes } from 'node:crypto'
import { EnvError, readSecretKeys } from '../../../controllers/base/env.ts'
import { deriveKey, KeyMissing, keyIdOf, makeKeyRing, parseRingKeys } from '../../../controllers/base/keyring.ts'
import { keysOfOne, makeKeys, type Roots, soleRoot } from '../../../controllers/base/keys.ts'
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
    link: keys.linkToken('inv-1', 1),
    preview: keys.capability('preview', 'site-1', 1),
    laterLink: keys.linkToken('inv-1', 2),
    laterPreview: keys.capability('preview', 'site-1', 12),
    password: keys.password('inv-1', 1, 1),
    laterPassword: keys.password('inv-1', 1, 2),
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
    const stand = { name: 'inv-1', n: 1, link: 2, password: 3 }
    const session = keys.pageSession(stand, 1_900_000_000_000)
    making = NEW
    holding = [OLD, NEW]
    const after = names(keys)
    for (const one of ['link', 'laterLink', 'preview', 'laterPreview', 'password', 'laterPassword', 'form'] as const)
      assert.not.equal(after[one], before[one])
    for (const one of ['name', 'installation', 'token'] as const)
      assert.is(after[one], before[one], 'it names for ever')
    const opens = (one: typeof before) => [
      keys.nameOfLink(one.link),
      keys.nameOfLink(one.laterLink),
      keys.nameOfCapability('preview', one.preview),
      keys.nameOfCapability('preview', one.laterPreview),
      keys.passwordOpens(one.password, { name: 'inv-1', n: 1, password: 1 }),
      keys.passwordOpens(one.laterPassword, { name: 'inv-1', n: 1, password: 2 }),
      keys.formTokenFits(one.form, 'session'),
    ]
    const all = [
      { name: 'inv-1', version: 1 },
      { name: 'inv-1', version: 2 },
      { name: 'site-1', version: 1 },
      { name: 'site-1', version: 12 },
      true,
      true,
      true,
    ]
    assert.equal(opens(before), all)
    assert.equal(opens(after), all)
    assert.ok(keys.pageSessionOpens(session, stand, 1_800_000_000_000))
    holding = [NEW]
    assert.equal(opens(before), [null, null, null, null, false, false, false])
    assert.equal(opens(after), all)
    assert.not(keys.pageSessionOpens(session, stand, 1_800_000_000_000))
  })

  t('of a version opens nothing of another, and what was made before there were versions is of the first', () => {
    const keys = keysOfOne(OLD)
    // as they were made before there were versions
    const mac = (purpose: string, text: string) =>
      createHmac('sha256', deriveKey(OLD, purpose)).update(text).digest('base64url')
    assert.is(keys.linkToken('inv-1', 1), `inv-1.${mac('link', 'inv-1').slice(0, 22)}`)
    assert.is(keys.capability('review', 'site-1', 1), `site-1.${mac('review', 'site-1').slice(0, 22)}`)
    const first = { name: 'inv-1', n: 4, link: 1, password: 1 }
    assert.is(keys.pageSession(first, 1_900_000_000_000).split('.')[1], mac('page-session', 'inv-1\n4\n1900000000000'))
    const [, later] = keys.linkToken('inv-1', 2).split('.')
    assert.is(keys.nameOfLink(`inv-1.${later}`), null)
    assert.is(keys.nameOfLink(`inv-1~v3.${later}`), null)
    assert.is(keys.nameOfLink(`inv-1~v1.${later}`), null)
    const stands = [first, { ...first, link: 2 }, { ...first, password: 2 }, { ...first, link: 2, password: 2 }]
    for (const made of stands) {
      const cookie = keys.pageSession(made, 1_900_000_000_000)
      const opened = stands.filter((stand) => keys.pageSessionOpens(cookie, stand, 1_800_000_000_000))
      assert.equal(opened, [made])
      const password = keys.password(made.name, made.n, made.password)
      assert.equal(
        stands.filter((stand) => keys.passwordOpens(password, stand)),
        stands.filter((stand) => stand.password === made.password),
      )
    }
    const pinned = keys.capability('preview', 'site-1~abc', 7)
    assert.equal(keys.nameOfCapability('preview', pinned), { name: 'site-1~abc', version: 7 })
    assert.is(keys.nameOfCapability('review', pinned), null)
  })

  t('from a visit comes back under another ring', () => {
    const by = (ring: Buffer) => makeKeys({ roots: soleRoot(OTHER), ring: makeKeyRing([ring]) }).visitSealer('oidc')
    assert.equal(by(NEW).open(by(OLD).seal(PLAIN, 'visit'), 'visit'), PLAIN)
  })
})
