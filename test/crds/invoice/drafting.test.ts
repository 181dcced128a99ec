import { compileCheck } from '../../../api/http/validate.ts'
import { chatSchema, draftSchema, judgeDraft, proposalSchema } from '../../../crds/invoice/rest/drafting.ts'
import { chatPrompt, contractPrompt, draftPrompt } from '../../../crds/invoice/rest/prompt.ts'
import { strictSchema, withoutNulls } from '../../../crds/kernel/strict.ts'
import { between } from '../../../crds/text/asking.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const shape = compileCheck(draftSchema)
const GOOD = {
  client_name: 'ACME',
  client_email: 'billing@acme.test',
  currency: 'EUR',
  due_date: '2027-01-31',
  terms: null,
  lang: 'en',
  items: [{ description: 'Consulting', qty: 1.5, unit_cents: 8_000, tax_rate_bp: null }],
  tax_rate_bp: 2_000,
  discount_cents: null,
}
const judge = (change: object, given: object = {}) => judgeDraft({ ...GOOD, ...change }, { ...given }, shape)
const drafted = (change: object, given?: object) => {
  const judged = judge(change, given)
  if ('faults' in judged) throw new Error(JSON.stringify(judged.faults))
  return judged
}
const faultsOf = (change: object): string[] => {
  const judged = judge(change)
  return 'faults' in judged ? judged.faults.map(({ pointer }) => pointer) : ['none']
}
const item = (change: object) => ({
  items: [{ description: 'x', qty: 1, unit_cents: 100, tax_rate_bp: null, ...change }],
})

type Node = {
  type?: unknown
  properties?: Record<string, Node>
  required?: string[]
  additionalProperties?: boolean
  items?: Node
}
const objectsOf = (node: Node): Node[] => [
  ...(node.properties ? [node] : []),
  ...Object.values(node.properties ?? {}).flatMap(objectsOf),
  ...(node.items ? objectsOf(node.items) : []),
]

spec('a draft that a language model proposes', (t) => {
  t('is passed on as POST /api/invoices takes it, without what was not said', () => {
    assert.equal(drafted({}), {
      draft: {
        client_name: 'ACME',
        client_email: 'billing@acme.test',
        currency: 'EUR',
        due_date: '2027-01-31',
        lang: 'en',
        items: [{ description: 'Consulting', qty: 1.5, unit_cents: 8_000 }],
        tax_rate_bp: 2_000,
      },
      warnings: [],
    })
  })

  for (const field of [
    'send',
    'test',
    'paid',
    'issuer_id',
    'external_ref',
    'metadata',
    'account',
    'url',
    '__proto__',
  ]) {
    t(`never holds ${field}, and says that it was asked for`, () => {
      const proposal = JSON.parse(`{"${field}":true,"items":[{"description":"x","qty":1,"unit_cents":100}]}`)
      const judged = judgeDraft(proposal, {}, shape)
      if ('faults' in judged) throw new Error('it was refused')
      assert.equal(Object.keys(judged.draft), ['items'])
      assert.equal([judged.warnings[0]?.code, judged.warnings[0]?.pointer], ['UNKNOWN_FIELD', `/${field}`])
    })
  }

  const money: [string, object, string][] = [
    ['a price as a float', item({ unit_cents: 10.5 }), '/items/0/unit_cents'],
    ['a price as text', item({ unit_cents: '100' }), '/items/0/unit_cents'],
    ['a price beyond all', item({ unit_cents: 1e15 }), '/items/0/unit_cents'],
    ['no price', item({ unit_cents: null }), '/items/0/unit_cents'],
    ['a field of its own in an item', item({ account: 'DE89' }), '/items/0/account'],
    ['seven decimals in qty', item({ qty: 0.1234567 }), '/items/0/qty'],
    ['less than nothing of it', item({ qty: -1 }), '/items/0/qty'],
    ['a description that turns the direction of writing', item({ description: 'a\u202eb' }), '/items/0/description'],
    ['a description of 2,001', item({ description: 'x'.repeat(2_001) }), '/items/0/description'],
    ['items as text', { items: 'three hours' }, '/items'],
    ['501 items', { items: Array.from({ length: 501 }, () => item({}).items[0]) }, '/items'],
    ['a currency that is none', { currency: 'EUX' }, '/currency'],
    ['a currency in small letters', { currency: 'eur' }, '/currency'],
    ['tax of 200 %', { tax_rate_bp: 20_000 }, '/tax_rate_bp'],
    ['a discount below zero', { discount_cents: -1 }, '/discount_cents'],
    ['amounts that cannot be computed exactly', item({ qty: 999_999_999, unit_cents: 1e12 }), '/items'],
  ]
  for (const [what, change, pointer] of money) {
    t(`with ${what} is refused as a whole`, () => assert.equal(faultsOf(change), [pointer]))
  }

  const words: [string, object, string][] = [
    ['an address that is none', { client_email: 'ask the office' }, 'client_email'],
    ['two lines for a name', { client_name: 'ACME\nBcc: x' }, 'client_name'],
    ['a day that no calendar has', { due_date: '2027-02-30' }, 'due_date'],
    ['a day in words', { due_date: 'end of month' }, 'due_date'],
    ['a language that we do not write', { lang: 'tlh' }, 'lang'],
    ['terms with control characters', { terms: 'a\u0007b' }, 'terms'],
    ['terms as a list', { terms: ['30 days'] }, 'terms'],
  ]
  for (const [what, change, field] of words) {
    t(`with ${what} loses that field, with a warning`, () => {
      const { draft, warnings } = drafted(change)
      assert.not.ok(field in draft)
      assert.is(draft.currency, 'EUR')
      const [first] = warnings
      assert.is(first?.pointer, `/${field}`)
      assert.match(first?.detail ?? '', /Left out of the draft\.$/)
    })
  }

  t('tells what it lacks to be sent', () => {
    const lacks = (change: object) => drafted(change).warnings.map(({ code, pointer }) => `${code} ${pointer}`)
    assert.equal(lacks({ items: [] }), ['NO_ITEMS /items'])
    assert.equal(lacks({ discount_cents: 99_999 }), ['ZERO_TOTAL /items'])
    assert.equal(lacks({ client_email: '', due_date: null }), [
      'INVALID_FIELD /client_email',
      'INVALID_FIELD /due_date',
    ])
  })

  t('has the fields that the caller fixed, whatever the model says', () => {
    assert.is(drafted({ currency: 'USD' }, { currency: 'CHF', lang: 'es' }).draft.currency, 'CHF')
    assert.is(drafted({ lang: 'en' }, { lang: 'es' }).draft.lang, 'es')
  })

  for (const value of [null, 5, 'draft', [], [GOOD]]) {
    t(`that is ${JSON.stringify(value).slice(0, 20)} is refused`, () => {
      assert.ok('faults' in judgeDraft(value, {}, shape))
    })
  }
})

spec('what a language model is told', (t) => {
  t('is a schema that is closed and wants every field, at every depth', () => {
    const objects = objectsOf(chatSchema as Node)
    assert.is(objects.length, 3)
    for (const { properties, required, additionalProperties } of objects) {
      assert.is(additionalProperties, false)
      assert.equal(required, Object.keys(properties ?? {}))
    }
    assert.not.match(JSON.stringify(proposalSchema), /pattern|maxLength|minimum|default|x-code/)
  })

  t('lets null stand for what may be left out, and for nothing else', () => {
    const { properties = {} } = proposalSchema as Node
    assert.equal(properties.currency?.type, ['string', 'null'])
    const inner = properties.items?.items?.properties ?? {}
    assert.equal([inner.qty?.type, inner.tax_rate_bp?.type], ['number', ['integer', 'null']])
    assert.equal(
      (strictSchema({ type: 'object', properties: { a: { type: 'string', enum: ['b'] } } }) as { properties: unknown })
        .properties,
      {
        a: { type: ['string', 'null'], enum: ['b', null] },
      },
    )
    assert.equal(withoutNulls({ a: null, b: [{ c: null, d: 0 }], e: '' }), { b: [{ d: 0 }], e: '' })
  })

  t('is the day, the task and, of a contract, that it is material', () => {
    for (const prompt of [draftPrompt('2026-11-22'), chatPrompt('2026-11-22'), contractPrompt('2026-11-22')]) {
      assert.match(prompt, /Today is 2026-11-22\./)
      assert.match(prompt, /hundredths/)
    }
    assert.match(contractPrompt('2026-11-22'), /material to read/)
    assert.match(draftPrompt('2026-11-22', { currency: 'CHF' }), /The currency is CHF\./)
    assert.is(between('== 1 ==', 'text'), '== 1 ==\ntext\n== 1 ==')
  })
})
