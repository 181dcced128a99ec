import {
  freePrefix,
  type IssuerRow,
  issuerFor,
  issuerOf,
  viewIssuer,
  yearOf,
} from '../../../crds/invoice/order/issuer.ts'
import { profileFaults } from '../../../crds/invoice/order/profile.ts'
import { planInvoice } from '../../../crds/invoice/plan.ts'
import { invoiceResource, issuer, world } from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const owner = { name: 'Demo Studio', email: 'owner@demo.test' }
const LOGO = { sha256: 'ab'.repeat(32), width: 64, height: 32 }
const held = (changes: object = {}) => ({ profile: { numberPrefix: 'ACME' }, logo: LOGO, archived: false, ...changes })
const row = (changes: Partial<IssuerRow> = {}): IssuerRow => ({
  id: 'iss-2',
  profile: { legalName: 'ACME SL', numberPrefix: 'ACME', city: 'Lugo' },
  logo: LOGO,
  upload: null,
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
  archivedAt: null,
  ...changes,
})

spec('an issuer', (t) => {
  t('takes from the account what its profile leaves open', () => {
    const plain = issuerOf(owner, { id: 'iss-default', profile: {}, logo: null })
    assert.equal(
      [plain.legalName, plain.email, plain.timeZone, plain.numberPrefix],
      ['Demo Studio', 'owner@demo.test', 'UTC', 'INV'],
    )
    assert.is(issuerOf({ ...owner, name: '' }, { id: 'iss-default', profile: {}, logo: null }).legalName, owner.email)
  })

  const lookUps: [what: string, id: string, found: ReturnType<typeof held> | null, numbered: boolean, is: boolean][] = [
    ['the default one before it was ever written', 'iss-default', null, false, true],
    ['another that the account has', 'iss-2', held(), false, true],
    ['none that the account has not', 'iss-2', null, false, false],
    ['none that the account has not, whatever was numbered', 'iss-2', null, true, false],
    ['no archived one for what has no number', 'iss-2', held({ archived: true }), false, false],
    ['an archived one for what has its number', 'iss-2', held({ archived: true }), true, true],
  ]
  for (const [what, id, found, numbered, is] of lookUps) {
    t(`is found: ${what}`, () => assert.is(issuerFor(owner, id, found, numbered) !== null, is))
  }

  t('shows over REST every field, null for what is not given, and the next number', () => {
    const view = viewIssuer(owner, row(), 41)
    assert.equal(
      [view.legal_name, view.city, view.tax_id, view.number_prefix, view.next_number, view.is_default, view.archived],
      ['ACME SL', 'Lugo', null, 'ACME', 42, false, false],
    )
    assert.is(viewIssuer(owner, row(), undefined).next_number, 1)
    assert.equal(viewIssuer(owner, row(), 1).logo, LOGO)
  })
  t('tells of an upload until it is the logo', () => {
    const upload = (state: 'pending' | 'taken' | 'refused', reason: string | null = null) =>
      viewIssuer(owner, row({ upload: { state, reason } }), 0).logo_upload
    assert.equal(upload('pending'), { state: 'pending', reason: null })
    assert.equal(upload('refused', 'moves'), { state: 'refused', reason: 'moves' })
    assert.is(upload('taken'), null)
  })
  t('is given the first prefix that is free', () => {
    assert.is(freePrefix(['INV']), 'INV2')
    assert.is(freePrefix(['INV', 'INV2', 'INV4']), 'INV3')
  })

  t('numbers in the year of its own zone: at one instant two issuers are in two years', () => {
    const at = new Date('2026-12-31T20:00:00Z')
    const ref = { account: 'demo', id: 'iss-2' }
    assert.equal(yearOf(ref, 'Asia/Tokyo', at), {
      series: ['demo/iss-2/invoice/2027', 'demo/iss-2/credit_note/2027'],
      infix: '-027-',
    })
    assert.equal(yearOf(ref, 'America/Los_Angeles', at).infix, '-026-')
    const seriesIn = (timeZone: string) => {
      const mine = issuer({ id: 'iss-2', numberPrefix: 'ACME', timeZone })
      const [step] = planInvoice(invoiceResource({ issuerId: 'iss-2' }), world({ issuer: mine }), at).steps
      return step?.do === 'claimNumber' ? step.series : null
    }
    assert.equal(seriesIn('Asia/Tokyo'), { id: 'demo/iss-2/invoice/2027', prefix: 'ACME', year: 2027 })
    assert.equal(seriesIn('America/Los_Angeles'), { id: 'demo/iss-2/invoice/2026', prefix: 'ACME', year: 2026 })
  })
  t('of two zones that never share a clock turns the year at its own midnight, to the millisecond', () => {
    const ref = { account: 'demo', id: 'iss-2' }
    for (const [zone, midnight] of [
      ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z'],
      ['Pacific/Pago_Pago', '2027-01-01T11:00:00.000Z'],
      ['Asia/Kathmandu', '2026-12-31T18:15:00.000Z'],
    ] as const) {
      assert.is(yearOf(ref, zone, new Date(Date.parse(midnight) - 1)).infix, '-026-', zone)
      assert.is(yearOf(ref, zone, new Date(midnight)).infix, '-027-', zone)
    }
  })
})

spec('a profile', (t) => {
  const codes = (given: Parameters<typeof profileFaults>[0]) =>
    profileFaults(given).map(({ code, pointer }) => `${code} ${pointer}`)
  t('reserves the prefixes of test invoices and credit notes', () => {
    for (const numberPrefix of ['TEST', 'CN', 'CNINV', 'CNTEST']) {
      assert.equal(codes({ numberPrefix }), ['BAD_PREFIX /numberPrefix'], numberPrefix)
    }
    for (const numberPrefix of ['TESTS', 'TEST2', 'C', 'ACN', 'INV']) assert.equal(codes({ numberPrefix }), [])
  })
  t('knows an IBAN by its check digits', () => {
    for (const iban of [
      'ES9121000418450200051332',
      'DE89370400440532013000',
      'NO9386011117947',
      'MT84MALT011000012345MTLCAST001S',
    ]) {
      assert.equal(codes({ iban }), [], iban)
    }
    for (const iban of ['ES9221000418450200051332', 'DE89370400440532013001', 'DE8937040044053201300']) {
      assert.equal(codes({ iban }), ['INVALID_FIELD /iban'], iban)
    }
  })
  t('has a time zone of the list, and no fault in what is taken away', () => {
    assert.equal(codes({ timeZone: 'Mars/Base' }), ['INVALID_FIELD /timeZone'])
    assert.equal(codes({ timeZone: null, iban: null, numberPrefix: null }), [])
  })
})
