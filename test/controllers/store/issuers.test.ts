/** Issuers in PostgreSQL: prefixes, where a register begins, and numbers that are given meanwhile. */
import {
  type IssuerChange,
  type IssuerRef,
  type Issuers,
  type IssuerYear,
  makeIssuers,
} from '../../../controllers/store/invoice/issuers.ts'
import { makeLogos } from '../../../controllers/store/invoice/logos.ts'
import { DatabaseRefused } from '../../../controllers/store/pg/pg.ts'
import { ISSUERS_MAX } from '../../../crds/invoice/order/issuer.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { aClaim, type Leader, type LedgerStage, makeLedgerStage, upTo } from '../../support/stage/ledger.ts'

const AT = '2026-11-21T12:00:00.000Z'
const ref = (id: string, account = 'demo'): IssuerRef => ({ account, id })
const yearFor = ({ account, id }: IssuerRef, year = 2026): IssuerYear => ({
  series: [`${account}/${id}/invoice/${year}`, `${account}/${id}/credit_note/${year}`],
  infix: `-${String(year % 1000).padStart(3, '0')}-`,
})
const DEFAULT = ref('iss-default')
const ACME = ref('iss-acme')

spec('issuers', (t) => {
  let stage: LedgerStage
  let leader: Leader
  let issuers: Issuers
  t.before.each(async () => {
    stage = await makeLedgerStage()
    leader = await stage.lead()
    issuers = makeIssuers(leader)
  })
  t.after.each(() => stage.end())

  const create = (of: IssuerRef, numberPrefix: string, nextNumber?: number) =>
    issuers.create(of, { profile: { numberPrefix }, nextNumber, year: yearFor(of) })
  const change = (of: IssuerRef, changes: Partial<IssuerChange>, year = 2026) =>
    issuers.change(of, {
      profile: {},
      archived: undefined,
      nextNumber: undefined,
      year: yearFor(of, year),
      at: AT,
      ...changes,
    })
  const claim = (name: string | number, of: IssuerRef, prefix: string, { year = 2026, credit = false } = {}) => {
    const { series, infix } = yearFor(of, year)
    const id = series[credit ? 1 : 0] ?? ''
    const kind = credit ? ('credit_note' as const) : ('invoice' as const)
    return leader.ledger.claimNumber(
      aClaim(name, { kind, series: { id, account: of.account, prefix: `${prefix}${infix}` } }),
    )
  }
  const prefixOf = async (of: IssuerRef) => (await issuers.get(of))?.profile.numberPrefix

  t('an account has its default one, and no other, before anything was written', async () => {
    const [only, ...rest] = await issuers.list('demo')
    assert.equal([only?.id, only?.profile, only?.logo, rest], ['iss-default', {}, null, []])
    assert.is(await issuers.get(ACME), null)
  })

  t('a repeat under the same id is the same issuer', async () => {
    assert.is(await create(ACME, 'ACME'), null)
    assert.is(await create(ACME, 'ACME'), null)
    assert.is((await issuers.list('demo')).length, 2)
    assert.is(await issuers.get(ref('iss-acme', 'other')), null)
  })

  t('one prefix twice in an account is refused, also that of the default one and of an archived one', async () => {
    assert.is(await create(ACME, 'INV'), 'PREFIX_TAKEN')
    assert.is(await create(ACME, 'ACME'), null)
    assert.is(await create(ref('iss-b'), 'ACME'), 'PREFIX_TAKEN')
    assert.is(await change(DEFAULT, { profile: { numberPrefix: 'ACME' } }), 'PREFIX_TAKEN')
    assert.is(await change(ACME, { archived: true }), null)
    assert.is(await create(ref('iss-b'), 'ACME'), 'PREFIX_TAKEN')
    assert.is(await create(ref('iss-b', 'other'), 'ACME'), null)
  })

  t('twenty at once with one prefix: one has it', async () => {
    const outcomes = await Promise.all(upTo(20).map((n) => create(ref(`iss-${n}`), 'ACME')))
    assert.equal(outcomes.filter((one) => one === null).length, 1)
    assert.equal(outcomes.filter((one) => one === 'PREFIX_TAKEN').length, 19)
  })

  t('the first issuers of an account that come at once are all made, whichever writes the default one', async () => {
    const ones = Array.from({ length: 6 }, (_, n) => n)
    for (let n = 0; n < 60; n++) {
      const refused = await Promise.all(ones.map((one) => create(ref(`iss-${one}`, `new-${n}`), `P${one}`)))
      assert.equal([...new Set(refused)], [null], `new-${n}`)
    }
  })

  t('an account has so many and no more, however many ask at once', async () => {
    await create(ACME, 'ACME')
    await stage.sql(`insert into issuers (account, id, profile)
      select 'demo', 'iss-' || n, json_build_object('numberPrefix', 'P' || n) from generate_series(3, ${ISSUERS_MAX - 2}) n`)
    const outcomes = await Promise.all(upTo(6).map((n) => create(ref(`iss-last-${n}`), `L${n}`)))
    assert.equal(outcomes.filter((one) => one === null).length, 2)
    assert.equal(outcomes.filter((one) => one === 'ISSUER_LIMIT').length, 4)
    assert.is((await issuers.list('demo')).length, ISSUERS_MAX)
  })

  t('a prefix is changed until a number of the year was given, and again in the next year', async () => {
    await create(ACME, 'ACME')
    assert.is(await change(ACME, { profile: { numberPrefix: 'ACM' } }), null)
    await claim('a', ACME, 'ACM')
    assert.is(await change(ACME, { profile: { numberPrefix: 'ACME' } }), 'PREFIX_IN_USE')
    assert.is(await change(ACME, { profile: { numberPrefix: 'ACM', footer: 'x' } }), null)
    assert.is(await change(ACME, { profile: { numberPrefix: 'ACME' } }, 2027), null)
    assert.is(await prefixOf(ACME), 'ACME')
  })
  t('a credit note counts as a number of the year', async () => {
    await create(ACME, 'ACME')
    await claim('a', ACME, 'CNACME', { credit: true })
    assert.is(await change(ACME, { profile: { numberPrefix: 'ACM' } }), 'PREFIX_IN_USE')
  })

  t('a series that has begun keeps its prefix, whatever a late claim says', async () => {
    await create(ACME, 'ACME')
    assert.is((await claim('a', ACME, 'ACME')).number, 'ACME-026-0001')
    assert.is((await claim('b', ACME, 'LATE')).number, 'ACME-026-0002')
  })
  t('no number is ever given twice: a prefix that numbered somebody else is refused at the claim', async () => {
    await create(ACME, 'ACME')
    await claim('a', ACME, 'ACME')
    const theft = await claim('b', ref('iss-b'), 'ACME').catch((error) => error)
    assert.ok(theft instanceof DatabaseRefused)
    assert.is(theft.constraint, 'series_prefix_once')
    assert.is((await claim('c', ACME, 'ACME')).seq, 2)
  })

  t('a register begins at the next number that was set, without a hole, and verifies', async () => {
    assert.is(await create(ACME, 'ACME', 501), null)
    const claimed = await Promise.all(upTo(60).map((n) => claim(n, ACME, 'ACME')))
    assert.equal(
      claimed.map(({ seq }) => seq).sort((a, b) => a - b),
      upTo(60).map((n) => n + 500),
    )
    assert.is(claimed.find(({ seq }) => seq === 501)?.number, 'ACME-026-0501')
    const id = yearFor(ACME).series[0] ?? ''
    const found = await leader.ledger.verify(id)
    assert.equal([found?.ok, found?.count, found?.last], [true, 60, 560])
  })
  t('a register that was moved and not begun verifies too', async () => {
    await create(ACME, 'ACME', 501)
    const found = await leader.ledger.verify(yearFor(ACME).series[0] ?? '')
    assert.equal([found?.ok, found?.count, found?.last], [true, 0, 500])
  })
  t('a missing first entry of a moved register shows, also when its beginning is moved with it', async () => {
    await create(ACME, 'ACME', 501)
    for (const n of [1, 2, 3]) await claim(n, ACME, 'ACME')
    await stage.sql('alter table register disable trigger all; delete from register where seq = 501')
    const id = yearFor(ACME).series[0] ?? ''
    assert.is((await leader.ledger.verify(id))?.ok, false)
    await stage.sql('update series set first_seq = 502')
    const found = await leader.ledger.verify(id)
    assert.equal([found?.ok, found?.firstBad], [false, 502])
  })

  t('the next number goes forward only, and not at all once the register has begun', async () => {
    await create(ACME, 'ACME', 10)
    assert.is(await change(ACME, { nextNumber: 10 }), null)
    assert.is(await change(ACME, { nextNumber: 9 }), 'NEXT_NUMBER_FIXED')
    assert.is(await change(ACME, { nextNumber: 20 }), null)
    assert.is((await claim('a', ACME, 'ACME')).seq, 20)
    assert.is(await change(ACME, { nextNumber: 30 }), 'NEXT_NUMBER_FIXED')
    assert.is(await change(ACME, { nextNumber: 21 }), null)
    assert.is((await claim('b', ACME, 'ACME')).seq, 21)
  })
  t('a refused change changes nothing', async () => {
    await create(ACME, 'ACME')
    await claim('a', ACME, 'ACME')
    assert.is(await change(ACME, { profile: { footer: 'x' }, nextNumber: 30 }), 'NEXT_NUMBER_FIXED')
    assert.is(await change(ACME, { profile: { footer: 'x', numberPrefix: 'INV' } }), 'PREFIX_IN_USE')
    assert.equal((await issuers.get(ACME))?.profile, { numberPrefix: 'ACME' })
  })
  t('the next number and a new prefix may come together, before the first number', async () => {
    await create(ACME, 'ACME', 7)
    assert.is(await change(ACME, { profile: { numberPrefix: 'NEW' }, nextNumber: 70 }), null)
    assert.is(await create(ref('iss-b'), 'ACME', 3), null)
    assert.is((await claim('a', ACME, 'NEW')).number, 'NEW-026-0070')
    assert.is((await claim('b', ref('iss-b'), 'ACME')).number, 'ACME-026-0003')
  })

  t('while numbers are claimed, moves and new prefixes fall before the first or not at all', async () => {
    await create(ACME, 'ACME')
    const claims = upTo(80).map((n) => claim(n, ACME, 'ACME'))
    const moves = upTo(20).map((n) => change(ACME, { nextNumber: 100 + n }))
    const names = upTo(20).map((n) => change(ACME, { profile: { numberPrefix: `N${n}` } }))
    const [claimed] = await Promise.all([Promise.all(claims), Promise.all(moves), Promise.all(names)])
    const seqs = claimed.map(({ seq }) => seq).sort((a, b) => a - b)
    assert.equal(
      seqs,
      upTo(80).map((n) => n + (seqs[0] ?? 0) - 1),
    )
    assert.is(new Set(claimed.map(({ number }) => number.split('-')[0])).size, 1)
    const found = await leader.ledger.verify(yearFor(ACME).series[0] ?? '')
    assert.equal([found?.ok, found?.count], [true, 80])
  })

  t('two issuers number side by side, each 1..n under its own prefix', async () => {
    await create(ACME, 'ACME')
    const claimed = await Promise.all(
      upTo(120).map((n) => (n % 2 === 0 ? claim(n, ACME, 'ACME') : claim(n, DEFAULT, 'INV'))),
    )
    for (const [prefix, of] of [
      ['ACME', ACME],
      ['INV', DEFAULT],
    ] as const) {
      const own = claimed.filter(({ number }) => number.startsWith(`${prefix}-026-`)).map(({ seq }) => seq)
      assert.equal(
        own.sort((a, b) => a - b),
        upTo(60),
      )
      assert.is((await leader.ledger.verify(yearFor(of).series[0] ?? ''))?.ok, true)
    }
  })

  t('the verdict over a logo falls once, and a later one takes the place of an earlier', async () => {
    await create(ACME, 'ACME')
    const logos = makeLogos({ pg: leader.pg, epoch: () => leader.epoch })
    const asked = [await issuers.askLogo(ACME, 'aa', AT), await issuers.askLogo(ACME, 'bb', AT)]
    const [first = 0, second = 0] = asked
    assert.equal(
      (await logos.of('demo')).open.map(({ source }) => source),
      ['aa', 'bb'],
    )
    assert.equal([await logos.begin(first), await logos.begin(first)], [1, 2])
    const logo = { sha256: 'cc', width: 9, height: 9 }
    await logos.settle(first, { logo })
    await logos.settle(first, { reason: 'too late' })
    assert.equal((await issuers.get(ACME))?.logo, logo)
    assert.is(await logos.begin(first), null)
    await logos.settle(second, { reason: 'moves' })
    assert.equal(await logos.of('demo'), { open: [], factSeq: second })
    const held = await issuers.get(ACME)
    assert.equal([held?.logo, held?.upload], [logo, { state: 'refused', reason: 'moves' }])
    assert.is(await issuers.logoAsked(first), null)
    const third = await issuers.askLogo(ACME, 'dd', AT)
    await issuers.dropLogo(ACME, AT)
    assert.is((await issuers.get(ACME))?.logo, null)
    assert.is((await issuers.logoAsked(third))?.state, 'refused')
    await logos.settle(third, { logo })
    assert.is((await issuers.get(ACME))?.logo, null)
  })
})
