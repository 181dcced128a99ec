import fc from 'fast-check'
import { decimalOf, formatDecimal, numberOf, parseDecimal } from '../../../crds/values/decimal.ts'
import {
  currencyDigits,
  displayCents,
  divideHalfUp,
  isCurrency,
  splitByLargestRemainder,
} from '../../../crds/values/money.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('decimals', (t) => {
  t('read and write without a float in between', () => {
    assert.is(parseDecimal('1.5'), 1_500_000n)
    assert.is(parseDecimal('0.000001'), 1n)
    assert.is(parseDecimal('999999999.999999'), 999_999_999_999_999n)
    assert.is(formatDecimal(1_500_000n), '1.5')
    assert.is(formatDecimal(-1n), '-0.000001')
    assert.is(formatDecimal(0n), '0')
  })

  t('refuse signs, exponents, seven decimals, ten digits and stray zeros', () => {
    for (const text of ['-1', '+1', '1e3', '0.0000001', '1000000000', '01', '.5', '1.', '', ' 1', '1\n', 'NaN']) {
      assert.is(parseDecimal(text), null, JSON.stringify(text))
    }
  })

  const numbers: [number, string | null][] = [
    [0.1, '0.1'],
    [1.5, '1.5'],
    [1, '1'],
    [-0, '0'],
    [0.000001, '0.000001'],
    [999999999.999999, '999999999.999999'],
    [1e-7, null],
    [1e21, null],
    [1e9, null],
    [0.1 + 0.2, null],
    [-1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ]
  for (const [number, text] of numbers) {
    t(`take the JSON number ${number} as ${text ?? 'no decimal'}`, () => assert.is(decimalOf(number), text))
  }

  t('come back from JSON as they went, over the whole range', () => {
    const scaled = fc.bigInt({ min: 0n, max: 999_999_999_999_999n })
    fc.assert(
      fc.property(scaled, (value) => {
        const text = formatDecimal(value)
        return parseDecimal(text) === value && decimalOf(numberOf(text)) === text
      }),
      { numRuns: 2000 },
    )
  })
})

spec('money', (t) => {
  const shown: [number, string, string][] = [
    [192_000, 'EUR', '1,920.00 EUR'],
    [5, 'EUR', '0.05 EUR'],
    [-192_005, 'EUR', '-1,920.05 EUR'],
    [50_000, 'JPY', '500 JPY'],
    [50_050, 'JPY', '500.50 JPY'],
    [1_234, 'KWD', '12.340 KWD'],
    [1_234, 'CLF', '12.3400 CLF'],
    [100, 'HUF', '1.00 HUF'],
    [123_456_789_012, 'USD', '1,234,567,890.12 USD'],
    [0, 'EUR', '0.00 EUR'],
    [100_000, 'EUR', '1,000.00 EUR'],
  ]
  for (const [cents, currency, text] of shown) {
    t(`shows ${cents} hundredths of ${currency} as ${text}`, () => assert.is(displayCents(cents, currency), text))
  }

  t('shows every amount so that it can be read back', () => {
    const amounts = fc.tuple(fc.maxSafeInteger(), fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF'))
    fc.assert(
      fc.property(amounts, ([cents, currency]) => {
        const [figures = ''] = displayCents(cents, currency).replaceAll(',', '').split(' ')
        const [whole = '', fraction = ''] = figures.replace('-', '').split('.')
        const read = BigInt(whole + fraction.padEnd(2, '0').slice(0, 2)) * (figures.startsWith('-') ? -1n : 1n)
        return read === BigInt(cents)
      }),
    )
  })

  t('knows the digits of ISO 4217, where Intl differs', () => {
    assert.equal(['HUF', 'IDR', 'IQD', 'ISK', 'UYW'].map(currencyDigits), [2, 2, 3, 0, 4])
  })

  t('keeps money in no metal, test code or withdrawn code', () => {
    for (const code of ['XAU', 'XTS', 'XXX', 'DEM', 'HRK', 'BGN', 'eur', 'EURO', ''])
      assert.is(isCurrency(code), false, code)
    for (const code of ['EUR', 'XCG', 'CLF', 'JPY']) assert.is(isCurrency(code), true, code)
  })

  t('rounds half away from zero', () => {
    assert.equal(
      [5n, 4n, -5n, -4n, 15n].map((value) => divideHalfUp(value, 10n)),
      [1n, 0n, -1n, 0n, 2n],
    )
  })

  t('splits by largest remainder without losing a cent', () => {
    assert.equal(splitByLargestRemainder(100n, [1n, 1n, 1n]), [34n, 33n, 33n])
    assert.equal(splitByLargestRemainder(10n, [0n, -5n, 3n]), [0n, 0n, 10n])
    assert.equal(splitByLargestRemainder(7n, [0n, 0n]), [7n, 0n])
    assert.equal(splitByLargestRemainder(7n, []), [])
    const weights = fc.array(fc.bigInt({ min: -1000n, max: 100_000n }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), weights, (amount, shares) => {
        const split = splitByLargestRemainder(amount, shares)
        return split.reduce((sum, share) => sum + share, 0n) === amount && split.every((share) => share >= 0n)
      }),
    )
  })
})
