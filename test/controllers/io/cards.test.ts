import Stripe from 'stripe'
import { BadSignature, makeCardEvents } from '../../../api/io/cardevents.ts'
import { EnvError } from '../../../controllers/base/env.ts'
import { cardsOf, checkoutOriginOf } from '../../../controllers/base/providers.ts'
import { type CardProcessor, makeCardProcessor, ProcessorError } from '../../../controllers/io/cards.ts'
import { type Cards, SECRET_KEY, startCardMock, startCards, WEBHOOK_SECRET } from '../../support/doubles/cards.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** The card processor's library against its own mock (is it well formed?) and against a stand-in with a state. */

const OPEN = {
  ask: 'open',
  session: 1,
  units: 144_000,
  currency: 'EUR',
  number: 'INV-026-0001',
  lang: 'zh-Hant',
  email: 'billing@acme.test',
  returnUrl: 'http://pages.test/i/token',
  account: 'demo',
} as const
const of = (key: string) => ({ invoice: 'inv-1', key })

const failure = async (run: () => Promise<unknown>): Promise<ProcessorError> => {
  const error = await run().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ProcessorError) return error
  throw new Error(`it did not fail, or otherwise: ${error}`)
}

spec("requests of the card processor's library", (t) => {
  let mock: Awaited<ReturnType<typeof startCardMock>>
  let processor: CardProcessor
  t.before(async () => {
    mock = await startCardMock()
    processor = makeCardProcessor({ secretKey: 'sk_test_123', apiBase: mock.url })
  })
  t.after(() => mock.end())

  t('for a refund and for the end of a session are well formed', async () => {
    const refund = await processor.refund(
      { ask: 'refund', part: 'cn-1.1', intent: 'pi_1', units: 500, account: 'demo' },
      of('key-1'),
    )
    assert.ok(refund.id.startsWith('re_') && refund.state === 'succeeded', JSON.stringify(refund))
    assert.is(await processor.end({ ask: 'end', session: 1, id: 'cs_1' }), 'expired')
    const ask = { ask: 'refund', part: 'cn-2.1', intent: 'pi_1', units: 500, account: 'demo' } as const
    assert.is(await processor.refunded(ask, { invoice: 'inv-1' }), null)
  })

  t('for a session are well formed in each language, with and without an address', async () => {
    for (const lang of ['en', 'es', 'zh-Hant', 'zh-Hans'] as const) {
      const made = await processor
        .open({ ...OPEN, lang, email: lang === 'en' ? null : OPEN.email }, of(lang))
        .catch((error) => {
          // the mock has no page to name; what it does not like it says otherwise
          assert.is(String(error.message), 'the session has no address')
          return null
        })
      assert.ok(made === null || made.units === OPEN.units)
    }
  })

  t('that are not well formed would be refused', async () => {
    const { message, temporary } = await failure(() => processor.open({ ...OPEN, units: 'many' as never }, of('bad')))
    assert.is(temporary, false, message)
  })
})

spec('the card processor', (t) => {
  let cards: Cards
  let processor: CardProcessor
  t.before(async () => {
    cards = await startCards(() => 'http://127.0.0.1:9')
    cards.isSilent = true
    processor = makeCardProcessor({ secretKey: SECRET_KEY, apiBase: cards.apiBase })
  })
  t.after(() => cards.end())

  t('makes one session per key, with what names the invoice', async () => {
    const [first, again, other] = [
      await processor.open(OPEN, of('once')),
      await processor.open(OPEN, of('once')),
      await processor.open(OPEN, of('twice')),
    ]
    assert.equal([first, first.id === other.id], [again, false])
    const session = cards.sessions.get(first.id)
    assert.equal(
      [session?.client_reference_id, session?.metadata, session?.amount_total, session?.currency],
      ['inv-1', { invoice_id: 'inv-1', account: 'demo', number: 'INV-026-0001' }, 144_000, 'eur'],
    )
    assert.equal([first.livemode, processor.livemode], [false, false])
    assert.is(makeCardProcessor({ secretKey: 'sk_live_x', apiBase: cards.apiBase }).livemode, true)
  })

  t('says of a session how it ended, when it cannot be ended any more', async () => {
    const { id } = await processor.open(OPEN, of('ends'))
    const end = () => processor.end({ ask: 'end', session: 1, id })
    assert.equal([await end(), await end()], ['expired', 'expired'])
    const paid = await processor.open(OPEN, of('paid'))
    await cards.pay(paid.id)
    assert.is(await processor.end({ ask: 'end', session: 1, id: paid.id }), 'complete')
    assert.is(await processor.end({ ask: 'end', session: 1, id: 'cs_nobody' }), 'missing')
  })

  const troubles: [string, { status: number; code: string }, { temporary: boolean; isUnknown: boolean }][] = [
    ['an outage', { status: 503, code: '' }, { temporary: true, isUnknown: true }],
    ['too many requests', { status: 429, code: 'rate_limit' }, { temporary: true, isUnknown: false }],
    ['a key that is refused', { status: 401, code: '' }, { temporary: true, isUnknown: false }],
    ['an empty balance', { status: 400, code: 'balance_insufficient' }, { temporary: true, isUnknown: false }],
    ['a request that is wrong', { status: 400, code: 'parameter_invalid' }, { temporary: false, isUnknown: false }],
  ]
  for (const [name, trouble, { temporary, isUnknown }] of troubles) {
    t(`tells of ${name} whether to try again, and not the key`, async () => {
      cards.trouble = { when: () => true, ...trouble }
      const error = await failure(() => processor.open(OPEN, of(name))).finally(() => {
        cards.trouble = null
      })
      assert.equal([error.temporary, error.isUnknown], [temporary, isUnknown])
      assert.not.match(error.message, /sk_/)
    })
  }

  t('that is not there may be there later', async () => {
    const nobody = makeCardProcessor({ secretKey: SECRET_KEY, apiBase: 'http://127.0.0.1:9' })
    const { temporary, isUnknown } = await failure(() => nobody.open(OPEN, of('x')))
    assert.equal([temporary, isUnknown], [true, true])
  })

  t('refunds no more than was paid', async () => {
    const paid = await processor.open(OPEN, of('refunds'))
    await cards.pay(paid.id)
    const intent = String(cards.sessions.get(paid.id)?.payment_intent)
    const refund = (part: string, units: number) =>
      processor.refund({ ask: 'refund', part, intent, units, account: 'demo' }, of(part))
    const [first, again] = [await refund('a', 100_000), await refund('a', 100_000)]
    assert.equal([first, first.state], [again, 'succeeded'])
    assert.is((await failure(() => refund('b', 44_001))).temporary, false)
    const seen = (part: string) =>
      processor.refunded({ ask: 'refund', part, intent, units: 1, account: 'demo' }, { invoice: 'inv-1' })
    assert.equal([await seen('a'), await seen('b')], [first, null], 'each is found by what it is a part of')
  })
})

spec('a signature of the card processor', (t) => {
  const payload = JSON.stringify({ id: 'evt_1', type: 'x' })
  const sign = (more: { secret?: string; timestamp?: number } = {}) =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET, ...more })
  const readEvent = makeCardEvents(WEBHOOK_SECRET)
  const seconds = () => Math.floor(Date.now() / 1000)

  t('opens the message that it is of', () => {
    assert.equal(readEvent(Buffer.from(payload), sign()), { id: 'evt_1', type: 'x' })
  })
  const bad: [string, () => unknown][] = [
    ['of another secret', () => readEvent(Buffer.from(payload), sign({ secret: 'whsec_other' }))],
    ['of another body', () => readEvent(Buffer.from(payload.replace('x', 'y')), sign())],
    ['older than 300 seconds', () => readEvent(Buffer.from(payload), sign({ timestamp: seconds() - 305 }))],
    ['that is missing', () => readEvent(Buffer.from(payload), undefined)],
    ['that is no signature', () => readEvent(Buffer.from(payload), 't=1,v1=zz')],
  ]
  for (const [name, read] of bad) {
    t(`${name} opens nothing`, () => assert.throws(read, (error: unknown) => error instanceof BadSignature))
  }
  t('within 300 seconds is good', () => {
    assert.ok(readEvent(Buffer.from(payload), sign({ timestamp: seconds() - 295 })))
  })
})

spec('the settings of card collection', (t) => {
  const base = { stripeApiBase: 'https://api.stripe.com' }
  t('are complete, or none', () => {
    assert.is(cardsOf({ ...base, stripeSecretKey: undefined, stripeWebhookSecret: undefined }), null)
    assert.throws(
      () => cardsOf({ ...base, stripeSecretKey: 'sk', stripeWebhookSecret: undefined }),
      (error: unknown) => error instanceof EnvError && /BOTTEGA_STRIPE_WEBHOOK_SECRET/.test(error.message),
    )
    assert.equal(cardsOf({ ...base, stripeSecretKey: 'sk', stripeWebhookSecret: 'wh' })?.secretKey, 'sk')
  })
  t('say where the checkout is', () => {
    assert.is(checkoutOriginOf('https://api.stripe.com'), 'https://checkout.stripe.com')
    assert.is(checkoutOriginOf('http://127.0.0.1:5/x'), 'http://127.0.0.1:5')
  })
})
