/** What is base64, however long it is, and that a pattern says of a picture in the content what it said before. */
import fc from 'fast-check'
import { isBase64, withSample } from '../../../api/http/reading/base64.ts'
import { compileCheck } from '../../../api/http/validate.ts'
import { image } from '../../../crds/site/content/content-fields.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** By its signs, as RFC 4648 section 4 has it; white space does not count. */
const bySigns = (text: string): boolean => {
  const digits = text.replace(/[\t\n\f\r ]/g, '')
  const bare = digits.replace(/={1,2}$/, '')
  const isPadded = bare.length < digits.length
  const isWhole = isPadded ? digits.length % 4 === 0 : digits.length % 4 !== 1
  return digits !== '' && isWhole && /^[A-Za-z0-9+/]+$/.test(bare)
}

const SIGNS = fc.constantFrom(...'AZaz09+/=-_*. \n\té漢')
const LONG = Buffer.alloc(300_000, 'picture').toString('base64')

spec('a text of base64', (t) => {
  t('is told from others by how much it decodes to, as by its signs', () => {
    fc.assert(
      fc.property(fc.string({ unit: SIGNS, maxLength: 24 }), (text) => assert.is(isBase64(text), bySigns(text), text)),
      { numRuns: 20_000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), fc.nat(100), (bytes, at) => {
        const text = Buffer.from(bytes).toString('base64')
        assert.ok(isBase64(text))
        const place = at % text.length
        for (const sign of ['*', '-', '_', '\0', 'é', '漢', '=A'])
          assert.not.ok(isBase64(text.slice(0, place) + sign + text.slice(place + 1)), `${text} ${place} ${sign}`)
      }),
    )
  })

  t('in a picture of the content is judged as its pattern judges it, long or short', () => {
    const pattern = new RegExp(image({ description: '' }).pattern, 'u')
    const check = compileCheck({ type: 'object', properties: { image: image({ description: '' }) } })
    const heads = [
      'data:image/png;base64,',
      'data:image/gif;base64,',
      'data:;base64,',
      'x;base64,',
      'https://a.example/',
    ]
    const tails = ['', '*', ' ', '\n', '-', '=', '==', '===', 'A=A', '漢']
    for (const head of heads)
      for (const tail of tails)
        for (const place of [0, 150_000, LONG.length]) {
          const text = head + LONG.slice(0, place) + tail + LONG.slice(place)
          const isTaken = pattern.test(text)
          const refused = check({ image: text }).length > 0
          assert.is(refused, !isTaken, `${head} ${JSON.stringify(tail)} at ${place}`)
        }
  })

  t('that is short, or none, is left to its pattern as it is', () => {
    for (const text of ['data:image/png;base64,AAAA', `https://a.example/${LONG}`, `data:image/png;base64,${LONG}*`])
      assert.is(withSample(text), text)
    assert.is(withSample(`data:image/png;base64,${LONG}`), 'data:image/png;base64,AAAA')
  })
})
