/** The two signatures of a delivery, judged by the words of the document and by the reference library of Standard Webhooks. */
import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import {
  isSameDigest,
  makeSigner,
  SECRET_PATTERN,
  secretOf,
  signatureHeaders,
} from '../../../crds/webhook/signature.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ID = `evt_${'0'.repeat(32)}`
const newSecret = () => secretOf(randomBytes(32))
const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constantFrom('', '{}', '{"a":"Ünïcode 日本 🧾"}'))

spec('the signatures of a delivery', (t) => {
  t('are of a secret that is whsec_ and 32 bytes in base64', () => {
    for (let round = 0; round < 100; round++) assert.match(newSecret(), new RegExp(SECRET_PATTERN))
    assert.is(secretOf(Buffer.alloc(32, 0xff)), `whsec_${'/'.repeat(42)}8=`)
    assert.not.match(secretOf(Buffer.alloc(31)), new RegExp(SECRET_PATTERN))
  })

  t("are t and v1 as the document has them: HMAC-SHA256 over t.body, keyed by the secret's whole text", () => {
    fc.assert(
      fc.property(
        bodies,
        fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
        (body, at) => {
          const secret = newSecret()
          const seconds = Math.floor(at.getTime() / 1000)
          const v1 = createHmac('sha256', secret).update(`${seconds}.`).update(Buffer.from(body)).digest('hex')
          const headers = signatureHeaders({ secrets: [secret], id: ID, body, at })
          assert.is(headers['x-service-signature'], `t=${seconds},v1=${v1}`)
          assert.is(headers['webhook-timestamp'], String(seconds))
          assert.is(headers['webhook-id'], ID)
        },
      ),
    )
  })

  for (const count of [1, 2]) {
    t(`are accepted by the library of Standard Webhooks for each of ${count} secrets, and for no other`, () => {
      fc.assert(
        fc.property(bodies, (text) => {
          const body = text.toWellFormed()
          const secrets = Array.from({ length: count }, newSecret)
          const headers = signatureHeaders({ secrets, id: ID, body, at: new Date() })
          for (const secret of secrets) new Webhook(secret).verify(body, headers, { jsonParse: false })
          assert.throws(() => new Webhook(newSecret()).verify(body, headers, { jsonParse: false }), /No matching/)
          assert.throws(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers, { jsonParse: false }))
        }),
        { numRuns: 50 },
      )
    })
  }

  t('name the newest secret first while both sign', () => {
    const secrets = [newSecret(), newSecret()]
    const delivery = { id: ID, body: '{}', at: new Date(1_795_305_600_000) }
    const [newest, oldest] = secrets.map((secret) => makeSigner([secret])(delivery))
    const both = makeSigner(secrets)(delivery)
    const v1 = (headers = both) => headers['x-service-signature'].split(',').slice(1).join()
    assert.is(v1(), `${v1(newest)},${v1(oldest)}`)
    assert.is(both['webhook-signature'], `${newest?.['webhook-signature']} ${oldest?.['webhook-signature']}`)
  })

  t('are new with each second, and the same within it', () => {
    const sign = makeSigner([newSecret()])
    const at = (ms: number) => sign({ id: ID, body: '{}', at: new Date(ms) })
    assert.equal(at(1_000), at(1_999))
    assert.is.not(at(1_000)['x-service-signature'], at(2_000)['x-service-signature'])
    assert.is.not(at(1_000)['webhook-signature'], at(2_000)['webhook-signature'])
  })

  t('are compared as a whole, of any length', () => {
    assert.ok(isSameDigest('abc', 'abc') && isSameDigest('', ''))
    for (const other of ['abd', 'ab', 'abcd', 'ABC', 'äbc', '']) assert.not.ok(isSameDigest('abc', other), other)
  })
})
