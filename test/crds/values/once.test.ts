import { makeLately } from '../../../crds/values/once.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const counting = (most: number) => {
  const asked: string[] = []
  const lately = makeLately<string>(most)
  const find = (key: string) =>
    lately(key, () => {
      asked.push(key)
      if (key === 'bad') throw new RangeError(key)
      return `of ${key}`
    })
  return { asked, find }
}

spec('what was asked for lately', (t) => {
  t('is computed once', () => {
    const { asked, find } = counting(2)
    assert.equal([find('a'), find('b'), find('a'), find('b')], ['of a', 'of b', 'of a', 'of b'])
    assert.equal(asked, ['a', 'b'])
  })

  t('is forgotten once there is more than is kept', () => {
    const { asked, find } = counting(2)
    for (const key of ['a', 'b', 'c', 'c', 'a']) find(key)
    assert.equal(asked, ['a', 'b', 'c', 'a'])
  })

  t('is asked for again when it failed', () => {
    const { asked, find } = counting(2)
    assert.throws(() => find('bad'), RangeError)
    assert.throws(() => find('bad'), RangeError)
    assert.equal(asked, ['bad', 'bad'])
  })
})
