/** The judge of deliveries that a receiver refused: every mistake under its own code, and nothing else is blamed. */
import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { compileCheck } from '../../../api/http/validate.ts'
import { FINDINGS, type FindingCode, type Part } from '../../../crds/webhook/findings.ts'
import { eventIdsOf } from '../../../crds/webhook/received.ts'
import type { KnownEndpoint } from '../../../crds/webhook/secretfault.ts'
import { secretOf, signatureHeaders } from '../../../crds/webhook/signature.ts'
import { judge, type KnownSecret, type Received } from '../../../crds/webhook/verify.ts'
import { verifyAnswer, verifyBody } from '../../../crds/webhook/verifyanswer.ts'
import { workOf } from '../../support/judges/work.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const secretNamed = (name: string) => secretOf(createHash('sha256').update(name).digest())
const AT = new Date('2026-11-22T12:00:00.000Z')
const T = Math.floor(AT.getTime() / 1000)
const ID = `evt_${'0123456789abcdef'.repeat(2)}`
const BODY = JSON.stringify({
  id: ID,
  type: 'invoice.sent',
  created_at: '2026-11-22T11:59:59.000Z',
  sequence: 41,
  test: false,
  data: {
    invoice: { id: 'inv-1', total_cents: 144000, metadata: { note: 'Café – 100% + tax 日本 ’', path: 'a%20b' } },
  },
})
const OTHER_BODY = BODY.replace(ID, `evt_${'f'.repeat(32)}`).replace('"sequence":41', '"sequence":42')

const [SECRET, OLD, LAPSED, THEIRS] = ['shop', 'shop, rotated', 'books, lapsed', 'books'].map(secretNamed) as [
  string,
  string,
  string,
  string,
]
const SHOP = { name: 'https://shop.test/hooks', secret: SECRET }
const ENDPOINTS: readonly KnownEndpoint[] = [
  { ...SHOP, previous: { secret: OLD, until: '2026-11-21T12:00:00.000Z' } },
  { name: 'https://books.test/in', secret: THEIRS, previous: { secret: LAPSED, until: '2026-11-01T00:00:00.000Z' } },
]
const KNOWN: KnownSecret = { now: AT, event: { id: ID, body: BODY }, endpoints: ENDPOINTS }
const STRANGE = secretNamed('strange')

type Headers = Record<string, string>
const headersOf = (secrets: readonly string[] = [SECRET], at = AT, body = BODY): Headers =>
  signatureHeaders({ secrets, id: ID, body, at })
const good: Received = { body: BODY, headers: headersOf(), secret: SECRET, received_at: AT.toISOString() }
const changed = (header: string, change: (value: string) => string): Received => ({
  ...good,
  headers: { ...good.headers, [header]: change(good.headers[header] ?? '') },
})
const serviceOnly = (received: Received): Received => ({
  ...received,
  headers: Object.fromEntries(Object.entries(received.headers).filter(([name]) => name === 'x-service-signature')),
})
const standardOnly = (received: Received): Received => ({
  ...received,
  headers: Object.fromEntries(Object.entries(received.headers).filter(([name]) => name !== 'x-service-signature')),
})

const codesOf = (received: Received, known = KNOWN): FindingCode[] =>
  judge(received, known).findings.map((one) => one.code)
const bytesOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64')
const hmac = (key: string | Buffer, text: string, form: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(form)
const SERVICE = 'x-service-signature'
const STANDARD = 'webhook-signature'
const v1 = good.headers[SERVICE]?.slice(-64) ?? ''

const ofMilliseconds = (): Headers => {
  const t = String(AT.getTime())
  return {
    [SERVICE]: `t=${t},v1=${hmac(SECRET, `${t}.${BODY}`, 'hex')}`,
    'webhook-id': ID,
    'webhook-timestamp': t,
    [STANDARD]: `v1,${hmac(bytesOf(SECRET), `${ID}.${t}.${BODY}`, 'base64')}`,
  }
}

const HEADER_CASES: [FindingCode, Received][] = [
  ['SIGNATURE_MISSING', { ...good, headers: { 'content-type': 'application/json', 'webhook-id': ID } }],
  ['SERVICE_HEADER_MALFORMED', changed(SERVICE, (value) => value.replace('v1=', 'v1'))],
  ['SERVICE_HEADER_HAS_BLANKS', changed(SERVICE, (value) => value.replace(',', ', '))],
  ['T_MISSING', changed(SERVICE, () => `v1=${v1}`)],
  ['T_NOT_A_NUMBER', changed(SERVICE, () => `t=2026-11-22T12:00:00Z,v1=${v1}`)],
  ['V1_MISSING', changed(SERVICE, () => `t=${T}`)],
  ['V1_MISSING', changed(SERVICE, (value) => value.replace('v1=', 'v2='))],
  ['V1_WRONG_CASE', changed(SERVICE, (value) => value.replace('v1=', 'V1='))],
  ['V1_NOT_HEX', changed(SERVICE, () => `t=${T},v1=${good.headers[STANDARD]?.slice(3)}`)],
  ['V1_NOT_HEX', changed(SERVICE, () => `t=${T},v1=new,v1=old`)],
  ['V1_UPPERCASE_HEX', changed(SERVICE, () => `t=${T},v1=${v1.toUpperCase()}`)],
  ['V1_WRONG_LENGTH', changed(SERVICE, (value) => value.slice(0, -4))],
  ['WEBHOOK_ID_MISSING', changed('webhook-id', () => '')],
  ['WEBHOOK_TIMESTAMP_MISSING', changed('webhook-timestamp', () => '')],
  ['WEBHOOK_TIMESTAMP_NOT_A_NUMBER', changed('webhook-timestamp', () => 'Sun, 22 Nov 2026 12:00:00 GMT')],
  ['WEBHOOK_SIGNATURE_MALFORMED', changed(STANDARD, (value) => value.slice(3))],
  ['WEBHOOK_V1_MISSING', changed(STANDARD, (value) => value.replace('v1,', 'v1a,'))],
  ['WEBHOOK_V1_WRONG_CASE', changed(STANDARD, (value) => value.replace('v1,', 'V1,'))],
  ['WEBHOOK_V1_NOT_BASE64', changed(STANDARD, (value) => `${value.slice(0, -3)}_-=`)],
  ['WEBHOOK_V1_WRONG_LENGTH', changed(STANDARD, (value) => value.slice(0, -1))],
  ['TIMESTAMP_CHANGED', changed(SERVICE, (value) => value.replace(String(T), String(T - 1)))],
  ['TIMESTAMP_CHANGED', changed('webhook-timestamp', () => String(T - 86_400))],
  ['WEBHOOK_ID_CHANGED', changed('webhook-id', () => 'req-81')],
  ['WEBHOOK_ID_CHANGED', standardOnly(changed('webhook-id', () => 'req-81'))],
  ['SIGNATURE_CHANGED', serviceOnly(changed(SERVICE, () => `t=${T - 86_400},v1=${v1}`))],
  ['SIGNATURE_CHANGED', changed(SERVICE, () => `t=${T},v1=${'0'.repeat(64)}`)],
  ['SIGNATURE_CHANGED', serviceOnly(changed(SERVICE, () => `t=${T},v1=${'0'.repeat(64)}`))],
]

const withSecret = (secret: string): Received => ({ ...good, secret })
/** Good for whoever has that secret, and not ours. */
const strangers = headersOf([STRANGE])
/** Signed by nothing that is known any more. */
const forgotten = serviceOnly({ ...good, headers: headersOf([secretNamed('forgotten')]) })
const SECRET_CASES: [FindingCode, Received][] = [
  ['SECRET_DECODED', withSecret(bytesOf(SECRET).toString('latin1'))],
  ['SECRET_DECODED', withSecret(bytesOf(SECRET).toString('utf8'))],
  ['SECRET_DECODED', withSecret(bytesOf(SECRET).toString('hex'))],
  ['SECRET_ENCODED', withSecret(Buffer.from(SECRET).toString('base64'))],
  ['SECRET_ENCODED', withSecret(`whsec_${Buffer.from(`${SECRET}\n`).toString('base64')}`)],
  ['KEY_DECODED', changed(SERVICE, () => `t=${T},v1=${hmac(bytesOf(SECRET), `${T}.${BODY}`, 'hex')}`)],
  ['KEY_DECODED', serviceOnly(changed(SERVICE, () => `t=${T},v1=${hmac(bytesOf(SECRET), `${T}.${BODY}`, 'hex')}`))],
  ['KEY_NOT_DECODED', changed(STANDARD, () => `v1,${hmac(SECRET, `${ID}.${T}.${BODY}`, 'base64')}`)],
  ['SECRET_HAS_BLANKS', withSecret(`${SECRET}\n`)],
  ['SECRET_HAS_BLANKS', withSecret(` ${SECRET}`)],
  ['SECRET_HAS_BLANKS', withSecret(`${SECRET.slice(0, 20)}\r\n${SECRET.slice(20)}`)],
  ['SECRET_QUOTED', withSecret(`"${SECRET}"`)],
  ['SECRET_WITHOUT_PREFIX', withSecret(SECRET.slice('whsec_'.length))],
  ['SECRET_OTHER_ALPHABET', withSecret(SECRET.replace('=', ''))],
  ['SECRET_WRONG_CASE', withSecret(SECRET.toLowerCase())],
  ['SECRET_OF_ANOTHER_ENDPOINT', withSecret(THEIRS)],
  ['SECRET_ROTATED', withSecret(OLD)],
  ['SECRET_ROTATED', { ...forgotten, secret: OLD }],
  ['SECRET_TOO_NEW', { ...good, headers: headersOf([OLD]) }],
  ['SECRET_MALFORMED', withSecret(SECRET.slice(0, -7))],
  ['SECRET_UNKNOWN', withSecret(STRANGE)],
  ['SECRET_UNKNOWN', { ...forgotten, secret: STRANGE }],
  ['SECRET_UNKNOWN', standardOnly(withSecret(STRANGE.slice('whsec_'.length)))],
  ['SECRET_UNKNOWN', { ...good, secret: STRANGE, headers: strangers }],
]

const withBody = (body: string): Received => ({ ...good, body })
const BODY_CASES: [FindingCode, Received][] = [
  ['BODY_EMPTY', withBody('')],
  ['BODY_OBJECT_TEXT', withBody('[object Object]')],
  ['BODY_BOM', withBody(`\ufeff${BODY}`)],
  ['BODY_TRAILING_NEWLINE', withBody(`${BODY}\n`)],
  ['BODY_TRAILING_NEWLINE', withBody(`${BODY}\r\n`)],
  ['BODY_ENCODED_TWICE', withBody(JSON.stringify(BODY))],
  ['BODY_REFORMATTED', withBody(JSON.stringify(JSON.parse(BODY), null, 2))],
  ['BODY_REFORMATTED', withBody(BODY.replaceAll('":', '": '))],
  ['BODY_REFORMATTED', withBody(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(BODY)).reverse())))],
  ['BODY_REFORMATTED', withBody(BODY.replace('é', '\\u00e9'))],
  ['BODY_CHARSET', withBody(Buffer.from(BODY).toString('latin1'))],
  ['BODY_CHARSET', withBody(new TextDecoder('windows-1252').decode(Buffer.from(BODY)))],
  ['BODY_CHARSET', withBody(BODY.replace(/\P{ASCII}/gu, '?'))],
  ['BODY_CHARSET', withBody(Buffer.from(BODY, 'latin1').toString('utf8'))],
  ['BODY_CHARSET', withBody(Buffer.from(BODY).toString('ascii'))],
  ['BODY_URL_DECODED', withBody(BODY.replaceAll('+', ' '))],
  ['BODY_URL_ENCODED', withBody(encodeURIComponent(BODY))],
  ['BODY_URL_ENCODED', withBody(encodeURI(BODY))],
  ['BODY_URL_ENCODED', withBody(new URLSearchParams([[BODY, '']]).toString().slice(0, -1))],
  ['BODY_TRUNCATED', withBody(BODY.slice(0, 100))],
  ['BODY_OF_ANOTHER_EVENT', withBody(OTHER_BODY)],
  ['BODY_CHANGED', withBody(BODY.replace('144000', '144001'))],
  ['BODY_CHANGED', withBody(BODY.replace('cdef"', 'cdee"'))],
]

const movedTo = (seconds: number): Received => ({
  ...good,
  headers: headersOf([SECRET], new Date(AT.getTime() + seconds * 1000)),
})
const CLOCK_CASES: [FindingCode, Received][] = [
  ['TIMESTAMP_TOO_OLD', movedTo(-301)],
  ['TIMESTAMP_TOO_OLD', serviceOnly(movedTo(-86_400))],
  ['TIMESTAMP_IN_FUTURE', movedTo(301)],
  ['TIMESTAMP_IN_FUTURE', standardOnly(movedTo(90_000))],
  ['T_IN_MILLISECONDS', { ...good, headers: ofMilliseconds() }],
  ['T_IN_MILLISECONDS', changed(SERVICE, (value) => value.replace(String(T), String(AT.getTime())))],
]

const CASES = { header: HEADER_CASES, secret: SECRET_CASES, body: BODY_CASES, clock: CLOCK_CASES }
/** These need an event that nobody has. */
const TESTED_APART: FindingCode[] = ['BODY_OR_HEADER_CHANGED']
const fitsAnswer = compileCheck(verifyAnswer)

spec('the judge of a delivery', (t) => {
  t('finds nothing wrong with what was sent, in either scheme or both', () => {
    for (const received of [good, serviceOnly(good), standardOnly(good), movedTo(-300), movedTo(300)]) {
      const { valid, findings, schemes } = judge(received, KNOWN)
      assert.equal([valid, findings], [true, []])
      assert.equal(schemes.service, { present: SERVICE in received.headers, valid: SERVICE in received.headers })
      assert.equal(schemes.standard, { present: STANDARD in received.headers, valid: STANDARD in received.headers })
    }
  })

  t('takes headers in any case, and each secret while both sign', () => {
    const loud = Object.fromEntries(Object.entries(good.headers).map(([name, value]) => [name.toUpperCase(), value]))
    assert.equal(codesOf({ ...good, headers: loud }), [])
    const both = headersOf([SECRET, OLD])
    for (const secret of [SECRET, OLD]) assert.equal(codesOf({ ...good, headers: both, secret }), [])
  })

  t('takes a delivery of before the rotation with the secret of then', () => {
    const then = new Date('2026-11-20T12:00:00.000Z')
    const received = { body: BODY, headers: headersOf([OLD], then), secret: OLD, received_at: then.toISOString() }
    assert.equal(codesOf(received), [])
  })

  t('takes a secret without its prefix where only Standard Webhooks is used, whose libraries do', () => {
    assert.equal(codesOf(standardOnly(withSecret(SECRET.slice('whsec_'.length)))), [])
  })

  for (const [part, cases] of Object.entries(CASES)) {
    for (const [at, [code, received]] of cases.entries()) {
      t(`blames the ${part} alone, as ${code} (${at})`, () => {
        const verdict = judge(received, KNOWN)
        assert.equal(
          verdict.findings.map((one) => [one.part, one.code]),
          [[part, code]],
        )
        assert.is(verdict.valid, false)
        const refused = Object.values(verdict.schemes).some(({ present, valid }) => present && !valid)
        assert.is(refused, code !== 'SIGNATURE_MISSING' && received.headers !== strangers)
        assert.equal(fitsAnswer(verdict), [])
      })
    }
  }

  t('has a case for every fault it knows', () => {
    const cased = [...Object.values(CASES).flatMap((cases) => cases.map(([code]) => code)), ...TESTED_APART]
    assert.equal(new Set(cased), new Set(Object.keys(FINDINGS)))
  })

  const unknown: KnownSecret = { ...KNOWN, event: null }
  const REPAIRED: FindingCode[] = [
    'BODY_BOM',
    'BODY_TRAILING_NEWLINE',
    'BODY_ENCODED_TWICE',
    'BODY_REFORMATTED',
    'BODY_URL_ENCODED',
  ]
  t('tells what was done to the body of an event that it does not know, where that can be undone', () => {
    const undone = BODY_CASES.filter(([code, { body }]) => REPAIRED.includes(code) && !body.includes('\\u00e9'))
    for (const [code, received] of undone.filter(([, { body }]) => !body.startsWith('{"data"'))) {
      assert.equal(codesOf(serviceOnly(received), unknown), [code])
    }
    const [latin1] = BODY_CASES.filter(([code]) => code === 'BODY_CHARSET')
    assert.equal(codesOf(serviceOnly(latin1?.[1] ?? good), unknown), ['BODY_CHARSET'])
  })

  t('tells what was done to a secret whose endpoint it does not know any more', () => {
    const gone: KnownSecret = { ...KNOWN, endpoints: [] }
    const told = SECRET_CASES.filter(([code]) =>
      /^SECRET_(HAS_BLANKS|QUOTED|WITHOUT_PREFIX|OTHER_ALPHABET|ENCODED)$/.test(code),
    )
    for (const [code, received] of told) assert.equal(codesOf(received, gone), [code])
    for (const form of ['latin1', 'hex'] as const) {
      assert.equal(codesOf(withSecret(bytesOf(SECRET).toString(form)), gone), ['SECRET_DECODED'])
    }
    assert.equal(codesOf(good, gone), ['SECRET_UNKNOWN'])
  })

  t('says what it cannot tell apart: a body that it does not know, or a header', () => {
    for (const received of [
      withBody(BODY.replace('144000', '1')),
      changed(SERVICE, () => `t=${T},v1=${'0'.repeat(64)}`),
    ]) {
      assert.equal(codesOf(serviceOnly(received), unknown), ['BODY_OR_HEADER_CHANGED'])
    }
  })

  t('names every fault when there are several, the closest first', () => {
    const received = { ...movedTo(-4_000), secret: `${THEIRS}\n`, body: BODY.replace('144000', '1') }
    assert.equal(codesOf(received), [
      'SECRET_HAS_BLANKS',
      'SECRET_OF_ANOTHER_ENDPOINT',
      'TIMESTAMP_TOO_OLD',
      'BODY_CHANGED',
    ])
  })

  t('names the endpoints when their secrets were mixed up', () => {
    const [found] = judge(withSecret(THEIRS), KNOWN).findings
    assert.ok(found?.detail.includes('https://books.test/in') && found.detail.includes(SHOP.name))
  })

  t('says that it took the present for the time of receipt', () => {
    const { received_at, ...rest } = good
    const later = { ...KNOWN, now: new Date(AT.getTime() + 3_600_000) }
    assert.match(judge(rest, later).findings[0]?.detail ?? '', /3600 s from now; received_at was not given/)
  })

  t('looks for the event by the header, then by the body', () => {
    const other = `evt_${'f'.repeat(32)}`
    assert.equal(eventIdsOf({ headers: { 'Webhook-Id': ID }, body: OTHER_BODY }), [ID, other])
    assert.equal(eventIdsOf(good), [ID])
    assert.equal(eventIdsOf({ headers: { 'webhook-id': 'req-1' }, body: BODY }), [ID])
    assert.equal(eventIdsOf({ headers: {}, body: 'x' }), [])
  })

  t('describes its request and its answer by schemas that hold', () => {
    const fitsBody = compileCheck(verifyBody)
    for (const one of [good, ...(verifyBody.examples as object[])]) assert.equal(fitsBody(one), [])
    assert.is(fitsBody({ ...good, received_at: 'yesterday' }).length, 1)
    assert.is(fitsBody({ ...good, more: 1 }).length, 1)
  })
})

/** `text` with the character at `at` replaced by another of the range of ASCII, blanks included. */
const oneChanged = (text: string, at: number, by: number): string => {
  const place = at % text.length
  const char = String.fromCharCode(32 + (by % 95))
  const other = char === text[place] ? String.fromCharCode(33 + (by % 90)) : char
  return other === text[place]
    ? `${text.slice(0, place)}~${text.slice(place + 1)}`
    : `${text.slice(0, place)}${other}${text.slice(place + 1)}`
}

const partsOf = (received: Received, known: KnownSecret): Part[] => [
  ...new Set(judge(received, known).findings.map(({ part }) => part)),
]
const knowns: KnownSecret[] = [KNOWN, { ...KNOWN, event: null }]

spec('one byte that has changed', (t) => {
  const anywhere = fc.tuple(fc.nat(5_000), fc.nat(5_000), fc.constantFrom(...knowns))
  const holds = (change: (at: number, by: number) => Received, part: Part) =>
    fc.assert(
      fc.property(anywhere, ([at, by, known]) => {
        assert.equal(partsOf(change(at, by), known), [part])
      }),
      { numRuns: 400 },
    )
  t('of the body is found in the body', () => holds((at, by) => withBody(oneChanged(BODY, at, by)), 'body'))
  t('of the secret is found in the secret', () => holds((at, by) => withSecret(oneChanged(SECRET, at, by)), 'secret'))
  for (const header of Object.keys(good.headers)) {
    t(`of ${header} is found in the header`, () =>
      holds((at, by) => changed(header, (value) => oneChanged(value, at, by)), 'header'),
    )
  }
})

spec('whatever is put in', (t) => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom(BODY, SECRET, OLD, '', `t=${T},v1=${v1}`),
  )
  const anything = fc.record({
    body: texts,
    secret: texts,
    headers: fc.record(
      { [SERVICE]: texts, [STANDARD]: texts, 'webhook-id': texts, 'webhook-timestamp': texts },
      { requiredKeys: [] },
    ),
  })
  t('is judged without falling, in the form of the answer, with a finding exactly when it is not valid', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom(...knowns), (received, known) => {
        const verdict = judge(received, known)
        assert.equal(fitsAnswer(verdict), [])
        assert.is(verdict.valid, verdict.findings.length === 0)
        const { service, standard } = verdict.schemes
        if (verdict.valid) assert.ok([service, standard].every(({ present, valid }) => valid || !present))
        if (verdict.valid) assert.ok(service.valid || standard.valid)
      }),
      { numRuns: 2_000 },
    )
  })

  t('is not echoed: no secret and no piece of one stands in an answer', () => {
    const held = [SECRET, OLD, THEIRS, LAPSED, STRANGE]
    for (const [, received] of Object.values(CASES).flat()) {
      const said = JSON.stringify(judge(received, KNOWN))
      for (const secret of [...held, received.secret]) assert.not.ok(said.includes(secret.slice(6, 26)), said)
      assert.not.ok(said.includes('144000'))
    }
  })

  t('tells nobody how much of a secret is right', () => {
    const guesses = [12, 20, 30, 40, 48].map((length) => SECRET.slice(0, length))
    const wrong = guesses.map((guess) => STRANGE.slice(0, guess.length))
    const answers = [...guesses, ...wrong].map((secret) => JSON.stringify(judge(withSecret(secret), KNOWN)))
    assert.is(new Set(answers).size, 1)
  })

  t('is answered with bounded work, the largest too', () => {
    const many = Array.from({ length: 120 }, () => `v1=${'0'.repeat(64)}`).join()
    const worst = {
      body: `{"a":"${'%41+\u00e9'.repeat(10_000)}"}`,
      secret: STRANGE,
      headers: { ...good.headers, [SERVICE]: `t=${AT.getTime()},${many}` },
    }
    const valid: boolean[] = []
    const work = workOf(() => valid.push(judge(worst, { ...KNOWN, event: { id: ID, body: BODY } }).valid))
    assert.equal(valid, [false])
    console.log(work, worst.body.length)
    assert.ok(work < 50 * worst.body.length, `${work} for ${worst.body.length} characters`)
  })
})
