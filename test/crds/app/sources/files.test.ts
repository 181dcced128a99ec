import { fileTimeOf } from '../../../../crds/app/sources/files.ts'
import { aRelease } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

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
