import fc from 'fast-check'
import type { SentContent } from '../../../../crds/site/content/content.ts'
import { likeness, signatureOf, twinOf, twinWarnings } from '../../../../crds/site/content/faults/likeness.ts'
import { planSite } from '../../../../crds/site/plan.ts'
import { viewSite } from '../../../../crds/site/view.ts'
import { homed, NOW, site, world } from '../../../support/builders/sites/site.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const content = (text: string, change: Partial<SentContent> = {}): SentContent =>
  ({ meta: { companyName: 'Voss', lang: 'en' }, text: [{ text }], ...change }) as SentContent
const signed = (text: string, change?: Partial<SentContent>): string => {
  const signature = signatureOf(content(text, change))
  assert.ok(signature !== null, 'has words enough')
  return signature as string
}
const WORDS =
  'bread clay oven river market table winter lamp garden stone paper copper glass thread wheel candle'.split(' ')
const words = (min: number, max: number) => fc.array(fc.constantFrom(...WORDS), { minLength: min, maxLength: max })
const shingles = (list: readonly string[]) => new Set(list.slice(2).map((_, at) => list.slice(at, at + 3).join(' ')))
/** The share that the signatures estimate, counted. */
const jaccard = (one: readonly string[], other: readonly string[]): number => {
  const [left, right] = [shingles(one), shingles(other)]
  const both = [...left].filter((run) => right.has(run)).length
  return both / (left.size + right.size - both)
}

const CARD =
  'Talk to a person who knows the house. I show flats in the old town, answer within a day, and stay with you until the keys are yours.'

spec('how alike two sites are', (t) => {
  t('is the share of their runs of three words, within twelve points', () => {
    fc.assert(
      fc.property(words(30, 120), words(30, 120), fc.integer({ min: 0, max: 100 }), (one, other, part) => {
        const mixed = [...one.slice(0, Math.floor((one.length * part) / 100)), ...other]
        const found = likeness(signed(one.join(' ')), signed(mixed.join(' ')))
        // four standard deviations of 128 places, and what rounding adds
        assert.ok(Math.abs(found - 100 * jaccard(one, mixed)) <= 20, `${found} for ${100 * jaccard(one, mixed)}`)
      }),
      { numRuns: 300, seed: 65 },
    )
  })

  t('is the same either way, and whole for itself', () => {
    fc.assert(
      fc.property(words(12, 60), words(12, 60), (one, other) => {
        const [left, right] = [signed(one.join(' ')), signed(other.join(' '))]
        assert.is(likeness(left, right), likeness(right, left))
        assert.is(likeness(left, left), 100)
      }),
    )
  })

  t('leaves addresses, pictures and case aside: cards that differ in their link alone are one card', () => {
    const card = (link: string, text = CARD) =>
      signed(text, { ctaBanner: { title: 'Call me', link } } as Partial<SentContent>)
    assert.is(likeness(card('https://a.test/anna'), card('https://b.test/ben')), 100)
    assert.is(likeness(card('https://a.test/anna'), card('https://a.test/anna', CARD.toUpperCase())), 100)
  })

  t('tells Chinese texts apart by their characters', () => {
    const one = '我们在老城手工制作陶碗与茶杯每一件都在窑中烧制两次'
    assert.is(likeness(signed(one), signed(`${one}。`)), 100)
    assert.ok(likeness(signed(one), signed('律师事务所为企业提供合同审查诉讼代理与税务咨询服务')) < 20)
  })

  t('is not told of a content with too few words', () => {
    assert.is(signatureOf(content('A bowl for every day')), null)
    assert.equal(twinWarnings(null, [{ site: 'site-a', signature: signed(CARD) }]), [])
  })

  t('names the nearest, and of equals the first by name', () => {
    const near = signed(`${CARD} Ask me.`)
    const others = [
      { site: 'site-near', signature: near },
      { site: 'site-b', signature: signed(CARD) },
      { site: 'site-a', signature: signed(CARD) },
      { site: 'site-other', signature: signed(WORDS.join(' ')) },
    ]
    assert.equal(twinOf(signed(CARD), others), { site: 'site-a', percent: 100 })
    assert.is(twinOf(signed(CARD), others.slice(0, 1))?.site, 'site-near')
    assert.is(twinOf(signed(CARD), others.slice(3)), null)
    const half = signed(`${CARD} ${CARD.split(' ').toReversed().join(' ')}`)
    assert.ok(likeness(signed(CARD), half) > 25, 'shares a half')
    assert.is(twinOf(signed(CARD), [{ site: 'site-half', signature: half }]), null)
  })

  t('is a warning of the site, whichever door it came by, once its words are kept', () => {
    const object = site({ content: content(CARD) as unknown as Record<string, unknown> })
    const signature = signed(CARD)
    const others = [{ site: 'site-twin', signature }]
    const warned = (isKept: boolean) => {
      const of = homed(object, 'd1', { words: { isKept, signature, others } })
      return viewSite(object, of, planSite(object, of), new Date(NOW)).warnings.filter(
        ({ code }) => code === 'DUPLICATE_CONTENT',
      )
    }
    const [warning] = warned(true)
    assert.is(warning?.pointer, '/content')
    assert.match(warning?.detail ?? '', /the same words with site-twin/)
    assert.equal(warned(false), [], 'of words of before nothing is said')
  })

  t('is kept with each rendering, and once for what was rendered before', () => {
    const object = site({ content: content(CARD) as unknown as Record<string, unknown> })
    const words = { isKept: false, signature: null, others: [] }
    const steps = (of: ReturnType<typeof world>) => planSite(object, of).steps.map((step) => step.do)
    assert.equal(steps(world({ words })), ['render', 'keepWords'])
    assert.equal(steps(homed(object, 'd1', { words })), ['keepWords'])
    assert.equal(steps(homed(object, 'd1')), [])
  })
})
