import fc from 'fast-check'
import { hasHours, statedHours } from '../../../../crds/site/content/drafting/hours.ts'
import { sentencesOf } from '../../../../crds/site/content/drafting/sentences.ts'
import { cleaned, findQuote, fold, pagesOf, placeOf } from '../../../../crds/site/content/drafting/source.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const pagesIn = (text: string) => pagesOf([{ name: 'brief', kind: 'brief', parts: [text] }])
const pages = pagesIn('Voss Ceramics throws bowls.')

spec('a quote', (t) => {
  t('is found where it stands, for any text and any piece of it on the borders of words', () => {
    const piece = fc.constantFrom(
      'ab',
      'ÉCLAIR',
      'a',
      ' ',
      '\n',
      '\u00a0',
      '’',
      '–',
      '茶',
      '碗',
      '12',
      '.',
      'ﬁ',
      'İ',
      '𝒜',
    )
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 60 }), fc.nat(60), fc.nat(60), (list, from, length) => {
        const text = list.join('')
        const quote = list.slice(from, from + length).join('')
        const bordered = `${list.slice(0, from).join('')} ${quote} ${list.slice(from + length).join('')}`
        const found = findQuote(pagesIn(bordered), quote)
        if (/[\p{L}\p{N}]/u.test(quote)) assert.ok(found !== null, JSON.stringify([bordered, quote]))
        if (found) assert.is(bordered.slice(found.start, found.end), found.quote)
        assert.is(findQuote(pagesIn(text), `${text}zz`), null)
      }),
      { numRuns: 2_000 },
    )
  })

  t('is searched as the simplest search would, and as whole words', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 40 })
    const isWhole = (text: string, at: number, length: number) =>
      !(/\w/.test(text[at - 1] ?? ' ') && /\w/.test(text[at] ?? ' ')) &&
      !(/\w/.test(text[at + length] ?? ' ') && /\w/.test(text[at + length - 1] ?? ' '))
    fc.assert(
      fc.property(
        letters,
        fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 6 }),
        (text, pattern) => {
          let expected = -1
          for (let at = 0; at + pattern.length <= text.length && expected < 0; at++)
            if (text.startsWith(pattern, at) && isWhole(text, at, pattern.length)) expected = at
          assert.is(placeOf(text, pattern), expected)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  t('is found behind a beginning that comes to nothing', () => {
    assert.is(placeOf('a a a b', 'a a b'), 2)
    assert.is(placeOf('ab ab ab cd', 'ab ab cd'), 3)
    assert.is(placeOf('a b a b a c', 'a b a c'), 4)
  })

  t('is no part of a longer word, and no control character reaches a store', () => {
    assert.is(findQuote(pages, 'ceram'), null)
    assert.is(cleaned('a\u0000b\ud800c\r\n'), 'a b\ufffdc \n')
    assert.is(cleaned('a\u0000b').length, 3)
  })

  t('has its place in the text, not in its folded form', () => {
    const text = 'Ünïcode  “ﬁne”\u00ad goods'
    const { units, at } = fold(text)
    assert.is(at.length, units.length + 1)
    const found = findQuote(pagesIn(text), '"FINE" GOODS')
    assert.is(found?.quote, 'ﬁne”\u00ad goods')
  })
})

spec('sentences', (t) => {
  t('are the text, put together', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '. ', '!', '?', '\n', '。', ' ', '3.5', '”'), maxLength: 40 }),
        (text) => {
          assert.is(sentencesOf(text).join(''), text.trim() === '' ? '' : text)
        },
      ),
    )
  })

  t('end at a mark that is followed by white space, and at Chinese marks', () => {
    assert.equal(sentencesOf('Bowls at 3.50. Ask us!  今天开门。明天关门。'), [
      'Bowls at 3.50. ',
      'Ask us!  ',
      '今天开门。',
      '明天关门。',
    ])
  })
})

spec('hours that a source states', (t) => {
  const all = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const CASES: [text: string, days: string[], opens: string, closes: string][] = [
    ['Open Monday to Friday 9:00-17:30', all.slice(0, 5), '09:00', '17:30'],
    ['Tue–Sat, 10 am to 6 pm', all.slice(1, 6), '10:00', '18:00'],
    ['Daily from 8 to 6', all, '08:00', '18:00'],
    ['De martes a sábado de 13:30 a 16:00', all.slice(1, 6), '13:30', '16:00'],
    ['Sábados y domingos, 9 a 14', ['sat', 'sun'], '09:00', '14:00'],
    ['周二至周日 11:00–21:30', all.slice(1), '11:00', '21:30'],
    ['每天 9点到18点', all, '09:00', '18:00'],
    ['Fri to Mon, noon until midnight', ['fri', 'sat', 'sun', 'mon'], '12:00', '24:00'],
    ['L-V 9.00 - 14.00', all.slice(0, 5), '09:00', '14:00'],
  ]
  for (const [text, days, opens, closes] of CASES) {
    t(`are read from "${text}"`, () => {
      const stated = statedHours([fold(text).units])
      assert.ok(hasHours(stated, { days, opens, closes }), JSON.stringify([[...stated.days], [...stated.times]]))
      assert.is(hasHours(stated, { days, opens, closes: '03:33' }), false)
      const other = all.find((day) => !stated.days.has(day))
      if (other) assert.is(hasHours(stated, { days: [other], opens, closes }), false)
    })
  }
  t('are not read from words that only begin like a day, or from other numbers', () => {
    const stated = statedHours([fold('A sunny shop with 9 monks in 1987, Martesson Street 12').units])
    assert.equal([[...stated.days], [...stated.times]], [[], []])
  })
})
