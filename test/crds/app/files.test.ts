import { buildKeyOf, fileTimeOf } from '../../../crds/app/files.ts'
import { anApp, aRelease } from '../../support/builders/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const [SOURCE, OTHER] = ['a'.repeat(64), 'b'.repeat(64)]
const at = (createdAt: string, source = SOURCE) => fileTimeOf(aRelease(1, { createdAt, source }))

spec('the time of the files of a release', (t) => {
  t('is that at which the release was made, so that they are younger than those before', () => {
    assert.match(at('2026-11-22T10:00:00.999Z'), /^1795341600\.\d{9}$/)
    assert.ok(Number(at('2026-11-22T10:00:01Z')) > Number(at('2026-11-22T10:00:00Z', OTHER)))
  })
  t('is another for other files at the same moment, and the same when they are sent again', () => {
    assert.is.not(at('2026-11-22T10:00:00Z', OTHER), at('2026-11-22T10:00:00Z'))
    assert.is(at('2026-11-22T10:00:00.000Z'), at('2026-11-22T10:00:00+00:00'))
  })
})

spec('the key of a build', (t) => {
  const operation = { id: 'op-1' }
  const release = aRelease(1)
  const key = buildKeyOf({ app: anApp(), operation, release })

  t('is the same when the same build is asked for again', () => {
    assert.match(key, /^[0-9a-f]{32}$/)
    assert.is(buildKeyOf({ app: anApp({ access: 'private' }), operation, release }), key)
  })
  const others: [string, string][] = [
    ['account', buildKeyOf({ app: anApp({ account: 'other' }), operation, release })],
    ['app of the same slug', buildKeyOf({ app: anApp({}, { uid: 'another' }), operation, release })],
    ['operation', buildKeyOf({ app: anApp(), operation: { id: 'op-2' }, release })],
    [
      'release under an operation of the same id',
      buildKeyOf({ app: anApp(), operation, release: aRelease(1, { createdAt: '2026-11-22T10:00:00.001Z' }) }),
    ],
  ]
  for (const [of, other] of others) t(`is of one ${of} alone`, () => assert.is.not(other, key))
})
